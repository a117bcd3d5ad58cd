"""`python -m lab trial`."""

from functools import partial
from typing import TYPE_CHECKING, Any

import typer
from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import TAKE_OVERRIDES, failing, read_overrides
from spacy_hashembeds.cli._output import JSON, QUIET

from ._app import FORCE, GPU_ID, give, lab_cli
from .compare import format_score

if TYPE_CHECKING:
    from spacy_hashembeds.display import Part

    from ..trials.trial import Trial


@lab_cli.command("trial", context_settings=TAKE_OVERRIDES)
def trial_cli(
    ctx: typer.Context,
    dataset: str = Arg(..., help="The prepared corpus: the folder corpus/DATASET."),
    embedder: str = Arg(..., help="The config, by its name, such as multi_embed."),
    seed: int = Opt(
        0, "--seed", "-s", help="The seed of initial weights and training."
    ),
    variant: str = Opt("default", "--variant", help="A name for the config overrides."),
    gpu_id: int = GPU_ID,
    force: bool = FORCE,
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Train a pipeline, evaluate it, and record it.

    It is scored on seen and unseen entities, or on categories where the config has a
    text classifier. Further options change the config, as for `spacy train`. The
    results are one file, metrics/DATASET/EMBEDDER/VARIANT/seedSEED.json; a trial that
    is done is not run again.
    """
    from ..trials.run_trial import run_trial
    from ..trials.trial import Trial

    overrides = read_overrides(ctx.args)
    with failing("The trial failed", RuntimeError):
        trial = Trial(
            dataset=dataset,
            embedder=embedder,
            seed=seed,
            variant=variant,
            gpu_id=gpu_id,
            overrides=overrides,
        )
        metrics, is_new = run_trial(trial, force=force, on_output=typer.echo)
    give_results(metrics, trial, is_new=is_new, as_json=as_json)


def give_results(
    metrics: dict[str, Any], trial: "Trial", *, is_new: bool, as_json: bool
) -> None:
    """Print the results of a trial, also as JSON, and where they are."""
    from wasabi import msg

    give(metrics, partial(_summarize, title=trial.name), as_json=as_json)
    if is_new:
        msg.good(f"Saved results to {trial.metrics}")
    else:
        msg.info(f"Done before, nothing has changed: {trial.metrics}")


def _summarize(metrics: dict[str, Any], title: str) -> list["Part"]:
    """Say what a trial has scored, how fast and how large its pipeline is."""
    from spacy_hashembeds.display import Table
    from spacy_hashembeds.evaluation.categories import name_accuracy
    from spacy_hashembeds.evaluation.scorer import KINDS
    from spacy_hashembeds.evaluation.tasks import TEXTCAT

    from ..trials.metrics import get_task

    sizes, timings, splits = (metrics[key] for key in ("sizes", "timings", "scores"))
    legend = (
        f"Scores in percent. {timings['words_per_second']:,.0f} words/s, trained in "
        f"{timings['train_seconds']:,.0f} s, {sizes['bytes_on_disk'] / 1e6:.2f} MB on "
        f"disk, {_describe_size(sizes)}."
    )
    if get_task(metrics) == TEXTCAT:
        accuracy = name_accuracy(next(iter(splits.values()))).capitalize()
        scored = {"documents": "cats"}
        keys = {"acc": accuracy, "macro_f": "Macro F", "micro_f": "Micro F"}
    else:
        scored = {f"{kind} entities": prefix for kind, prefix in KINDS.items()}
        keys = {"p": "P", "r": "R", "f": "F"}
    rows = [
        (
            split,
            what,
            f"{scores[f'{prefix}_support']:,}",
            *(format_score(scores[f"{prefix}_{key}"]) for key in keys),
        )
        for split, scores in splits.items()
        for what, prefix in scored.items()
    ]
    header = ("Split", "Scored", "Number", *keys.values())
    return [Table(title, legend, header, rows, "ll")]


def _describe_size(sizes: dict[str, int]) -> str:
    if sizes["embedding_parameters"]:
        return f"{sizes['embedding_parameters']:,} parameters in the embedder"
    return f"{sizes['pipeline_parameters']:,} parameters"  # of a CRF
