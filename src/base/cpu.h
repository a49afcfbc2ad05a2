/* cpu.h - internal. What this machine offers; read once. */
#ifndef LKS_BASE_CPU_H
#define LKS_BASE_CPU_H

#include <stdbool.h>
#include <stdint.h>

typedef enum lks_isa {
    LKS_ISA_REF = 0, /* plain C */
    LKS_ISA_AVX2,    /* with FMA */
    LKS_ISA_AVX512,  /* F, BW, DQ, VL */
    LKS_ISA_NEON,
    LKS_ISA_COUNT
} lks_isa;

const char *lks__isa_name(lks_isa isa); /* "ref", "avx2", ... as LOCKSTEP_ISA takes them */
bool lks__isa_available(lks_isa isa);
/* The best available, or what LOCKSTEP_ISA asks for where the machine has it (read anew at every call). */
lks_isa lks__isa_choose(void);

/* Cores this process may use: affinity mask and cgroup quota (rounded down, at least 1). */
int lks__usable_cores(void);
int64_t lks__cache_bytes(int level); /* of one core's share; a guess where unknown; level 1..3 */

double lks__now(void); /* seconds, monotonic */
int64_t lks__peak_rss_bytes(void);
int64_t lks__current_rss_bytes(void);

#endif
