"""`spacy hashembeds config` and `analyze`."""

from functools import partial
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import typer
from spacy.cli._util import Arg, Opt
from wasabi import msg

from ...architectures.descriptions import list_names
from . import _options as options
from ._app import TAKE_OVERRIDES, failing, hashembeds_cli, read_overrides
from ._output import (
    JSON,
    QUIET,
    file_output,
    json_output,
    print_json,
    show_progress,
    show_split,
)

if TYPE_CHECKING:
    from ..config.edits import Edits


@hashembeds_cli.command("config")
def config_cli(
    base: str = Arg(
        ..., help="A .cfg file to start from, or a saved pipeline; - is standard input."
    ),
    output: Path | None = file_output("Config to write, none by default"),
    embedder: str | None = Opt(
        *(None, "--embedder", "-e"),
        help=f"Insert only this embedder: {', '.join(list_names())}.",
    ),
    train: Path | None = Opt(
        None, "--train", "-t", help="Training corpus (.spacy) for choosing settings."
    ),
    raw: Path | None = Opt(
        None, "--raw", "-r", help="Texts to pretrain on: .txt, .jsonl or .spacy."
    ),
    vectors: str | None = Opt(
        None, "--vectors", "-v", help="Word vectors to mix in: a folder or package."
    ),
    depth: int | None = Opt(
        None, help="Layers of window encoders. Default: 8 if only entities are learned."
    ),
    features: list[str] = Opt(
        [], "--feature", help="Feature to embed: _.is_bold or spans.names. Repeatable."
    ),
    scorer: bool = Opt(False, "--scorer", help="Score unseen entities separately."),
    code: Path | None = options.code_option("-c"),
    force: bool = options.FORCE,
    quiet: bool = QUIET,
) -> None:
    """Insert a compact embedder and related settings into a config.

    Without --embedder, all recommended settings are inserted. Comments explain each
    change, and are printed. With --train, attributes, hashes, min_freq and a lower
    limit for rows follow the advice of `spacy hashembeds analyze`; with --raw,
    pretraining is added.
    """
    from ...files import STANDARD_INPUT, check_targets, is_pipeline
    from ..config.configure import configure
    from ..config.edits import list_outputs
    from ..display import show_controls

    with failing("Can't write the config", TypeError):
        outputs = [] if output is None else list_outputs(output, raw)
        check_targets(outputs, (train, raw, vectors), force=force)
        made = configure(
            str(STANDARD_INPUT) if base == "-" else base,
            embedder=embedder,
            train=train,
            raw=raw,
            output=output or "config.cfg",
            vectors=vectors,
            features=features,
            depth=depth,
            scorer=scorer,
            progress=partial(show_progress, title="Reading", unit="docs"),
        )
        if output is not None:
            made.save(output)
    for warning in made.warnings:
        msg.warn(warning)
    for change in made.changes:
        msg.info(f"{change.place}: {change.why}")
    if not made.changes:
        msg.info("There was nothing to change.")
    if is_pipeline(folder := made.base.parent):
        msg.info(f"Training starts anew. To keep a component, source it from {folder}.")
    if output is not None:
        msg.good(f"Saved the config to {output}", "Train and evaluate:")
        for command in _list_commands(made, output, train=train, raw=raw):
            words = ["spacy", *command, *(["--code", code] if code else [])]
            typer.echo(show_controls(join(map(str, words))))


def _list_commands(
    made: "Edits", output: Path, *, train: Path | None, raw: Path | None
) -> list[list[Any]]:
    """List commands to pretrain, train and evaluate. Unknown paths are in capitals."""
    from ...files import find_descriptor
    from ..config import presets
    from ..config.configure import find_beside
    from ..config.pretraining import name_weights

    paths, initialize = made.plain["paths"], made.plain["initialize"]
    corpus = str(train or paths["train"] or "TRAIN.spacy")
    splits = ("dev", "test")
    dev, test = (find_beside(corpus, s) or f"{s.upper()}.spacy" for s in splits)
    name = "config.cfg" if find_descriptor(output) is not None else str(output)
    folder = Path("training", Path(name).stem)
    evaluation = ["evaluate", folder / "model-best", test]
    if made.find_components(*presets.RECOGNIZERS, is_any=True):
        evaluation = ["hashembeds", *evaluation, "--train", corpus]
    elif made.find_components(*presets.CLASSIFIERS, is_any=True):
        evaluation.insert(0, "hashembeds")
    training = ["train", name, "--output", folder, "--paths.train", corpus]
    commands = [[*training, "--paths.dev", paths["dev"] or dev], evaluation]
    if raw is not None:
        counted = ["--paths.train", corpus] if initialize["before_init"] else []
        commands.insert(0, ["pretrain", name, name_weights(name).parent, *counted])
    return commands


@hashembeds_cli.command("analyze", context_settings=TAKE_OVERRIDES)
def analyze_cli(
    ctx: typer.Context,
    train: Path = Arg(..., help="The training corpus: .spacy, or a folder of them."),
    dev: Path | None = Opt(None, help="The development corpus."),
    test: Path | None = Opt(None, help="The test corpus."),
    config: Path | None = Opt(
        None, "--config", "-c", help="The config whose embedding tables are measured."
    ),
    model: str | None = Opt(
        None, "--model", "-m", help="The trained pipeline: a package name or a folder."
    ),
    bound: float = Opt(
        0.001, help="Maximum share of colliding values, for the lower limit of rows."
    ),
    code: Path | None = options.code_option(),
    output: Path | None = json_output("all data"),
    force: bool = options.FORCE,
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Analyze a corpus before training, and advise on settings.

    Further options change settings of the config, as for `spacy train`. Without a
    config, `--nlp.lang de` selects the language of norms.
    """
    from ...files import check_targets, write_json
    from ..analyze.analyze import analyze, make_parts
    from ..display import show

    overrides = read_overrides(ctx.args)
    with failing("Can't analyze the corpus"):
        check_targets([output], [train, dev, test, config, model], force=force)
        data = analyze(
            train,
            dev=dev,
            test=test,
            config=config,
            model=model,
            bound=bound,
            overrides=overrides,
            progress=partial(show_split, "Reading"),
        )
        if output is not None:
            write_json(output, data)
        if as_json:
            print_json(data)
        else:
            show(make_parts(data), msg)
        if output is not None:
            msg.good(f"Saved the analysis to {output}")
