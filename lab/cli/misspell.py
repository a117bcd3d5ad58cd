"""`python -m lab misspell`."""

from functools import partial
from pathlib import Path

from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import failing
from spacy_hashembeds.cli._output import QUIET, file_output, show_progress

from ._app import lab_cli


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
    one. All else stays: tokens, entities, and what is annotated beside them. Equal
    seeds give equal copies.

    `evaluate` takes the copy as any other corpus.
    """
    from wasabi import msg

    from spacy_hashembeds.files import check_targets

    from ..corpora.misspellings import write_misspelt

    with failing("Can't misspell the corpus"):
        check_targets([output], [corpus])
        progress = partial(show_progress, title="Reading the corpus", unit="docs")
        counts = write_misspelt(corpus, output, seed=seed, progress=progress)
    msg.info(
        f"Misspelt {counts.misspelt:,} of {counts.entities:,} entities in "
        f"{counts.documents:,} documents, seed {seed}"
    )
    msg.good(f"Saved the copy to {output}")
