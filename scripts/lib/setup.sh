# setup.sh - sourced by the scripts: finding and installing what is needed, configuring and building.
# Only what is missing is installed, and nothing is asked of the package manager when nothing is missing.

say() { printf '%s\n' "$*"; }

# lockstep_missing: the Debian packages that this machine lacks, judged by what works here and not by package lists, so
# that machines of other make are served too.
lockstep_missing()
{
    missing=
    if ! command -v cc >/dev/null 2>&1 || ! command -v c++ >/dev/null 2>&1; then missing="$missing build-essential"; fi
    command -v cmake >/dev/null 2>&1 || missing="$missing cmake"
    command -v ninja >/dev/null 2>&1 || missing="$missing ninja-build"
    command -v pkg-config >/dev/null 2>&1 || missing="$missing pkg-config"
    have() { command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "$1" 2>/dev/null; }
    have libzip || missing="$missing libzip-dev"
    have jansson || missing="$missing libjansson-dev"
    have hdf5 || have hdf5-serial || missing="$missing libhdf5-dev"
    have zlib || missing="$missing zlib1g-dev"
    have cmocka || missing="$missing libcmocka-dev"
    have spng || have libpng || missing="$missing libspng-dev"
    have libjpeg || missing="$missing libjpeg62-turbo-dev"
    have cairo || missing="$missing libcairo2-dev"
    have libdeflate || missing="$missing libdeflate-dev"
    have libcurl || missing="$missing libcurl4-openssl-dev"
    [ -e /etc/ssl/certs/ca-certificates.crt ] || missing="$missing ca-certificates"
    for extra in "$@"; do # COMMAND=PACKAGE
        command -v "${extra%%=*}" >/dev/null 2>&1 || missing="$missing ${extra#*=}"
    done
    printf '%s' "$missing"
}

# lockstep_install [COMMAND=PACKAGE...]: installs what is missing, or says the one line that does and stops.
lockstep_install()
{
    missing=$(lockstep_missing "$@")
    [ -n "$missing" ] || return 0
    line="apt-get install -y --no-install-recommends$missing"
    if ! command -v apt-get >/dev/null 2>&1; then
        say "This machine lacks (by their Debian names):$missing"
        say "There is no apt-get here to install them with: please install them in this system's way and run this again."
        exit 1
    fi
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        as_root=sudo
    else
        say "Some packages are missing and this account may not install them. Have an administrator run:"
        say "    $line"
        exit 1
    fi
    say "Installing:$missing"
    if ! lockstep_apt; then
        say "The packages could not be installed. The command was:"
        say "    $line"
        exit 1
    fi
    missing=$(lockstep_missing "$@")
    [ -z "$missing" ] || { say "Still missing after the installation:$missing"; exit 1; }
}

lockstep_apt()
{
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null >/dev/null || return 1
    # Older systems have no libspng: libpng then.
    case $missing in *libspng-dev*)
        [ -n "$(apt-cache show libspng-dev 2>/dev/null)" ] || missing=$(printf '%s' "$missing" | sed 's/libspng-dev/libpng-dev/') ;;
    esac
    # Elsewhere than on Debian libjpeg-turbo goes by another name.
    case $missing in *libjpeg62-turbo-dev*)
        [ -n "$(apt-cache show libjpeg62-turbo-dev 2>/dev/null)" ] || missing=$(printf '%s' "$missing" | sed 's/libjpeg62-turbo-dev/libjpeg-dev/') ;;
    esac
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing </dev/null
}

# lockstep_build PRESET [cmake argument...]: configures where needed (a second time ninja does it itself) and builds all, or
# $LOCKSTEP_TARGET.
lockstep_build()
{
    preset=$1
    shift
    if [ ! -e "build/$preset/build.ninja" ] || [ $# -gt 0 ]; then
        cmake --preset "$preset" "$@" >"configure.$$.log" 2>&1 || { cat "configure.$$.log"; rm -f "configure.$$.log"; return 1; }
        grep -E '^-- (Lockstep|  )' "configure.$$.log" || true
        rm -f "configure.$$.log"
    fi
    cmake --build "build/$preset" ${LOCKSTEP_TARGET:+--target "$LOCKSTEP_TARGET"}
}
