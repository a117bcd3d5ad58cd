"""`spacy hashembeds prepare`."""

from enum import StrEnum
from pathlib import Path
from shlex import quote

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
    texts = "texts"


@hashembeds_cli.command("prepare")
def prepare_cli(
    kind: Kind = Arg(
        ...,
        help="What your files have: 'iob' for tokens with entities, 'texts' for texts "
        "with labels.",
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
        "IOB files tabs where all of the first lines have some, else any blanks; in "
        "CSV a comma, or a tab if they end in .tsv.",
    ),
    text_column: list[str] = Opt(
        ["text"],
        "--text-column",
        help="The column of the text in CSV, or its key in JSON; may be given several "
        "times, for texts that are put together. Numbers, from 0, where the first line "
        "of CSV has no names.",
    ),
    label_column: str = Opt(
        "label", "--label-column", help="The column or key of the label, likewise."
    ),
    word_column: str = WORD_COLUMN,
    tag_column: str = TAG_COLUMN,
    sentence_column: str | None = SENTENCE_COLUMN,
    encoding: str = Opt("utf-8", "--encoding", help="The encoding of your files."),
    quotes: bool | None = QUOTES,
    group: str = GROUP,
    force: bool = Opt(
        False, "--force", "-F", help="Replace the corpus that is in the folder."
    ),
    quiet: bool = QUIET,
) -> None:
    """Convert your own files to train.spacy, dev.spacy and test.spacy.

    Those with entities ('iob') have one token a line. Those with texts and labels
    ('texts') are CSV, or JSON if they end in .jsonl or .json. What was written is
    counted, and a sentence or text shown as it was read.
    """
    from ..corpora.labelled import TextFormat
    from ..corpora.splits import SPLITS, prepare_files
    from ..files import check_targets
    from ._prepared import show_documents, show_prepared

    with failing("Can't prepare the corpus"):
        outputs = [output / f"{split}.spacy" for split in SPLITS]
        check_targets(outputs, [train, dev, test])
        layout = (
            make_layout(
                separator=separator,
                word=word_column,
                tag=tag_column,
                sentence=sentence_column,
                encoding=encoding,
                group=group,
                quotes=quotes,
            )
            if kind is Kind.iob
            else TextFormat(
                text_column,
                label_column,
                separator and separator.replace(r"\t", "\t"),
                encoding,
                quotes,
            )
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
    show_prepared(paths)
    drawn = "" if dev else ", of train one in ten for dev (--dev names a file of yours)"
    msg.good(f"Saved {len(paths)} splits to {output}{drawn}")
    msg.text("Write a config for them:")
    pipeline = "ner" if kind is Kind.iob else "textcat"
    train_path = quote(str(outputs[0]))
    show_commands(
        f"spacy init config base.cfg --lang {lang} --pipeline {pipeline}",
        f"spacy hashembeds config base.cfg -o config.cfg --train {train_path}",
    )
