"""`spacy hashembeds trial`."""

import typer
from spacy.cli._util import Arg, NoSuchOption, Opt, parse_config_overrides

from ._app import describe, hashembeds_cli
from ._output import QUIET


@hashembeds_cli.command(
    "trial",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def trial_cli(
    ctx: typer.Context,
    dataset: str = Arg(..., help="Prepared corpus: the folder corpus/DATASET"),
    embedder: str = Arg(..., help="Config: its name, such as multi_embed"),
    seed: int = Opt(0, "--seed", "-s", help="Seed of initial weights and training"),
    variant: str = Opt("default", "--variant", help="Name for the config overrides"),
    gpu_id: int = Opt(-1, "--gpu-id", "-g", help="GPU ID or -1 for CPU"),
    quiet: bool = QUIET,
) -> None:
    """Train a pipeline, evaluate it on seen and unseen entities, and record it.

    Further options change the config, as for `spacy train`. The results are one file,
    metrics/DATASET/EMBEDDER/VARIANT/seedSEED.json; a trial that is done is not run
    again.
    """
    from wasabi import msg

    from ..experiments.run_trial import run_trial
    from ..experiments.trial import Trial

    try:
        overrides = parse_config_overrides(ctx.args)
    except NoSuchOption as e:  # of click, which typer does not catch: it has its own
        msg.fail(e.message, "Settings look like --training.dropout 0.2", exits=1)
    try:
        trial = Trial(
            dataset=dataset,
            embedder=embedder,
            seed=seed,
            variant=variant,
            gpu_id=gpu_id,
            overrides=overrides,
        )
        _, is_new = run_trial(trial, on_output=typer.echo)
    except (OSError, ValueError, RuntimeError) as e:
        notes = getattr(e, "__notes__", [])
        msg.fail("The trial failed", "\n".join([describe(e), *notes]), exits=1)
    if is_new:
        msg.good(f"Saved results to {trial.metrics}")
    else:
        msg.info(f"Done before, nothing has changed: {trial.metrics}")
