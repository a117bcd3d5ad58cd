"""`spacy hashembeds config`."""

from functools import partial
from pathlib import Path

from spacy.cli._util import Arg, Opt

from ..architectures.embedders.descriptions import list_names
from ._app import failing, hashembeds_cli
from ._output import QUIET, file_output, show_progress


@hashembeds_cli.command("config")
def config_cli(
    base: str = Arg(
        ...,
        help="Config to start from: a .cfg file, or the folder or package of a saved "
        "pipeline; - is standard input.",
    ),
    output: Path = file_output("Config to write", default=...),
    embedder: str = Opt(
        "multi_fewer_hash_embed",
        "--embedder",
        "-e",
        help=f"Embedder to put in: {', '.join(list_names())}.",
    ),
    train: Path | None = Opt(
        None, "--train", "-t", help="Training corpus (.spacy) to choose settings by."
    ),
    encoder: bool = Opt(
        True, "--encoder/--no-encoder", help="Put in our MaxoutWindowEncoder, too."
    ),
    blas: bool = Opt(
        True, "--blas/--no-blas", help="Have the pipeline choose the fastest BLAS."
    ),
    scorer: bool = Opt(
        False, "--scorer", help="Score entities seen and unseen in training apart."
    ),
    force: bool = Opt(False, "--force", "-F", help="Replace the file that is there."),
    quiet: bool = QUIET,
) -> None:
    """Put a compact embedder, and what belongs to it, into any config.

    The new config is the old one but for what is named, each with a comment that says
    why. With --train, attributes, hashes, min_freq and a lower limit for rows are those
    that `spacy hashembeds analyze` advises.
    """
    import typer
    from wasabi import msg

    from ..configuration.configure import configure
    from ..configuration.output import check_output, list_commands
    from ..files import replacing

    with failing("Can't write the config"):
        base = "/dev/stdin" if base == "-" else base
        check_output(output, base=base, train=train, force=force)
        made = configure(
            base,
            embedder=embedder,
            train=train,
            encoder=encoder,
            blas=blas,
            scorer=scorer,
            progress=partial(show_progress, title="Reading train", unit="docs"),
        )
        with replacing(output) as temporary:
            temporary.write_text(made.text, encoding="utf8")
    for warning in made.warnings:
        msg.warn(warning)
    for change in made.changes:
        msg.info(f"{change.place}: {change.why}")
    if not made.changes:
        msg.info("There was nothing to change.")
    if made.base.is_pipeline:
        msg.info(
            f"Training starts anew: the weights in {made.base.path.parent} are not "
            "taken."
        )
    msg.good(f"Saved the config to {output}", "Train with it, and see how it does:")
    # on a line each, however long, to be pasted
    for command in list_commands(made, output, train):
        typer.echo(command)
