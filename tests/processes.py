"""Run tests of whole pipelines in new processes."""

import json
import multiprocessing
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

# With the same speed-ups as in `tests/conftest.py`.
TRAIN = """
import json, sys
from functools import cache
from pathlib import Path
from catalogue import Registry
from spacy.cli.train import train
from spacy.lang.en import English

Registry._get_entry_points = cache(Registry._get_entry_points)
English.Defaults.tokenizer_exceptions = {}
configs, overrides = map(json.loads, sys.argv[1:])
for config in map(Path, configs):
    train(config, config.stem, overrides=overrides)
"""


def train_alone(
    configs: Sequence[Path], folder: Path, overrides: Mapping[str, Any]
) -> None:
    """Train configs in a folder, in a process that finds code only by entry points."""
    arguments = [json.dumps(list(map(str, configs))), json.dumps(overrides)]
    command = [sys.executable, "-c", TRAIN, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert result.returncode == 0, result.stdout + result.stderr


def call_in_threads_and_a_fork(
    function: Callable[..., Any], *arguments: Any
) -> list[Any]:
    """Call a function 16 times in four threads, and once in a forked process."""
    with ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(function, *arguments) for _ in range(16)]
        found = [call.result() for call in calls]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return [*found, pool.apply(function, arguments)]
