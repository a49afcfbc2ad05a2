/* backup.h - internal. What fit leaves on disk so that a run that was cut short goes on from there, bit for bit.
 *
 * One file, "backup.lks" in the folder: magic, named records, CRC-32C over all of it; written beside and renamed.
 */
#ifndef LKS_MODEL_BACKUP_H
#define LKS_MODEL_BACKUP_H

#include "feed.h"
#include "history.h"

/* Where the loop stands, at the border between two steps. */
typedef struct lks_backup_place {
    int64_t epoch, step; /* epochs done; steps done of the present one */
    int64_t pass;        /* passes over the training data begun */
    int64_t fresh;       /* the data stand at the start of a pass */
    int64_t in_epoch;    /* 0: the epoch begins with its usual ceremony */
} lks_backup_place;

/* What must be the same for the rest of the run to be the same. */
typedef struct lks_backup_identity {
    int64_t seed, batch_size, steps_per_epoch, batches;
} lks_backup_identity;

typedef struct lks_backup {
    lks_model *model;
    lks_feeder *train, *validation; /* validation: or NULL */
    lks_history *history;
    lks_backup_identity identity;
} lks_backup;

/* Makes the folder if it is missing. LKS_E_STATE names the stage of the data that can't be replayed. */
lks_status lks__backup_write(const char *folder, const lks_backup *b, const lks_backup_place *place);
/* Sets model, data and history to what the file holds; *found false: there is none. LKS_E_ARG says what differs. On a
 * failure the model is as it was. */
lks_status lks__backup_read(const char *folder, const lks_backup *b, lks_backup_place *place, bool *found);
void lks__backup_remove(const char *folder); /* the file, and the folder if that is empty then */

#endif
