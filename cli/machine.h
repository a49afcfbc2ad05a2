/* machine.h - the machine's name for people who compare figures: processor, instruction sets, caches, cores. */
#ifndef LOCKSTEP_CLI_MACHINE_H
#define LOCKSTEP_CLI_MACHINE_H

#include "limits.h"
#include "program.h"

typedef struct cli_machine {
    char processor[96]; /* as the processor calls itself */
    char flags[256];    /* instruction sets that matter here, by Linux' names, in a fixed order */
    int cores;          /* that this process may use */
    long l1d, l2, l3;   /* bytes; 0 unknown */
} cli_machine;
void cli_know_machine(cli_machine *out);
/* Two lines of text. */
void cli_print_machine(const cli_machine *machine);

void cli_line_machine(cli_line *line);
void cli_line_limits(cli_line *line, const cli_limits *limits);

/* bench_roofline.c, bench_predict.c: for --model, or every builtin. limits->threads 0: not measured yet. */
int cli_roofline(const cli_options *options, cli_limits *limits);
int cli_bench_predict(const cli_options *options);

#endif
