"""Entities of a file of one text a line, as JSON lines, by processes of one machine:

python one_machine.py MODEL TEXTS.txt ENTITIES.jsonl --processes 2
"""

import argparse
import json
import os
from pathlib import Path

from entities import find_entities, load


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("texts", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    args = parser.parse_args()
    half = args.output.with_name(f".{args.output.name}")
    with args.texts.open(encoding="utf8") as lines, half.open("w") as file:
        numbered = enumerate(map(str.rstrip, lines), start=1)
        for row in find_entities(load(args.model), numbered, args.processes):
            file.write(json.dumps(row) + "\n")
    os.replace(half, args.output)  # whole or not at all


if __name__ == "__main__":
    main()
