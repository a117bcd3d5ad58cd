"""Write the entities of a file with one text per line as JSON lines, in processes.

python one_machine.py MODEL TEXTS.txt ENTITIES.jsonl --processes 2
"""

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from entities import ZONE, find_entities, load, read_lines
from spacy.util import minibatch

#: Number of batches to read ahead per process.
AHEAD = 8


def work(model: str, texts: list[Any]) -> list[dict[str, Any]]:
    """Return the rows of a batch. Docs stay in the process."""
    return list(find_entities(load(model), texts))


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("texts", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    args = parser.parse_args()
    output = args.output.resolve()
    if output == args.texts.resolve() or (output.exists() and not output.is_file()):
        parser.error(f"{output} can't be replaced by entities")
    # forks share the loaded pipeline, and the tables that a first text folds
    load(args.model)("A text.")
    job = partial(work, args.model)
    half = output.with_name(f".{output.name}.{os.getpid()}")
    batches = minibatch(read_lines(args.texts), ZONE)
    try:
        with half.open("w") as file:
            if args.processes == 1:
                write(map(job, batches), file)
            else:  # unlike multiprocessing.Pool, this raises if a worker is killed
                with ProcessPoolExecutor(args.processes) as pool:
                    # pool.map reads its whole input at once
                    rounds = minibatch(batches, AHEAD * args.processes)
                    found = (pool.map(job, some) for some in rounds)
                    write(chain.from_iterable(found), file)
        os.replace(half, output)  # atomic
    finally:
        half.unlink(missing_ok=True)


def write(found: Any, file: Any) -> None:
    """Write rows as JSON lines."""
    for row in chain.from_iterable(found):
        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
