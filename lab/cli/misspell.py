"""`python -m lab misspell`."""

from pathlib import Path
from typing import TYPE_CHECKING

from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import describe
from spacy_hashembeds.cli._output import QUIET, name_output
from spacy_hashembeds.cli._progress import show_progress

from ._app import lab_cli

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spacy.tokens import Doc


@lab_cli.command("misspell")
def misspell_cli(
    corpus: Path = Arg(
        ..., help="The gold corpus: a .spacy file, or a folder of them."
    ),
    output: Path = Opt(
        ...,
        "--output",
        "-o",
        help="The .spacy file to write; - is standard output.",
        dir_okay=False,
        callback=name_output,
    ),
    seed: int = Opt(
        0, "--seed", "-s", help="The seed that the edits are drawn by.", min=0
    ),
    quiet: bool = QUIET,
) -> None:
    """Copy a gold corpus with a misspelling in each entity.

    One character of each entity is left out, put in, replaced, or swapped with the next
    one. All else stays: tokens, entities, and what is annotated beside them. Equal
    seeds give equal copies.

    What a pipeline loses by it is said by `evaluate`, which takes the copy as
    --misspelt beside the gold corpus, or in its place as any other corpus.
    """
    from wasabi import msg

    from spacy_hashembeds.files import check_targets

    from ..corpora.misspellings import write_misspelt

    try:
        check_targets([output], [corpus])
        counts = write_misspelt(corpus, output, seed=seed, progress=_show_progress)
    except (OSError, ValueError) as e:
        msg.fail("Can't misspell the corpus", describe(e), exits=1)
    msg.info(
        f"Misspelt {counts.misspelt:,} of {counts.entities:,} entities in "
        f"{counts.documents:,} documents, seed {seed}"
    )
    msg.good(f"Saved the copy to {output}")


def _show_progress(docs: "Iterable[Doc]") -> "Iterable[Doc]":
    return show_progress(docs, "Reading the corpus", unit="docs")
