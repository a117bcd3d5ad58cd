"""`python -m lab baseline`."""

import typer
from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import failing
from spacy_hashembeds.cli._output import JSON, QUIET

from ._app import FORCE, lab_cli
from .trial import give_results


@lab_cli.command("baseline")
def baseline_cli(
    corpus: str = Arg(..., help="The prepared corpus: the folder corpus/CORPUS."),
    lang: str | None = Opt(
        None, "--nlp.lang", help="The language of a corpus of your own, such as de."
    ),
    force: bool = FORCE,
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Train a linear-chain CRF, evaluate it, and record it as a trial.

    It knows words, affixes, shapes and what stands beside them; its penalties are those
    of a small grid that are best on development data. The results are one file,
    metrics/CORPUS/crf/default/seed0.json; what is done is not run again.
    """
    from wasabi import msg

    from ..baseline.run_baseline import describe_penalties, run_baseline

    with failing("The baseline failed", RuntimeError):
        metrics, is_new, trial = run_baseline(
            corpus, lang=lang, force=force, on_output=typer.echo
        )
    chosen = describe_penalties(metrics["penalties"])
    msg.info(f"Chosen on development data: {chosen}")
    give_results(metrics, trial, is_new=is_new, as_json=as_json)
