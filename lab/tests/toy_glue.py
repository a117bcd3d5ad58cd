"""Files of GLUE's tasks in their published form, with sentences of our own."""

from collections.abc import Sequence
from pathlib import Path

from lab.corpora.glue import GLUE

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
