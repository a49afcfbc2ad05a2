/* data_bench.c - "lockstep data": measures a pipeline written as JSON, stage by stage. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

enum { MAX_TEXT = 1 << 20 };

/* The whole file, or standard input for "-"; NULL after a message. */
static char *read_text(const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    char *text = malloc(MAX_TEXT + 1);
    size_t n = 0;

    if (f == NULL) {
        cli_fail("cannot open %s: %s", path, strerror(errno));
    } else if (text == NULL) {
        cli_fail("%s: out of memory", path);
    } else {
        n = fread(text, 1, MAX_TEXT, f);
        text[n] = '\0';
        if (ferror(f)) cli_fail("cannot read %s: %s", path, strerror(errno)), n = 0;
        else if (n == 0) cli_fail("%s is empty", path);
        else if (n == MAX_TEXT)
            cli_fail("%s is longer than a pipeline may be, %d bytes", path, (int)MAX_TEXT - 1), n = 0;
    }
    if (f == NULL || n == 0) {
        free(text);
        text = NULL;
    }
    if (f != NULL && !standard) fclose(f);
    return text;
}

static const char *bound_name(lks_bottleneck b)
{
    static const char *const names[] = { "nothing", "stage", "cores", "source", "consumer" };

    return names[b];
}

static void print_json(const lks_diagnosis *d)
{
    int64_t stage;
    lks_bottleneck bound = lks_diagnosis_bottleneck(d, &stage);
    const lks_stage_report *r = stage >= 0 ? lks_diagnosis_stage(d, (size_t)stage) : NULL;
    lks_data_usage usage = { .struct_size = sizeof usage };
    cli_line line;

    lks_get_data_usage(&usage);
    cli_line_begin(&line);
    cli_line_int(&line, "elements", lks_diagnosis_elements(d));
    cli_line_number(&line, "seconds", lks_diagnosis_seconds(d));
    cli_line_number(&line, "elements_per_s", (double)lks_diagnosis_elements(d) / lks_diagnosis_seconds(d));
    cli_line_number(&line, "wait_share", lks_diagnosis_wait_share(d));
    cli_line_string(&line, "bottleneck", bound_name(bound));
    if (r != NULL) cli_line_string(&line, "stage", r->stage);
    if (r != NULL) cli_line_int(&line, "stage_number", r->number);
    cli_line_int(&line, "memory_peak", usage.peak_bytes);
    cli_line_int(&line, "threads", usage.threads);
    cli_line_number(&line, "peak_rss_mb", cli_peak_rss_mb());
    cli_line_print(&line);
}

static int run(const cli_options *o)
{
    lks_diagnosis *d = NULL;
    lks_dataset *ds;
    lks_status status;
    char *text;

    if (o->what == NULL || strcmp(o->what, "bench") != 0 || o->path == NULL)
        return cli_usage("data", "it reads: lockstep data bench PIPELINE, a file of JSON or - for standard input");
    text = read_text(o->path);
    if (text == NULL) return CLI_FAILED;
    ds = lks_dataset_from_json(text);
    free(text);
    status = lks_dataset_diagnose(ds, &d, .seconds = o->seconds > 0 ? (double)o->seconds : 5.0, .elements = o->limit,
                                  .consumer_ms = (double)o->consumer_ms);
    lks_dataset_release(ds);
    if (status != LKS_OK) return cli_library_failed();
    if (o->json) print_json(d);
    else cli_say("%s", lks_diagnosis_text(d));
    lks_diagnosis_release(d);
    return CLI_OK;
}

static const cli_option options[] = {
    { "--seconds", CLI_COUNT, CLI_FIELD(seconds), "N", "read for so long at most (default 5)" },
    { "--limit", CLI_COUNT, CLI_FIELD(limit), "N", "read so many elements at most" },
    { "--consumer-ms", CLI_COUNT, CLI_FIELD(consumer_ms), "N",
      "what a training step takes: so long the reader sleeps" },
    CLI_JSON_OPTION,
    CLI_NO_OPTION,
};

const cli_command cli_data = {
    "data",
    "measure an input pipeline stage by stage",
    "\"lockstep data bench PIPELINE\" reads a pipeline as fast as it can and shows for each stage how many elements a\n"
    "second it gives, what an element costs, and who waits for whom; then it names the bottleneck and says what to change.\n"
    "PIPELINE is a file with a JSON list of stages, the source first, with tf.data's names (- is standard input); the header\n"
    "lockstep/dataset_json.h lists the words, and a wrong one is answered with the nearest.",
    "  lockstep data bench pipeline.json\n"
    "  echo '[{\"op\":\"mnist\"},{\"op\":\"map\",\"f\":\"cast_rescale_onehot\"},{\"op\":\"batch\",\"batch_size\":256}]' |\n"
    "    lockstep data bench -",
    options,
    run,
};
