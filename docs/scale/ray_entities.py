"""Find entities in many files with Ray Data: a pool of actors, one per core.

python ray_entities.py MODEL PARTS OUT                   # all cores of this machine
python ray_entities.py MODEL PARTS OUT --address auto    # a cluster's

PARTS is a folder of Parquet files with columns `id` and `text`, or of files with one
text per line. The script writes a Parquet file to OUT for each part, and skips parts
that have one. It reports unreadable parts and then exits with status 1. Files whose
names begin with "." or "_" are ignored.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import ray
from entities import COLUMNS, find_entities, load, read_lines

HERE = Path(__file__).parent


def read(part: Path) -> tuple[pa.DataType, list[tuple[Any, Any]]]:
    """Return the Arrow type of a part's IDs, and (ID, text) pairs. In text files, IDs
    are line numbers.
    """
    if part.suffix != ".parquet":
        return pa.int64(), list(read_lines(part))
    table = pq.read_table(part, columns=["id", "text"])
    pairs = zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True)
    return table.schema.field("id").type, list(pairs)


class Annotator:
    """An actor that loads the pipeline once, and writes the entities of each part."""

    def __init__(self, model: str, out: Path) -> None:
        self.nlp, self.out = load(model), out

    def __call__(self, item: dict[str, Any]) -> dict[str, Any]:
        """Annotate a part. Return its name, a message, and whether it is unreadable."""
        part = Path(item["part"])
        try:
            id_type, texts = read(part)
        except Exception as error:  # go on with the other parts
            message = f"can't be read: {error}"
            return {"part": part.name, "message": message, "is_bad": True}
        rows = list(find_entities(self.nlp, texts))
        schema = pa.schema([("id", id_type), *COLUMNS.items()])
        half = self.out / f".{part.name}.{os.getpid()}"
        pq.write_table(pa.Table.from_pylist(rows, schema), half)
        os.replace(half, find_output(self.out, part))
        failed = sum("error" in row for row in rows)
        message = f"{len(texts)} texts, {failed} failed"
        return {"part": part.name, "message": message, "is_bad": False}


def find_output(out: Path, part: Path) -> Path:
    """Return the path of a part's entities."""
    return out / f"{part.name}.entities.parquet"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("parts", type=lambda name: Path(name).resolve())
    parser.add_argument("out", type=lambda name: Path(name).resolve())
    parser.add_argument("--address", default="local")
    args = parser.parse_args()
    if args.out == args.parts:
        parser.error("OUT can't be PARTS")
    args.out.mkdir(parents=True, exist_ok=True)
    files = (part for part in sorted(args.parts.iterdir()) if part.is_file())
    parts = [part for part in files if part.name[0] not in "._"]
    todo = [str(part) for part in parts if not find_output(args.out, part).exists()]
    # Ray copies this folder to a cluster, which needs the packages and the parts
    code = None if args.address == "local" else {"working_dir": str(HERE)}
    ray.init(address=args.address, runtime_env=code, log_to_driver=False)
    actors = min(len(todo), int(ray.cluster_resources()["CPU"]))
    is_bad = False
    if todo:
        items = [{"part": part} for part in todo]
        done = ray.data.from_items(items, override_num_blocks=len(todo)).map(
            Annotator,
            fn_constructor_args=(args.model, args.out),
            compute=ray.data.ActorPoolStrategy(size=actors),
            num_cpus=1,
        )
        for row in done.iter_rows():
            print("{part}: {message}".format(**row))
            is_bad |= row["is_bad"]
    print(f"{len(parts) - len(todo)} parts were done before")
    sys.exit(is_bad)


if __name__ == "__main__":
    main()
