"""Texts without annotation, made into Docs as training would have them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from spacy_hashembeds.corpora.docbin import read_examples
from spacy_hashembeds.corpora.lines import check_length, fail, read_lines
from spacy_hashembeds.files import parse_json, quote

STANDARD_INPUT = Path("/dev/stdin")

_JSONL = (".jsonl", ".ndjson")
_TABLES = (".csv", ".tsv")


def read_text_docs(paths: Sequence[Path], nlp: Language) -> Iterator[Doc]:
    """Read the texts of files, and tokenize them as `spacy train` does.

    paths: `.spacy` files or folders of them, `.jsonl` files that have an object with a
        "text" on each line, and files of one text a line. Blank lines are passed over.
    """
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"There is no file or folder '{path}' of texts.")
        if path.suffix.lower() in _TABLES:
            raise ValueError(
                f"'{path}' has columns, and not a text a line. Make .spacy files of it "
                "with `spacy hashembeds prepare texts`, and give one of these."
            )
        if path.is_dir() or path.suffix == ".spacy":
            # what a model was trained on is their predicted side
            yield from (example.predicted for example in read_examples(path, nlp))
        else:
            is_json = path.suffix.lower() in _JSONL
            for number, line in read_lines(path, "utf-8"):
                if line.strip():
                    text = _parse_text(path, number, line) if is_json else line
                    check_length(path, number, text, nlp.max_length)
                    yield nlp.make_doc(text)


def _parse_text(path: Path, number: int, line: str) -> str:
    try:
        text: str = parse_json(line)["text"]
        text.encode()  # JSON can write half a character, which no encoding can
    except (ValueError, KeyError, AttributeError):
        fail(path, number, f'expected a JSON object with a "text", got {quote(line)}')
    return text
