#!/bin/sh
# Real Keras opens what we save, predicts the same and trains on; then we open what Keras saved.
#   keras.sh MODELS FOLDER    MODELS: the program of models.c; FOLDER: scratch
# Keras comes from the package registry into a cached virtual environment. Exit status 77: it cannot be had here.
set -eu
models=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/lockstep/venv-keras
ready=$venv/ready-keras-3.15.1

skip() { echo "skipped: $1"; exit 77; }

if [ ! -f "$ready" ]; then
    command -v python3 >/dev/null || skip "no python3 to run Keras with"
    rm -rf "$venv"
    python3 -m venv "$venv" >/dev/null 2>&1 || skip "python3 cannot make a virtual environment (package python3-venv)"
    "$venv/bin/pip" install --quiet --disable-pip-version-check keras==3.15.1 jax >"$venv/install.log" 2>&1 ||
        skip "no package registry with Keras 3.15.1 could be reached (see $venv/install.log)"
    touch "$ready"
fi
rm -rf "$folder"
mkdir -p "$folder"
"$models" write "$folder"
"$venv/bin/python" "$here/keras_opens.py" "$folder"
"$models" read "$folder"
