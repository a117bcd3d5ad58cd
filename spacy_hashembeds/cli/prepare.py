"""`spacy hashembeds prepare`."""

from pathlib import Path
from typing import TYPE_CHECKING

from spacy.cli._util import Arg, Opt

from ._app import describe, hashembeds_cli
from ._columns import ENCODING, GROUP, SEPARATOR, TAG_COLUMN, WORD_COLUMN
from ._output import QUIET
from ._progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spacy.tokens import Doc

    from ..corpora.columns import Document

OWN_FILES = "iob"

#: The most words of a sentence that are shown, and characters of each.
_N_SHOWN = 30


@hashembeds_cli.command("prepare")
def prepare_cli(
    dataset: str = Arg(
        ..., help=f"The name of a dataset, or '{OWN_FILES}' for your own files."
    ),
    output: Path = Opt(
        ...,
        "--output",
        "-o",
        help="The folder for train.spacy, dev.spacy and test.spacy.",
        file_okay=False,
    ),
    assets: Path = Opt(
        Path("assets"),
        "--assets",
        "-a",
        help="The folder that holds the files of the datasets.",
        file_okay=False,
    ),
    train: Path | None = Opt(
        None, "--train", "-t", help="Your training file.", dir_okay=False
    ),
    dev: Path | None = Opt(
        None, "--dev", help="Your development file.", dir_okay=False
    ),
    test: Path | None = Opt(None, "--test", help="Your test file.", dir_okay=False),
    lang: str | None = Opt(
        None, "--lang", "-l", help="The code of the language of your files, such as de."
    ),
    separator: str | None = SEPARATOR,
    word_column: int = WORD_COLUMN,
    tag_column: int = TAG_COLUMN,
    encoding: str = ENCODING,
    group: str = GROUP,
    quiet: bool = QUIET,
) -> None:
    """Convert a dataset, or your own files, to train.spacy, dev.spacy and test.spacy.

    Your own files have one token a line, and need --train, --dev and --lang. What was
    written is counted, and a sentence shown as it was read.

    The datasets are wnut17, conll2002_es, conll2002_nl, anem, archaeology, ontonotes
    and demo, split as in the report "Multi hash embeddings in spaCy". Their files are
    looked for in the folder of assets, where 'spacy project assets' puts them in a
    clone of the sources of spacy-hashembeds. The demo corpus needs none.
    """
    from wasabi import msg

    from ..corpora.columns import ColumnFormat
    from ..corpora.datasets import SPLITS, prepare_dataset, prepare_files
    from ..files import check_target

    if dataset != OWN_FILES and (train or dev or test or lang):
        msg.fail(
            f"Can't prepare {dataset} from other files",
            f"Use '{OWN_FILES}' instead of its name for your own files.",
            exits=1,
        )
    try:
        for split in SPLITS:
            check_target(output / f"{split}.spacy", [train, dev, test])
        if dataset != OWN_FILES:
            paths = prepare_dataset(dataset, assets, output, progress=_show_progress)
        elif train is None or dev is None or lang is None:
            raise ValueError("Your own files need --train, --dev and --lang.")
        else:
            layout = ColumnFormat(
                separator=separator and separator.replace(r"\t", "\t"),
                word=word_column,
                tag=tag_column,
                encoding=encoding,
                group=group,
                comments=True,
            )
            paths = prepare_files(
                train=train,
                dev=dev,
                test=test,
                lang=lang,
                output=output,
                layout=layout,
                progress=_show_progress,
            )
    except (OSError, ValueError) as e:
        msg.fail("Can't prepare the corpus", describe(e), exits=1)
    _print_statistics(paths)
    _print_sentence(paths["train"])
    msg.good(f"Saved {len(paths)} splits to {output}")


def _show_progress(documents: "Iterator[Document]", split: str) -> "Iterable[Document]":
    return show_progress(documents, f"Converting {split}", unit="documents")


def _print_statistics(paths: dict[str, Path]) -> None:
    """Count what was written, rather than what was meant to be."""
    from spacy.vocab import Vocab
    from wasabi import msg

    from ..analysis.statistics import (
        corpus_statistics,
        count_seen_unseen,
    )
    from ..corpora.docbin import read_docs
    from ..corpora.entities import entity_texts

    rows = []
    train_texts: set[str] = set()
    for split, path in paths.items():
        read = read_docs(path, Vocab())
        docs = list(show_progress(read, f"Counting {split}", unit="docs"))
        counts = corpus_statistics(docs)
        if split == "train":
            train_texts = entity_texts(docs)
        entities = count_seen_unseen(train_texts, docs)
        rows.append(
            (
                split,
                f"{counts.documents:,}",
                f"{counts.tokens:,}",
                f"{counts.vocabulary:,}",
                f"{counts.classes:,}",
                f"{counts.entities_per_document:.2f}",
                f"{entities.seen:,}",
                f"{entities.unseen:,}",
            )
        )
    header = (
        *("Split", "Documents", "Tokens", "Vocabulary", "Classes"),
        *("Entities/doc", "Seen", "Unseen"),
    )
    aligns = tuple("lrrrrrrr")
    msg.table(rows, header=header, aligns=aligns, divider=True, spacing=2)


def _print_sentence(path: Path) -> None:
    """Show a sentence as it was understood: a wrong column is seen at once."""
    from spacy.vocab import Vocab
    from wasabi import msg

    from ..controls import show_controls
    from ..corpora.docbin import read_docs

    first = next(read_docs(path, Vocab()))
    doc = next((doc for doc in read_docs(path, Vocab()) if doc.ents), None)
    if doc is None:
        msg.warn(
            f"No entity in {path}. Its first sentence:",
            show_controls(_show_sentence(first, 0)),
        )
    else:
        text = _show_sentence(doc, doc.ents[0].start)
        msg.info(f"The first sentence with an entity in {path}:", show_controls(text))


def _show_sentence(doc: "Doc", place: int) -> str:
    """Write the sentence that a token stands in, with entities in brackets."""
    sentence = doc[place].sent
    start = sentence.start if place < sentence.start + _N_SHOWN else place
    end = min(sentence.end, start + _N_SHOWN)
    opens = {ent.start: "[" for ent in doc.ents}
    closes = {ent.end - 1: f" {ent.label_[:_N_SHOWN]}]" for ent in doc.ents}
    words = [
        opens.get(token.i, "") + token.text[:_N_SHOWN] + closes.get(token.i, "")
        for token in doc[start:end]
    ]
    before = "… " if start > sentence.start else ""
    return before + " ".join(words) + (" …" if end < sentence.end else "")
