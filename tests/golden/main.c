/* main.c - golden TOPIC DIR [--strict] [-v] [--case NAME]: counts the cases of a golden set.
 *
 * Exit status: 0, 1 if a case failed or none ran (--strict: or is not yet), 2 for a wrong command line.
 */
#include <stdio.h>
#include <string.h>

#include "golden.h"

#define TOPIC(name) extern const golden_topic golden_##name;
#include "topics.h"
#undef TOPIC

static const golden_topic *const topics[] = {
#define TOPIC(name) &golden_##name,
#include "topics.h"
#undef TOPIC
};

static const golden_topic *find(const char *name)
{
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        if (strcmp(topics[i]->name, name) == 0) return topics[i];
    }
    return NULL;
}

static int usage(void)
{
    fprintf(stderr, "usage: golden TOPIC DIR [--strict] [-v] [--case PART_OF_A_NAME]\nTOPIC:");
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) fprintf(stderr, " %s", topics[i]->name);
    fprintf(stderr, "\n");
    return 2;
}

int main(int argc, char **argv)
{
    const char *words[2] = { NULL, NULL };
    const golden_topic *topic;
    golden_report sum = { 0 };
    int n_words = 0;
    bool strict = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--strict") == 0) strict = true;
        else if (strcmp(argv[i], "-v") == 0) sum.verbose = true;
        else if (strcmp(argv[i], "--case") == 0 && i + 1 < argc) sum.only = argv[++i];
        else if (argv[i][0] == '-' || n_words == 2) return usage();
        else words[n_words++] = argv[i];
    }
    if (n_words != 2 || (topic = find(words[0])) == NULL) return usage();
    if (!topic->run(words[1], &sum)) return 1;
    printf("golden %s: %d passed, %d failed, %d not yet", topic->name, sum.passed, sum.failed, sum.not_yet);
    if (sum.passed > 0) printf(", worst %.3f of its tolerance", sum.worst);
    if (sum.worst > 0) printf(" (%s)", sum.worst_case);
    printf("\n");
    if (sum.passed + sum.failed == 0) return 1;
    return sum.failed > 0 || (strict && sum.not_yet > 0);
}
