"""Put a gazetteer into a config: names of a file, found by spaCy's span_ruler.

    python gazetteer.py base.cfg names.tsv with_names.cfg

Each line of the file has a name and its kind, such as CITY, with a tab between them.
The names are written beside the new config as patterns, which training puts into the
pipeline.
"""

import json
import sys
from pathlib import Path

from spacy.util import load_config


def main(base: Path, names: Path, output: Path) -> None:
    """Write the config and the patterns."""
    lines = filter(str.strip, names.read_text("utf8").splitlines())
    rows = (line.split("\t") for line in lines)
    patterns = [{"label": kind, "pattern": name} for name, kind in rows]
    path = output.with_suffix(".json")
    path.write_text(json.dumps(patterns), encoding="utf8")
    config = load_config(base)
    config["nlp"]["pipeline"].insert(0, "span_ruler")
    ruler = {"factory": "span_ruler", "spans_key": "names"}
    config["components"]["span_ruler"] = ruler
    config["training"]["annotating_components"] = ["span_ruler"]
    reader = {"@readers": "srsly.read_json.v1", "path": str(path)}
    components = config["initialize"].setdefault("components", {})
    components["span_ruler"] = {"patterns": reader}
    # the names are no annotation to be scored
    scores = ("spans_ruler_f", "spans_ruler_p", "spans_ruler_r", "spans_ruler_per_type")
    config["training"].setdefault("score_weights", {}).update(dict.fromkeys(scores))
    config.to_disk(output)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
