"""`python -m lab collect`."""

from pathlib import Path

import typer
from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import failing
from spacy_hashembeds.cli._output import QUIET

from ._app import lab_cli


@lab_cli.command("collect")
def collect_cli(
    metrics: Path = Arg(
        ..., help="The folder of results: metrics, as trials write it.", file_okay=False
    ),
    output: Path = Opt(
        ...,
        "--output",
        "-o",
        help="The folder of tables, DATASET.jsonl.",
        file_okay=False,
    ),
    force: bool = typer.Option(
        False, "--force", "-F", help="Replace other results of the same trials."
    ),
    quiet: bool = QUIET,
) -> None:
    """Put the results of trials into a table for each corpus, a line for each trial.

    What a table has already stays. The report is made of tables too.
    """
    from wasabi import msg

    from ..trials.collected import collect_results

    with failing("Can't collect the results"):
        added, replaced, unchanged = collect_results(metrics, output, force=force)
    msg.good(
        f"Added {added} results to the tables in {output}",
        f"{replaced} replaced, {unchanged} were there.",
    )
