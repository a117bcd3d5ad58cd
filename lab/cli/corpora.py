"""`python -m lab prepare`, `misspell`, `rawtext` and `floret`."""

import sys
from functools import partial
from pathlib import Path

import typer
from spacy.cli._util import Arg, Opt
from wasabi import msg

from spacy_hashembeds.files import check_targets
from spacy_hashembeds.tools.cli._app import failing
from spacy_hashembeds.tools.cli._output import (
    QUIET,
    file_output,
    is_quiet,
    show_progress,
)
from spacy_hashembeds.tools.cli._prepared import show_documents, show_prepared
from spacy_hashembeds.tools.prepare.splits import SPLITS

from ..corpora.datasets import prepare_dataset
from ..corpora.misspellings import write_misspelt
from ..vectors.floret import train_floret
from ..vectors.rawtext import write_raw_text
from ._app import folder_output, lab_cli


@lab_cli.command("prepare")
def prepare_cli(
    dataset: str = Arg(..., help="The name of a dataset."),
    output: Path = folder_output("The folder for train.spacy, dev.spacy, test.spacy."),
    assets: Path = Opt(
        Path("assets"),
        "--assets",
        "-a",
        help="The folder that holds the files of the datasets.",
        file_okay=False,
    ),
    quiet: bool = QUIET,
) -> None:
    """Convert a published corpus to train.spacy, dev.spacy and test.spacy.

    The datasets with entities are wnut17, conll2002_es, conll2002_nl, anem,
    archaeology, ontonotes and demo, split as in the report "Multi hash embeddings in
    spaCy". Those for text classification are ag_news, dbpedia, yelp_polarity,
    yelp_full, yahoo_answers, amazon_full and amazon_polarity, of whose training texts
    one in twenty is for development; and ag_news_small, the test texts of ag_news
    alone, split into 5,000, 600 and 2,000. Those of GLUE are glue_cola, glue_sst2,
    glue_mrpc, glue_qqp, glue_stsb, glue_mnli, glue_qnli, glue_rte and glue_wnli, split
    likewise, whose published development sets are the test.

    Their files are looked for in the folder of assets, where 'spacy project assets'
    puts them. The demo corpus needs none. Your own files are for
    'spacy hashembeds prepare'.
    """
    with failing("Can't prepare the corpus"):
        check_targets([output / f"{split}.spacy" for split in SPLITS])
        paths = prepare_dataset(dataset, assets, output, progress=show_documents)
    show_prepared(paths)
    msg.good(f"Saved {len(paths)} splits to {output}")


@lab_cli.command("misspell")
def misspell_cli(
    corpus: Path = Arg(
        ..., help="The gold corpus: a .spacy file, or a folder of them."
    ),
    output: Path = file_output("The .spacy file to write", default=...),
    seed: int = Opt(
        0, "--seed", "-s", help="The seed that the edits are drawn by.", min=0
    ),
    quiet: bool = QUIET,
) -> None:
    """Copy a gold corpus with a misspelling in each entity.

    One character of each entity is left out, put in, replaced, or swapped with the next
    one. All else stays. Equal seeds give equal copies, which `evaluate` takes as any
    other corpus.
    """
    with failing("Can't misspell the corpus"):
        check_targets([output], [corpus])
        progress = partial(show_progress, title="Reading the corpus", unit="docs")
        documents, entities, misspelt = write_misspelt(
            corpus, output, seed=seed, progress=progress
        )
    msg.info(
        f"Misspelt {misspelt:,} of {entities:,} entities in {documents:,} documents, "
        f"seed {seed}"
    )
    msg.good(f"Saved the copy to {output}")


