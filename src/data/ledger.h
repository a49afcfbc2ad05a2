/* ledger.h - internal. The bytes that the elements of all pipelines take, against one budget. */
#ifndef LKS_DATA_LEDGER_H
#define LKS_DATA_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory of elements comes or goes (negative). */
void lks__ledger_add(int64_t bytes);
/* Notes that a piece of work will need so much, if the budget allows it; give it back with lks__ledger_unreserve when its memory has
 * been taken (and so stands in the ledger itself). */
bool lks__ledger_reserve(int64_t bytes);
void lks__ledger_unreserve(int64_t bytes);
/* More than half is in use: what is let go should be freed, not kept for the next time. */
bool lks__ledger_tight(void);
int64_t lks__ledger_budget(void);
double lks__ledger_share(void); /* of the budget: in use or reserved */

/* The user's number of threads that run functions, or 0; threads that read files. */
int lks__data_threads(void);
int lks__data_io_threads(void);

/* The size of an element to come, from those that came: never below the largest of late. */
static inline int64_t lks__expected_bytes(int64_t expected, int64_t last)
{
    return last > expected - expected / 16 ? last : expected - expected / 16;
}

#endif
