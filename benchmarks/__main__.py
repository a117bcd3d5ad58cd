"""Run `python -m benchmarks NAME` with all libraries on one thread."""

import os
from importlib import import_module

if __name__ == "__main__":
    # libraries read the variables when they are loaded
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS"):
        os.environ[f"{library}_NUM_THREADS"] = "1"
    import_module("benchmarks.command").main()