@lab_cli.command("rawtext")
def rawtext_cli(
    folder: Path = Arg(
        ...,
        help="The folder of the raw files, e.g. assets/wnut17-raw.",
        file_okay=False,
    ),
    output: Path = file_output(
        "The text file to write, or a .spacy file for `spacy pretrain`", default=...
    ),
    held_out: list[Path] = Opt(
        [],
        "--held-out",
        help="A .spacy file, or a folder of them, whose texts are left out. May be "
        "given more than once.",
    ),
    added: list[Path] = Opt(
        [],
        "--add",
        help="A .spacy file, or a folder of them, whose tokens are added. May be given "
        "more than once.",
    ),
    quiet: bool = QUIET,
) -> None:
    """Tokenise the raw text behind WNUT 2017 as the corpus itself is, one text a line,
    to train word vectors or a tok2vec on.

    Nearly every sentence of the development and test data stands in that text: leave
    them out with --held-out, or scores on them say less than they seem to.
    """
    with failing("Can't make the text"):
        check_targets([output], [folder, *held_out, *added])
        counts = write_raw_text(
            folder,
            output,
            held_out=held_out,
            added=added,
            progress=lambda lines, name: show_progress(
                lines, f"Tokenising {name}", unit="lines"
            ),
        )
    msg.info(f"Left out {counts.held_out:,} lines of held-out data")
    msg.good(f"Saved {counts.lines:,} lines of {counts.tokens:,} tokens to {output}")


@lab_cli.command("floret")
def floret_cli(
    ctx: typer.Context,
    text: Path = Arg(
        ..., help="UTF-8 text, tokenised, with one text a line.", dir_okay=False
    ),
    output: Path = file_output(
        "The file of vectors to write, .floret, or .vec in mode fasttext", default=...
    ),
    mode: str = Opt(
        "floret", "--mode", "-m", help="What to train: 'floret' or 'fasttext'."
    ),
    model: str = Opt(
        "skipgram", "--model", help="How to train it: 'skipgram' or 'cbow'."
    ),
    dim: int = Opt(100, "--dim", "-d", help="The width of the vectors."),
    bucket: int = Opt(50_000, "--bucket", "-b", help="The rows of the table."),
    hash_count: int = Opt(
        2, "--hash-count", help="The rows of each word or n-gram, 1 to 4 (mode floret)."
    ),
    minn: int = Opt(4, "--minn", help="The shortest n-gram, in characters."),
    maxn: int = Opt(5, "--maxn", help="The longest n-gram, in characters."),
    min_count: int = Opt(
        5, "--min-count", help="How often a word must be seen to be trained on."
    ),
    epochs: int = Opt(5, "--epochs", help="How often to go through the text."),
    neg: int = Opt(5, "--neg", help="The number of negative examples for each word."),
    lr: float = Opt(0.05, "--lr", help="The learning rate at the start."),
    threads: int = Opt(
        1,
        "--threads",
        help="How many threads to use; with more than one, results differ each time.",
    ),
    quiet: bool = QUIET,
) -> None:
    """Train word vectors on text with floret (extra: floret), for `spacy init vectors`.

    In mode floret every word has a vector, known or not; in mode fasttext, those that
    were trained on. With one thread the same text gives the same vectors.
    """
    options = {"text", "output", "quiet"}
    settings = {name: x for name, x in ctx.params.items() if name not in options}
    is_watched = sys.stderr.isatty() and not is_quiet()
    with failing("Can't train the vectors", RuntimeError):
        check_targets([output], [text])
        trained = train_floret(text, output, **settings, show_progress=is_watched)
    if trained.inexact_word is not None:
        msg.warn(
            f"spaCy's vector of {trained.inexact_word!r} will differ a little",
            "floret keeps a row of its own for the most frequent word and does not "
            "save it. Break the text into shorter lines, so that no word is as "
            "frequent as the ends of lines are.",
        )
    msg.info(f"Trained on {trained.tokens:,} tokens of {trained.words:,} words")
    msg.good(f"Saved {trained.rows:,} rows of {dim} to {output}")
    option = " --mode floret" if mode == "floret" else ""
    msg.text(f"Next: spacy init vectors LANG {output} FOLDER{option}")
