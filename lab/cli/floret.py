"""`python -m lab floret`."""

import sys
from pathlib import Path

import typer
from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import failing
from spacy_hashembeds.cli._output import QUIET, file_output, is_quiet

from ._app import lab_cli


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
    from wasabi import msg

    from spacy_hashembeds.files import check_targets

    from ..vectors.floret import train_floret

    options = {"text", "output", "quiet"}
    settings = {name: x for name, x in ctx.params.items() if name not in options}
    with failing("Can't train the vectors", RuntimeError):
        check_targets([output], [text])
        trained = train_floret(text, output, **settings, show_progress=is_watched())
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


def is_watched() -> bool:
    """Tell whether floret should show its progress: as `show_progress` a bar."""
    return not is_quiet() and sys.stderr is not None and sys.stderr.isatty()
