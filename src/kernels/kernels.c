/* kernels.c - the table of an instruction set, out of those that this build holds. */
#include "kernels.h"

#if LKS_HAVE_AVX2
extern const lks_kernel_set lks__kernels_avx2;
#endif
#if LKS_HAVE_AVX512
extern const lks_kernel_set lks__kernels_avx512;
#endif
#if LKS_HAVE_NEON
extern const lks_kernel_set lks__kernels_neon;
#endif

const lks_kernel_set *lks__kernels_for(lks_isa isa)
{
    if (!lks__isa_available(isa)) return &lks__kernels_ref;
    switch (isa) {
#if LKS_HAVE_AVX2
    case LKS_ISA_AVX2: return &lks__kernels_avx2;
#endif
#if LKS_HAVE_AVX512
    case LKS_ISA_AVX512: return &lks__kernels_avx512;
#endif
#if LKS_HAVE_NEON
    case LKS_ISA_NEON: return &lks__kernels_neon;
#endif
    default: return &lks__kernels_ref;
    }
}
