#!/usr/bin/env bash
# Test and measure the kernels on a GPU machine without a network:
#
#     make gpu-wheels                # on a machine with a network
#     bash benchmarks/gpu.sh OUT     # on the GPU machine, in the same checkout
#
# The GPU machine needs CUDA, bash, and a Python with pip, numpy and CuPy. The script takes
# nine minutes at most, writes the output to OUT/gpu.log and results to OUT/gpu.json, also
# after a failure, and fails if any step failed. Commit gpu.json to benchmarks/results/.
#
# Pipelines are measured on corpus/wnut17 if it exists, else on the demo corpus.
# PYTHON=python3.12 selects another Python, WHEELS=FOLDER another folder of wheels.
set -uo pipefail

readonly LIMIT=540 TESTS_LIMIT=240 # seconds

main() {
    local failed=0
    describe_machine
    install || return 1
    # do not load other plugins of the machine
    PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 run_step "$TESTS_LIMIT" \
        -m pytest -p xdist.plugin -n 4 tests/gpu -m gpu -q || failed=1
    local corpus=corpus/wnut17/train.spacy
    if [ ! -e "$corpus" ]; then
        corpus=corpus/demo/train.spacy
        run_step 60 -m lab prepare demo -o corpus/demo || failed=1
    fi
    # in the remaining time; results are written after each part
    run_step "$((LIMIT - SECONDS))" -m benchmarks gpu --corpus "$corpus" \
        --output "$out/gpu.json" || failed=1
    return "$failed"
}

describe_machine() {
    nvidia-smi || echo "nvidia-smi failed: is there an NVIDIA GPU?"
    "$python" --version
}

# Install the wheels, with all dependencies, into a folder that precedes site-packages.
install() {
    "$python" -m pip install --quiet --no-index --no-deps --target "$packages" \
        "$wheels"/*.whl && return
    echo "Can't install wheels from '$wheels': run 'make gpu-wheels', with" \
        "GPU_PYTHON=3.12 for example if this machine has another Python."
    return 1
}

# $1: limit in seconds; the rest: arguments of Python.
run_step() {
    local limit=$1
    shift
    echo "== python $*, limit $limit seconds"
    PYTHONPATH=$packages timeout --kill-after=10 "$limit" "$python" "$@"
    local status=$?
    echo "== python $*: exit status $status, after $SECONDS seconds in total"
    return "$status"
}

if [ $# -ne 1 ]; then
    echo "Usage: bash benchmarks/gpu.sh OUT" >&2
    exit 2
fi
mkdir -p "$1" || exit
out=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
python=${PYTHON:-python3}
wheels=${WHEELS:-build/gpu-wheels}
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
main 2>&1 | tee "$out/gpu.log"
exit "${PIPESTATUS[0]}"
