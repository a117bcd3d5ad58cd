"""`spacy hashembeds prepare`."""

from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import Any

from spacy.cli._util import Arg, Opt
from wasabi import msg

from ._app import failing, hashembeds_cli
from ._columns import (
    GROUP,
    QUOTES,
    SENTENCE_COLUMN,
    TAG_COLUMN,
    WORD_COLUMN,
    make_layout,
)
from ._output import QUIET, show_commands


class Kind(StrEnum):
    """Kind of files of your own."""

    iob = "iob"
    spans = "spans"
    texts = "texts"


@hashembeds_cli.command("prepare")
def prepare_cli(
    kind: Kind = Arg(
        ...,
        help="What your files have: 'iob' for tokens with entities, 'spans' for texts "
        "with entities by their characters, 'texts' for texts with labels.",
    ),
    output: Path = Opt(
        ..., "--output", "-o", help="The folder for the .spacy files.", file_okay=False
    ),
    train: Path = Opt(..., "--train", "-t", help="Your training file.", dir_okay=False),
    dev: Path | None = Opt(
        None,
        "--dev",
        help="Your development file. Without it, one in ten texts of the training file "
        "(sentences, or documents with --group) is for development, drawn from a fixed "
        "seed.",
        dir_okay=False,
    ),
    test: Path | None = Opt(None, "--test", help="Your test file.", dir_okay=False),
    lang: str = Opt(
        ...,
        "--lang",
        "-l",
        help="The code of the language of your files, such as de: --nlp.lang of 'spacy "
        "train'.",
    ),
    separator: str | None = Opt(
        None,
        "--separator",
        help=r"What stands between the columns of your files, e.g. '\t'. Default: in "
        "IOB files tabs where the first row has some, else any blanks; in CSV a comma, "
        "or a tab if they end in .tsv.",
    ),
    text_column: list[str] = Opt(
        ["text"],
        "--text-column",
        help="The column of the text in CSV, or its key in JSON; may be given several "
        "times, for texts that are put together. Numbers, from 0, where the first line "
        "of CSV has no names.",
    ),
    label_column: list[str] = Opt(
        [],
        "--label-column",
        help="The column or key of the label, likewise ('label'); may be given several "
        "times, for columns of 0 and 1, each named after a label. For 'spans' the key "
        "of the entities.",
    ),
    word_column: str = WORD_COLUMN,
    tag_column: str = TAG_COLUMN,
    sentence_column: str | None = SENTENCE_COLUMN,
    encoding: str = Opt("utf-8", "--encoding", help="The encoding of your files."),
    quotes: bool | None = QUOTES,
    group: str = GROUP,
    misaligned: str = Opt(
        "refuse",
        "--misaligned",
        help="What becomes of 'spans' that begin or end within tokens: 'refuse', "
        "'leave-out', or 'expand' or 'contract' to whole tokens.",
    ),
    overlapping: str = Opt(
        "refuse",
        "--overlapping",
        help="What becomes of 'spans' that share tokens: 'refuse', or 'leave-out' all "
        "but the longest.",
    ),
    force: bool = Opt(
        False, "--force", "-F", help="Replace the corpus that is in the folder."
    ),
    quiet: bool = QUIET,
) -> None:
    """Convert your own files to train.spacy, dev.spacy and test.spacy.

    'iob' files have one token a line. 'spans' are JSON, with a text and the characters
    that its entities begin and end with, as annotation tools and spaCy v2 have them.
    'texts' are CSV, or JSON (.jsonl, .json). What was written is counted,
    and a sentence or text shown as it was read.
    """
    from ...files import check_targets
    from ..prepare.labelled import TextFormat
    from ..prepare.spans import SpanFormat
    from ..prepare.splits import SPLITS, prepare_files
    from ._prepared import show_documents, show_prepared

    with failing("Can't prepare the corpus"):
        outputs = [output / f"{split}.spacy" for split in SPLITS]
        check_targets(outputs, [train, dev, test])
        layout: Any
        if kind is Kind.iob:
            layout = make_layout(
                separator=separator,
                word=word_column,
                tag=tag_column,
                sentence=sentence_column,
                encoding=encoding,
                group=group,
                quotes=quotes,
            )
        elif kind is Kind.spans:
            layout = SpanFormat(
                text_column, label_column, encoding, misaligned, overlapping
            )
        else:
            columns = label_column[0] if len(label_column) == 1 else label_column
            separator = separator and separator.replace(r"\t", "\t")
            layout = TextFormat(
                text_column, columns or "label", separator, encoding, quotes
            )
        paths = prepare_files(
            train=train,
            dev=dev,
            test=test,
            lang=lang,
            output=output,
            layout=layout,
            force=force,
            progress=show_documents,
        )
    component = show_prepared(paths)
    if kind is Kind.spans and layout.problems:
        counts = (f"{n:,} {problem}" for problem, n in layout.problems.items())
        msg.warn(f"Left out {' and '.join(counts)} entities. The first are:")
        msg.text("\n".join(layout.examples))
    drawn = "" if dev else ", of train one in ten for dev (--dev names a file of yours)"
    msg.good(f"Saved {len(paths)} splits to {output}{drawn}")
    if component is not None:
        msg.text("Write a config for them:")
        train_path = quote(str(outputs[0]))
        show_commands(
            f"spacy init config base.cfg --lang {lang} --pipeline {component}",
            f"spacy hashembeds config base.cfg -o config.cfg --train {train_path}",
        )
