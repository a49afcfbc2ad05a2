#!/bin/sh
# The AVX-512 kernels give the bits of plain C, on a machine that has the instructions or else in an emulated one:
#     sh scripts/checks/avx512.sh
# Bochs emulates such a processor; a Linux kernel and a root file system with nothing but the test start in it, which needs no
# privileges. Debian: apt-get install bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso cpio busybox-static (the
# kernel is only unpacked). Some 15 minutes; not among the checks that run by themselves.
set -eu
cd "$(dirname "$0")/../.."
. scripts/lib/kernel_test.sh

build=${LOCKSTEP_AVX512_BUILD:-build/avx512}
build_test() # flags as in cmake/Library.cmake
{
    kernel_test cc "$build" "avx2=-mavx2 -mfma" \
        "avx512=-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512"
}

case $(grep -m 1 '^flags' /proc/cpuinfo) in
*avx512vl*)
    build_test
    exec "$build/test"
    ;;
esac
for tool in bochs=bochs xorriso=xorriso cpio=cpio busybox=busybox-static script=bsdutils; do
    command -v "${tool%%=*}" >/dev/null 2>&1 || { echo "skipped: no ${tool%%=*} (Debian: ${tool#*=})"; exit 77; }
done
isolinux=/usr/lib/ISOLINUX/isolinux.bin modules=/usr/lib/syslinux/modules/bios
[ -e $isolinux ] && [ -e $modules/ldlinux.c32 ] || { echo "skipped: no isolinux (Debian: isolinux syslinux-common)"; exit 77; }
build_test
cd "$build"

if [ ! -e vmlinuz ]; then
    package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ { print $2; exit }')
    apt-get download "$package" && dpkg -x ./*.deb unpacked && mv unpacked/boot/vmlinuz-* vmlinuz
    rm -rf unpacked ./*.deb
fi

# The first program is the test; the emulated machine's serial line is a file here.
rm -rf root disc serial.txt
mkdir -p root/bin root/proc root/dev disc/isolinux
cp test root/test
cp "$(command -v busybox)" root/bin/busybox
cat > root/init <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t devtmpfs devices /dev
exec > /dev/ttyS0 2>&1
grep -q avx512vl /proc/cpuinfo && echo "the emulated processor has AVX-512"
/test
echo "exit status $?"
sleep 3 # the serial line is slow
poweroff -f
INIT
chmod +x root/init
(cd root && find . | cpio -o -H newc 2>/dev/null | gzip -1) > disc/initrd.gz
cp vmlinuz disc/vmlinuz
cp $isolinux $modules/ldlinux.c32 disc/isolinux/
# Bochs' compacted XSAVE format has a size that Linux finds wrong; it then does without vectors. So: the plain format.
cat > disc/isolinux/isolinux.cfg <<'MENU'
DEFAULT test
PROMPT 0
LABEL test
  KERNEL /vmlinuz
  APPEND initrd=/initrd.gz console=ttyS0 quiet mitigations=off tsc=reliable no_timer_check clearcpuid=321,323
MENU
xorriso -as mkisofs -o disc.iso -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot -boot-load-size 4 \
    -boot-info-table disc 2>/dev/null
cat > machine <<'MACHINE'
cpu: model=corei7_skylake_x, count=1, ips=50000000, reset_on_triple_fault=0
memory: guest=2048, host=2048
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
display_library: term
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path=disc.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=serial.txt
log: machine.log
panic: action=report
clock: sync=none
MACHINE
echo c > commands # Debian's Bochs starts in its debugger: go on
sleep 7200 | TERM=xterm timeout 7200 script -f -qc 'bochs -q -f machine -rc commands' /dev/null > screen.txt 2>&1 &
emulator=$!
# Its screen is a terminal of its own, which somebody has to read.
until screen=$(sed -n 's/.*connected to screen "\(.*\)".*/\1/p' screen.txt) && [ -n "$screen" ]; do sleep 1; done
cat "$screen" > /dev/null 2>&1 &
reader=$!
trap 'kill $reader $emulator 2>/dev/null; pkill -f "bochs.* -f machine -rc commands" 2>/dev/null || true' EXIT
until grep -q '^exit status' serial.txt 2>/dev/null; do
    kill -0 $emulator 2>/dev/null || { echo "the emulator ended early:"; tail -5 machine.log serial.txt; exit 1; }
    sleep 5
done
tr -d '\r' < serial.txt | sed -n '/the emulated processor/,$p'
grep -q 'the emulated processor has AVX-512' serial.txt && grep -q '^exit status 0' serial.txt && grep -q '^[1-9][0-9]* passed' serial.txt
