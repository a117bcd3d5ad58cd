"""`spacy hashembeds prepare`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.cli._util import Arg, Opt

from ._app import describe, hashembeds_cli
from ._columns import GROUP, TAG_COLUMN, WORD_COLUMN
from ._output import QUIET
from ._prepared import show_prepared
from ._progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: What stands in place of a dataset's name for somebody's own files.
IOB, TEXTS = OWN_FILES = ("iob", "texts")


@hashembeds_cli.command("prepare")
def prepare_cli(
    dataset: str = Arg(
        ...,
        help=f"The name of a dataset; or, for your own files, '{IOB}' if they have "
        f"entities, or '{TEXTS}' if they have texts with labels.",
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
        None,
        "--dev",
        help="Your development file. Without it, one in ten texts of the training file "
        "is for development, drawn from a fixed seed.",
        dir_okay=False,
    ),
    test: Path | None = Opt(None, "--test", help="Your test file.", dir_okay=False),
    lang: str | None = Opt(
        None, "--lang", "-l", help="The code of the language of your files, such as de."
    ),
    separator: str | None = Opt(
        None,
        "--separator",
        help=r"What stands between the columns of your files, e.g. '\t'. Default: any "
        "white space in IOB files; in CSV a comma, or a tab if they end in .tsv.",
    ),
    text_column: list[str] = Opt(
        ["text"],
        "--text-column",
        help="The column of the text in CSV, or its key in JSONL; may be given several "
        "times, for texts that are put together. Numbers, from 0, where the first line "
        "of CSV has no names.",
    ),
    label_column: str = Opt(
        "label", "--label-column", help="The column or key of the label, likewise."
    ),
    word_column: int = WORD_COLUMN,
    tag_column: int = TAG_COLUMN,
    encoding: str = Opt("utf-8", "--encoding", help="The encoding of your files."),
    group: str = GROUP,
    quiet: bool = QUIET,
) -> None:
    """Convert a dataset, or your own files, to train.spacy, dev.spacy and test.spacy.

    Your own files with entities ('iob') have one token a line, and need --train, --dev
    and --lang. Those with texts and labels ('texts') are CSV, or JSONL if they end in
    .jsonl, and need --train and --lang. What was written is counted, and a sentence or
    text shown as it was read.

    The datasets with entities are wnut17, conll2002_es, conll2002_nl, anem,
    archaeology, ontonotes and demo, split as in the report "Multi hash embeddings in
    spaCy". Those for text classification are ag_news, dbpedia, yelp_polarity,
    yelp_full, yahoo_answers, amazon_full and amazon_polarity, of whose training texts
    one in twenty is for development; and ag_news_small, the test texts of ag_news
    alone, split into 5,000, 600 and 2,000. Those of GLUE are glue_cola, glue_sst2,
    glue_mrpc, glue_qqp, glue_stsb, glue_mnli, glue_qnli, glue_rte and glue_wnli, split
    likewise, whose published development sets are the test.

    Their files are looked for in the folder of assets, where 'spacy project assets'
    puts them in a clone of the sources of spacy-hashembeds. The demo corpus needs none.
    """
    from wasabi import msg

    from ..corpora.columns import ColumnFormat
    from ..corpora.datasets import prepare_dataset, prepare_files
    from ..corpora.labelled import TextFormat
    from ..corpora.splits import SPLITS
    from ..corpora.textdatasets import prepare_texts
    from ..files import check_target

    if dataset not in OWN_FILES and (train or dev or test or lang):
        msg.fail(
            f"Can't prepare {dataset} from other files",
            f"Use '{IOB}' or '{TEXTS}' instead of its name for your own files.",
            exits=1,
        )
    separator = separator and separator.replace(r"\t", "\t")
    try:
        for split in SPLITS:
            check_target(output / f"{split}.spacy", [train, dev, test])
        if dataset not in OWN_FILES:
            paths = prepare_dataset(dataset, assets, output, progress=_show_progress)
        elif dataset == IOB and train and dev and lang:
            paths = prepare_files(
                train=train,
                dev=dev,
                test=test,
                lang=lang,
                output=output,
                layout=ColumnFormat(
                    separator=separator,
                    word=word_column,
                    tag=tag_column,
                    encoding=encoding,
                    group=group,
                    comments=True,
                ),
                progress=_show_progress,
            )
        elif dataset == TEXTS and train and lang:
            paths = prepare_texts(
                train=train,
                dev=dev,
                test=test,
                lang=lang,
                output=output,
                layout=TextFormat(
                    text=text_column,
                    label=label_column,
                    separator=separator,
                    encoding=encoding,
                ),
                progress=_show_progress,
            )
        else:
            needed = "--train, --dev" if dataset == IOB else "--train"
            raise ValueError(f"Your own files need {needed} and --lang.")
    except (OSError, ValueError) as e:
        msg.fail("Can't prepare the corpus", describe(e), exits=1)
    show_prepared(paths)
    msg.good(f"Saved {len(paths)} splits to {output}")


def _show_progress(documents: "Iterator[Any]", split: str) -> "Iterable[Any]":
    return show_progress(documents, f"Converting {split}", unit="documents")
