# kernel_test.sh - sourced by checks that run kernels under an emulator: one static program, the kernels of an instruction set and
# tests/test_kernels_memcmp.c, which compares them with plain C.

kernel_test_object() # SOURCE NAME FLAGS
{
    printf '$(OUT)/%s.o: %s\n\t$(CC) $(CPPFLAGS) $(CFLAGS) %s -c $< -o $@\nobjects += $(OUT)/%s.o\n' "$2" "$1" "$3" "$2"
}

# kernel_test CC OUT ISA=FLAGS...: compiles OUT/test; FLAGS are for the kernels' sources of that instruction set.
kernel_test()
{
    compiler=$1 out=$2
    shift 2
    mkdir -p "$out"
    {
        echo 'CFLAGS = -std=c11 -O2 -ffp-contract=off -fno-math-errno -fno-trapping-math -Wall -Wextra -Werror -MMD'
        printf 'CPPFLAGS = -D_GNU_SOURCE -DLOCKSTEP_VERSION=\\"cross\\" -Iinclude -Isrc'
        for isa in "$@"; do printf ' -DLKS_HAVE_%s=1' "$(echo "${isa%%=*}" | tr '[:lower:]' '[:upper:]')"; done
        printf '\nfirst: all\n'
        for source in src/base/*.c src/tensor/*.c src/ops/*.c src/graph/*.c src/kernels/*.c src/kernels/ref/*.c; do
            kernel_test_object "$source" "$(echo "${source%.c}" | tr / _)" ''
        done
        for isa in "$@"; do
            for source in src/kernels/simd/*.c; do
                kernel_test_object "$source" "${isa%%=*}_$(basename "$source" .c)" "-DLKS_SIMD_ISA=${isa%%=*} ${isa#*=}"
            done
        done
        kernel_test_object tests/test_kernels_memcmp.c test_kernels_memcmp -Itests/cross
        echo 'all: $(OUT)/test'
        printf '$(OUT)/test: $(objects)\n\t$(CC) -static -o $@ $^ -lpthread -lm\n-include $(OUT)/*.d\n'
    } > "$out/Makefile"
    make -s -j "$(nproc)" -f "$out/Makefile" CC="$compiler" OUT="$out" all
}
