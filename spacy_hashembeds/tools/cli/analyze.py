"""`spacy hashembeds analyze`."""

from pathlib import Path

import typer
from spacy.cli._util import Arg, Opt
from wasabi import msg

from ._app import TAKE_OVERRIDES, code_option, failing, hashembeds_cli, read_overrides
from ._output import JSON, QUIET, json_output, print_json, show_progress


@hashembeds_cli.command("analyze", context_settings=TAKE_OVERRIDES)
def analyze_cli(
    ctx: typer.Context,
    train: Path = Arg(
        ..., help="The training corpus: a .spacy file or a folder of them."
    ),
    dev: Path | None = Opt(None, "--dev", help="The development corpus."),
    test: Path | None = Opt(None, "--test", help="The test corpus."),
    config: Path | None = Opt(
        None, "--config", "-c", help="The config whose embedding tables to measure."
    ),
    model: str | None = Opt(
        None, "--model", "-m", help="The trained pipeline: a package name or a folder."
    ),
    vectors: str | None = Opt(
        None, "--vectors", "-v", help="A pipeline with vectors, to count unknown words."
    ),
    text: Path | None = Opt(
        None,
        "--text",
        help="Texts as they are to be served, whose lengths to compare with those of "
        "training: a text a line, .jsonl or .spacy.",
    ),
    bound: float = Opt(
        0.001,
        "--bound",
        help="How many of an attribute's values may collide within the lower limit for "
        "hash tables, as a share of them.",
    ),
    code: Path | None = code_option(),
    output: Path | None = json_output("everything"),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Analyse a corpus before training: what it holds, how the tables of a config or
    of a trained pipeline would serve it, and what to set instead.

    Further options change the config, as for `spacy train`. `--nlp.lang de` says whose
    norms to count without a config too.
    """
    from ...files import check_targets, write_json
    from ..analyze.analyze import analyze
    from ..display import show

    overrides = read_overrides(ctx.args)
    with failing("Can't analyse the corpus"):
        check_targets([output], [train, dev, test, config, model, vectors, text])
        data = analyze(
            train,
            dev=dev,
            test=test,
            config=config,
            model=model,
            vectors=vectors,
            text=text,
            overrides=overrides,
            bound=bound,
            progress=lambda docs, split: show_progress(
                docs, f"Reading {split}", unit="docs"
            ),
        )
        if as_json:
            print_json(data)
        else:
            show(data.get_parts(), msg)
        if output is not None:
            write_json(output, data)
            msg.good(f"Saved the analysis to {output}")
