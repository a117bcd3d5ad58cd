"""Files of GLUE's tasks in their published form, with sentences of our own."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spacy.util import load_config

from lab.corpora.glue import GLUE
from tests.configs import CONFIGS

HEADERS = {
    "cola": "",
    "sst2": "sentence\tlabel",
    "mrpc": "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String",
    "qqp": "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate",
    "stsb": "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\t"
    "sentence2\tscore",
    "mnli": "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\t"
    "sentence2_binary_parse\tsentence1_parse\tsentence2_parse\tsentence1\tsentence2\t"
    "label1\tgold_label",
    "qnli": "index\tquestion\tsentence\tlabel",
    "rte": "index\tsentence1\tsentence2\tlabel",
    "wnli": "index\tsentence1\tsentence2\tlabel",
}
#: The development sets of MNLI have the labels of five annotators.
MNLI_DEV = HEADERS["mnli"].replace(
    "label1", "\t".join(f"label{number}" for number in range(1, 6))
)

#: What marks each class, or fifth of the score, in the last sentence.
MARKS = ("red", "green", "blue", "white", "black", "grey")
OTHERS = "the a boat house is was seen by old new".split()


def make_row(task: str, sentences: Sequence[str], gold: str, header: str = "") -> str:
    """A line of a file, whose other columns hold something of their kind."""
    layout = GLUE[task]
    names = layout.columns or (header or HEADERS[task]).split("\t")
    row = dict.fromkeys(names, "1")
    row |= dict(zip(layout.sentences, sentences, strict=True), **{layout.gold: gold})
    return "\t".join(row[name] for name in names)


def write_rows(path: Path, task: str, rows: Sequence[str], header: str = "") -> Path:
    """A file as it was published: that of MRPC begins with a mark, and has CRLF."""
    end = "\r\n" if task == "mrpc" else "\n"
    header = header or HEADERS[task]
    lines = [*([header] if header else []), *rows]
    text = ("\ufeff" if task == "mrpc" else "") + "".join(line + end for line in lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf8"))
    return path


def write_task(path: Path, task: str, n: int = 60, seed: int = 0) -> Path:
    """A file that a model can learn: a word of the last sentence gives it away."""
    state = random.Random(seed)
    header = MNLI_DEV if task == "mnli" and "dev" in path.name else ""
    golds = list(GLUE[task].classes) or [f"{score}.000" for score in range(6)]
    rows = []
    for number in range(n):
        place = number % len(golds)
        sentences = [" ".join(state.choices(OTHERS, k=5)) for _ in GLUE[task].sentences]
        sentences[-1] += f" {MARKS[place]} ."
        rows.append(make_row(task, sentences, golds[place], header))
    return write_rows(path, task, rows, header)


def write_assets(folder: Path, task: str, n: int = 120) -> Path:
    """The files of a task, where `prepare` looks for them."""
    place = folder / "glue" / GLUE[task].folder
    names = ["dev_matched", "dev_mismatched"] if task == "mnli" else ["dev"]
    for seed, name in enumerate(["train", *names]):
        write_task(place / f"{name}.tsv", task, n if name == "train" else 30, seed)
    return folder


def make_config(name: str, folder: Path) -> Path:
    """A shipped config with small layers in the place of a HashFormer."""
    config: dict[str, Any] = load_config(CONFIGS / f"{name}.cfg", interpolate=False)
    tok2vec = config["components"]["tok2vec"]["model"]
    tok2vec["embed"] = {
        "@architectures": "spacy-hashembeds.MultiFewerHashEmbed.v1",
        "width": "${components.tok2vec.model.encode.width}",
        "attrs": ["LOWER"],
        "rows": [500],
        "num_hashes": 2,
        "include_static_vectors": False,
    }
    tok2vec["encode"] = {
        "@architectures": "spacy-hashembeds.MaxoutWindowEncoder.v1",
        "width": 32,
        "depth": 1,
        "window_size": 1,
        "maxout_pieces": 2,
    }
    config["pretraining"]["objective"] = {
        "@architectures": "spacy.PretrainCharacters.v1",
        "maxout_pieces": 2,
        "hidden_size": 16,
        "n_characters": 2,
    }
    path = folder / f"{name}.cfg"
    config.to_disk(path, interpolate=False)
    return path
