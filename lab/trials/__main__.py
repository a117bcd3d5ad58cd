"""Run one trial of a sweep in its own process."""

import json
import sys
from pathlib import Path

from .run_trial import run_trial
from .trial import Trial

if __name__ == "__main__":
    settings, force = json.loads(sys.argv[1])
    trial = Trial(**{**settings, "root": Path(settings["root"])})
    run_trial(trial, force=force, on_output=print)
