"""`spacy hashembeds accelerate`, `evaluate` and `doctor`."""

from pathlib import Path
from typing import Any

import typer
from spacy.cli._util import Arg, Opt
from wasabi import msg

from . import _options as options
from ._app import failing, hashembeds_cli
from ._output import JSON, QUIET, is_quiet, name_output, print_json, show_progress


@hashembeds_cli.command("accelerate")
def accelerate_cli(
    model: str = options.MODEL,
    output: Path = options.folder_output("The new pipeline's folder."),
    text: Path | None = Opt(
        None, "--text", help="Texts to compare on: .spacy, .jsonl or one text a line."
    ),
    precision: str | None = Opt(
        None, "--precision", help="Precision: float32, bfloat16, int8 or auto."
    ),
    max_changed: float = Opt(
        *(0.5, "--max-changed"),
        help="Maximum percentage of changed annotation (for entities, ten times as "
        "much), and maximum loss of F1 in points.",
    ),
    blas: bool = Opt(True, "--blas/--no-blas", help="Choose the fastest BLAS."),
    force: bool = options.FORCE,
    code: Path | None = options.code_option("-c"),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Make a trained pipeline faster on CPU.

    spaCy's hash embeddings, window encoders, lemmatizers, rulers and tokenizer are
    replaced by ours. The new pipeline is saved only if both annotate texts equally, or
    with --precision nearly so. The original is not changed.
    """
    from dataclasses import asdict

    from spacy.vocab import Vocab

    from ...acceleration.accelerate import accelerate_folder
    from ...acceleration.doctor import PACKAGE, describe_missing_kernels
    from ...acceleration.folders import check_free
    from ...acceleration.timing import TITLES
    from ...training.docbin import read_docs
    from ...training.rawtexts import read_texts

    if missing := describe_missing_kernels():
        msg.warn(missing)
    with failing("Can't accelerate the pipeline"):
        check_free(output, force=force)
        texts = None
        if text is not None:
            is_corpus = text.suffix == ".spacy" or text.is_dir()
            texts = [*(read_docs(text, Vocab()) if is_corpus else read_texts(text))]
        msg.info(f"Converting {model}, and comparing both")
        done = accelerate_folder(
            model,
            output,
            texts,
            precision=precision,
            max_changed=max_changed,
            blas=blas,
            force=force,
            progress=lambda items, unit: show_progress(items, TITLES[unit], unit=unit),
        )
        if as_json:
            print_json(asdict(done))
        else:
            done.show(msg)
    what = "the pipeline" if done.converted else "a copy of the pipeline"
    needed = f"It needs {PACKAGE}, and the requirements of {model}."
    msg.good(f"Saved {what} to {output}", needed)
    msg.text(f"Load it by spacy.load({str(output)!r}).")


@hashembeds_cli.command("evaluate")
def evaluate_cli(
    ctx: typer.Context,
    model: str = Arg(
        ..., help="The pipeline (package name or folder), or a file of predictions."
    ),
    test: Path = Arg(
        ..., help="The gold corpus: a .spacy file, a folder of them, or an IOB file."
    ),
    train: Path | None = Opt(
        None, "--train", "-t", help="The training corpus, to mark seen entities."
    ),
    against: str | None = Opt(
        None, "--against", "-a", help="A pipeline or file to compare with."
    ),
    task: str | None = Opt(None, help="What to score: 'ner' or 'textcat'."),
    join: int | None = Opt(
        None, help="Also score entities in texts of N sentences; 0 for none.", min=0
    ),
    full: bool = Opt(False, "--full", help="Print all tables, instead of a summary."),
    output: list[Path] = Opt(
        [],
        "--output",
        "-o",
        help="The file to write: all data as .json, a page with errors as .html, "
        "tables as .md; - is standard output. May be given several times.",
        dir_okay=False,
        callback=name_output,
    ),
    samples: int = Opt(5000, "--samples", "-n", help="Draws for intervals.", min=1),
    seed: int = Opt(0, "--seed", "-s", help="The seed of the draws.", min=0),
    separator: str | None = options.SEPARATOR,
    word_column: str = options.WORD_COLUMN,
    tag_column: str = options.TAG_COLUMN,
    predicted_column: str | None = Opt(
        None, help="The column of predicted tags. Default: --tag-column."
    ),
    sentence_column: str | None = options.SENTENCE_COLUMN,
    feature: list[str] = options.FEATURE,
    encoding: str = options.ENCODING,
    quotes: bool | None = options.QUOTES,
    group: str = options.GROUP,
    force: bool = options.FORCE,
    code: Path | None = options.code_option("-c"),
    use_gpu: int = Opt(-1, "--gpu-id", "-g", help="GPU ID or -1 for CPU."),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Score the entities or the categories that a pipeline sets.

    With --train, entities whose text is an entity in training (seen) and others
    (unseen) are also scored separately. Intervals exclude the variation between
    training seeds. Files other than .spacy have one token a line, with tags of the
    IOB, BIO, BILUO, BIOES or BMES scheme.
    """
    from dataclasses import replace

    from thinc.api import require_gpu

    from ...files import check_targets, choose_suffix
    from ..display import show
    from ..evaluate.evaluate import SUFFIXES, evaluate
    from ..evaluate.sources import make_source

    with failing("Can't evaluate the pipeline", TypeError):
        check_targets(output, [model, test, train, against], force=force)
        for path in output:
            choose_suffix(path, SUFFIXES)
        layout = predicted = options.make_layout(ctx.params)
        if predicted_column:
            tag = options.read_column(predicted_column)
            predicted = replace(layout, tag=tag)
        if use_gpu >= 0:
            require_gpu(use_gpu)
        # both pipelines are loaded before either runs
        evaluation = evaluate(
            make_source(model, "nlp", predicted),
            make_source(test, "examples", layout),
            train=train and make_source(train, "train", layout),
            against=against and make_source(against, "against", predicted),
            task=task,
            join=join,
            samples=samples,
            seed=seed,
            show_progress=not is_quiet(),
        )
        for path in output:
            evaluation.write(path)
        if as_json:
            print_json(dict(evaluation))
        else:
            show(evaluation.get_parts(full=full), msg)
        for warning in evaluation["warnings"]:
            msg.warn(warning)
        for path in output:
            msg.good(f"Saved the evaluation to {path}")


@hashembeds_cli.command("doctor")
def doctor_cli(as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """Check the installation, and measure this machine.

    The report lists possible speed-ups. The exit status is 1 if something is broken: an
    unsupported version, an entry point that does not load, or an unusable CuPy.
    """
    with failing("Can't load the package"):  # environment variables may be invalid
        from ...acceleration.doctor import examine
    health = examine()
    if as_json:
        print_json(health)
    else:
        _show_health(health)
    if health["problems"]:
        raise typer.Exit(1)


def _show_health(health: dict[str, Any]) -> None:
    from ...acceleration.blas import SHAPES
    from ..display import Message, Table, show

    versions = [(name, *of) for name, of in health["versions"].items()]
    speeds = health["speeds"].items()
    products = ("GFLOP/s", *("x".join(map(str, shape)) for shape in SHAPES))
    rows = [(name, *(f"{x:,.0f}" for x in row)) for name, row in speeds]
    show(
        [
            Table(None, None, ("Package", "Installed", "Required"), versions, "lll"),
            Table(None, None, ("Machine", ""), [*health["machine"].items()], "ll"),
            Table(None, None, ("BLAS", "Version", "Kernels"), health["blas"], "lll"),
            Table("Matrix products: rows x inputs x outputs", None, products, rows),
            *(Message(text, "info") for text in health["advice"]),
        ],
        msg,
    )
    for text in health["problems"]:
        msg.fail(text)
    if not health["problems"]:
        rest = ", and no faster setting is known"
        msg.good(f"Nothing is broken{'' if health['advice'] else rest}")
