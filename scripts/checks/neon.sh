#!/bin/sh
# The NEON kernels are compiled with a cross compiler and give the bits of plain C under an emulator:
#     sh scripts/checks/neon.sh
# Debian: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static. Several minutes; not among the checks that
# run by themselves.
set -eu
cd "$(dirname "$0")/../.."
. scripts/lib/kernel_test.sh

cc=aarch64-linux-gnu-gcc
command -v $cc >/dev/null 2>&1 || { echo "skipped: no $cc (Debian: gcc-aarch64-linux-gnu)"; exit 77; }
emulator=
for candidate in qemu-aarch64-static qemu-aarch64; do
    if command -v $candidate >/dev/null 2>&1; then emulator=$candidate; break; fi
done
[ -n "$emulator" ] || { echo "skipped: no qemu-aarch64-static (Debian: qemu-user-static)"; exit 77; }

build=${LOCKSTEP_NEON_BUILD:-build/neon}
kernel_test $cc "$build" neon=
$emulator "$build/test"
