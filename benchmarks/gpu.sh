#!/usr/bin/env bash
# Test and measure the kernels on a GPU, on a machine that has never seen this project:
#
#     make gpu-wheels                # where there is a network
#     bash benchmarks/gpu.sh OUT     # where there is a GPU, from the same checkout
#
# The machine needs CUDA, bash, and a Python with pip, numpy and CuPy, and no network. It
# takes nine minutes at most. OUT then has gpu.log, all that was printed, and gpu.json,
# what was measured, also if something fails half-way: pass it on, or commit gpu.json to
# benchmarks/results/. Fails if any step did.
#
# Pipelines are measured on corpus/wnut17, if it is there too, else on the demo corpus.
# PYTHON=python3.12 names another Python, WHEELS=FOLDER another folder of wheels.
set -uo pipefail

readonly LIMIT=540 TESTS_LIMIT=240 # seconds

main() {
    local failed=0
    describe_machine
    install || return 1
    # without plugins that the machine happens to have
    PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 run_step "$TESTS_LIMIT" \
        -m pytest -p xdist.plugin -n 4 tests/gpu -m gpu -q || failed=1
    local corpus=corpus/wnut17/train.spacy
    if [ ! -e "$corpus" ]; then
        corpus=corpus/demo/train.spacy
        run_step 60 -m lab prepare demo -o corpus/demo || failed=1
    fi
    # what is left: it writes after each part
    run_step "$((LIMIT - SECONDS))" -m benchmarks gpu --corpus "$corpus" \
        --output "$out/gpu.json" || failed=1
    return "$failed"
}

describe_machine() {
    nvidia-smi || echo "nvidia-smi does not run: is there a GPU by NVIDIA?"
    "$python" --version
}

# Before what the machine has, which stays as it is. Wheels have each other, so that
# nothing needs to be found.
install() {
    "$python" -m pip install --quiet --no-index --no-deps --target "$packages" \
        "$wheels"/*.whl && return
    echo "Nothing could be installed from '$wheels': make it with 'make gpu-wheels'," \
        "with GPU_PYTHON=3.12 for instance if the machine's Python is another."
    return 1
}

# $1: its limit in seconds; the rest: what Python runs.
run_step() {
    local limit=$1
    shift
    echo "== python $*, for $limit seconds at most"
    PYTHONPATH=$packages timeout --kill-after=10 "$limit" "$python" "$@"
    local status=$?
    echo "== python $*: exit status $status, after $SECONDS seconds in all"
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
