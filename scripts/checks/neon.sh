#!/bin/sh
# The NEON kernels are compiled with a cross compiler and give the bits of plain C under an emulator:
#     sh scripts/checks/neon.sh
# Debian: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static. Several minutes; not among the checks that
# run by themselves. (No emulator in Debian 12 runs AVX-512: its 16 lanes are tested on AVX2, LOCKSTEP_TEST_WIDTHS.)
set -eu
cd "$(dirname "$0")/../.."

cc=aarch64-linux-gnu-gcc
command -v $cc >/dev/null 2>&1 || { echo "skipped: no $cc (Debian: gcc-aarch64-linux-gnu)"; exit 77; }
emulator=
for candidate in qemu-aarch64-static qemu-aarch64; do
    if command -v $candidate >/dev/null 2>&1; then emulator=$candidate; break; fi
done
[ -n "$emulator" ] || { echo "skipped: no qemu-aarch64-static (Debian: qemu-user-static)"; exit 77; }

build=${LOCKSTEP_NEON_BUILD:-build/neon}
mkdir -p "$build"
{
    echo 'CFLAGS = -std=c11 -O2 -ffp-contract=off -fno-math-errno -fno-trapping-math -Wall -Wextra -Werror -MMD'
    echo 'CPPFLAGS = -D_GNU_SOURCE -DLKS_HAVE_NEON=1 -DLOCKSTEP_VERSION=\"cross\" -Iinclude -Isrc'
    echo 'first: all'
    for source in src/base/*.c src/tensor/*.c src/ops/*.c src/graph/*.c src/kernels/*.c src/kernels/*/*.c \
        tests/test_kernels_memcmp.c; do
        case $source in
        src/kernels/simd/*) more=-DLKS_SIMD_ISA=neon ;;
        tests/*) more=-Itests/cross ;;
        *) more= ;;
        esac
        object='$(OUT)/'$(echo "$source" | tr / _).o
        printf '%s: %s\n\t$(CC) $(CPPFLAGS) $(CFLAGS) %s -c $< -o $@\nobjects += %s\n' "$object" "$source" "$more" "$object"
    done
    echo 'all: $(OUT)/test'
    printf '$(OUT)/test: $(objects)\n\t$(CC) -static -o $@ $^ -lpthread -lm\n-include $(OUT)/*.d\n'
} > "$build/Makefile"
make -s -j "$(nproc)" -f "$build/Makefile" CC=$cc OUT="$build" all
$emulator "$build/test"
