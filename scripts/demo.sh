#!/bin/sh
# From a fresh machine to a trained network: sh scripts/demo.sh [epochs]
# Installs what is missing, builds, gets MNIST, trains the CNN of the first tutorial, evaluates it on the 10,000 test
# images and draws sixteen of them with prediction and truth. A second run takes only the training's time.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib/setup.sh
epochs=${1:-10}

lockstep_install
say "Building ..."
LOCKSTEP_TARGET=lockstep_cli # without tests and benchmarks
lockstep_build release >build-demo.log 2>&1 || { cat build-demo.log; rm -f build-demo.log; exit 1; }
rm -f build-demo.log
lockstep=build/release/lockstep
[ -x $lockstep ] || { say "This version has no command yet (cli/ is empty)."; exit 1; }

if [ -f scripts/get_mnist.sh ]; then
    sh scripts/get_mnist.sh || say "The library will say which data it uses."
fi

say ""
say "\$ lockstep fit --model builtin:mnist_cnn --data mnist --epochs $epochs --batch-size 256 --save mnist.keras"
$lockstep fit --model builtin:mnist_cnn --data mnist --epochs "$epochs" --batch-size 256 --save mnist.keras
say ""
say "\$ lockstep evaluate --model mnist.keras --data mnist"
$lockstep evaluate --model mnist.keras --data mnist
say ""
say "\$ lockstep predict --model mnist.keras --data mnist --png mnist.png"
$lockstep predict --model mnist.keras --data mnist --png mnist.png

say ""
say "The trained network is in mnist.keras (Keras opens it), sixteen test digits with prediction and truth in mnist.png."
say "To try next:"
say "    $lockstep summary --model mnist.keras                    what is in the network"
say "    $lockstep plan --model builtin:mnist_cnn                 memory and work of a training step, before it runs"
say "    $lockstep fit --model builtin:mnist_autoencoder --data mnist --epochs 5 --save autoencoder.keras"
say "    $lockstep fit --model builtin:mnist_cnn --data mnist --epochs 2 --threads 1 --digest"
say "                                                   the same digest with any number of threads"
say "    examples/mnist_cnn.c                           the same training as a C program"
