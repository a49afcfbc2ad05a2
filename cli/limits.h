/* limits.h - what this machine can do at most, measured on the spot. */
#ifndef LOCKSTEP_CLI_LIMITS_H
#define LOCKSTEP_CLI_LIMITS_H

typedef struct cli_limits {
    const char *isa;           /* of the loop that was measured */
    double gflops_one, gflops; /* fused multiply-adds counted as two; one thread, all `threads` */
    double gbytes_per_s;       /* read from memory by all threads */
    int threads;
} cli_limits;

/* About half a second. False: threads or memory could not be had. */
int cli_measure_limits(int threads, cli_limits *out);

#endif
