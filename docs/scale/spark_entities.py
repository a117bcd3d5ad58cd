"""Find entities in many files with Spark.

python spark_entities.py MODEL PARTS OUT          # all cores of this machine
spark-submit spark_entities.py MODEL PARTS OUT    # a cluster's

PARTS is a folder of Parquet files with columns `id` and `text`. The script writes a
folder to OUT for each part, and skips parts that have one. It reports errors and then
exits with status 1.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from entities import COLUMNS
from pyspark.sql import SparkSession

HERE = Path(__file__).parent
#: Spark's names of Arrow's types.
SQL = {"int64": "long", "float64": "double"}


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("parts", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    model, parts = args.model, sorted(args.parts.glob("[!._]*.parquet"))
    if not parts:
        parser.error(f"no Parquet files are in {args.parts}")

    def annotate(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from entities import find_entities, load

        for batch in batches:  # the pipeline stays loaded in Spark's Python workers
            ids, texts = (batch[name].to_pylist() for name in ("id", "text"))
            rows = list(find_entities(load(model), zip(ids, texts, strict=True)))
            schema = pa.schema([batch.schema.field("id"), *COLUMNS.items()])
            yield pa.RecordBatch.from_pylist(rows, schema)

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.appName("entities").getOrCreate()
    spark.sparkContext.addPyFile(str(HERE / "entities.py"))

    def run(part: Path, done: Path) -> None:
        texts = spark.read.parquet(str(part)).select("id", "text")
        texts = texts.repartition(spark.sparkContext.defaultParallelism)
        fields = {"id": texts.schema["id"].dataType.simpleString(), **COLUMNS}
        schema = ", ".join(f"{name} {SQL.get(of, of)}" for name, of in fields.items())
        found = texts.mapInArrow(annotate, schema)
        found.write.mode("overwrite").parquet(str(done))

    failed = False
    for part in parts:
        done = args.out / part.stem
        if not (done / "_SUCCESS").exists():
            try:
                run(part, done)
            except Exception as error:  # go on with the other parts
                print(f"{part.name}:", " ".join(str(error).split())[:300])
                failed = True
    spark.stop()
    sys.exit(failed)


if __name__ == "__main__":
    main()
