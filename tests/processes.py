"""What tests of whole pipelines do in processes of their own."""

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

TRAIN = """
import json, sys
from pathlib import Path
from spacy.cli.train import train

configs, overrides = map(json.loads, sys.argv[1:])
for config in map(Path, configs):
    train(config, config.stem, overrides=overrides)
"""

# In a file, since processes that are spawned import the main module anew.
ANNOTATE = """
import multiprocessing, sys, spacy

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    nlp = spacy.load(sys.argv[1])
    texts = sys.argv[2:] * 5
    one, two = (
        [doc.to_json() for doc in nlp.pipe(texts, n_process=n, batch_size=4)]
        for n in (1, 2)
    )
    assert one == two
    assert any(doc.get("ents") or doc.get("cats") for doc in one)
"""


def train_alone(
    configs: Sequence[Path], folder: Path, overrides: Mapping[str, Any]
) -> None:
    """Train configs, each in a folder of its name, where only entry points can help."""
    arguments = [json.dumps(list(map(str, configs))), json.dumps(overrides)]
    _run("-c", TRAIN, *arguments, cwd=folder)


def annotate_spawned(model: Path, texts: Sequence[str], folder: Path) -> None:
    """See that spawned processes annotate as one does, which send what they load."""
    script = folder / "annotate.py"
    script.write_text(ANNOTATE)
    _run("-W", "ignore", str(script), str(model), *texts)


def call_in_threads_and_a_fork(
    function: Callable[..., Any], *arguments: Any
) -> list[Any]:
    """Call a function sixteen times by four threads at once, and in a fork."""
    with ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(function, *arguments) for _ in range(16)]
        found = [call.result() for call in calls]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return [*found, pool.apply(function, arguments)]


def load_package(root: Path, code: str) -> str:
    """Run code that can import a package, and give what it prints."""
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    return _run("-c", code, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})


def _run(*arguments: str, **settings: Any) -> str:
    command = [sys.executable, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, **settings)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
