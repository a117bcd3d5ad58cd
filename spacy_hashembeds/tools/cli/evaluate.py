"""`spacy hashembeds evaluate`."""

from pathlib import Path

from spacy.cli._util import Arg, Opt
from wasabi import msg

from . import _columns
from ._app import code_option, failing, hashembeds_cli
from ._output import JSON, QUIET, is_quiet, name_output, print_json


@hashembeds_cli.command("evaluate")
def evaluate_cli(
    model: str = Arg(
        ...,
        help="A pipeline (package name or folder), or a file with its predictions.",
    ),
    test: Path = Arg(
        ..., help="The gold corpus: a .spacy file, a folder of them, or an IOB file."
    ),
    train: Path | None = Opt(
        None,
        "--train",
        "-t",
        help="The corpus that the pipeline was trained on, by which entities are seen.",
    ),
    against: str | None = Opt(
        None, "--against", "-a", help="A second pipeline, or file, to compare with."
    ),
    task: str | None = Opt(
        None,
        "--task",
        help="What to score, 'ner' or 'textcat'. Default: what the pipeline's "
        "components set, or without a pipeline, what the gold corpus has.",
    ),
    join: int | None = Opt(
        None,
        "--join",
        help="Score entities on texts of so many sentences too. Default: 10 where the "
        "gold corpus has single sentences; 0: none.",
        min=0,
    ),
    full: bool = Opt(False, "--full", help="Print all tables, instead of a summary."),
    output: list[Path] = Opt(
        [],
        "--output",
        "-o",
        metavar="<path>",
        help="A file to write: everything as .json, the page with the errors as .html, "
        "the tables as .md. - is standard output, for JSON. May be given several "
        "times.",
        dir_okay=False,
        callback=name_output,
    ),
    samples: int = Opt(
        5000,
        "--samples",
        "-n",
        help="Draws for intervals and significance, up to 100,000.",
        min=1,
    ),
    seed: int = Opt(0, "--seed", "-s", help="The seed of these draws.", min=0),
    separator: str | None = _columns.SEPARATOR,
    word_column: str = _columns.WORD_COLUMN,
    tag_column: str = _columns.TAG_COLUMN,
    predicted_column: str | None = Opt(
        None, "--predicted-column", help="The column of predicted tags, if another."
    ),
    sentence_column: str | None = _columns.SENTENCE_COLUMN,
    encoding: str = _columns.ENCODING,
    quotes: bool | None = _columns.QUOTES,
    group: str = _columns.GROUP,
    code: Path | None = code_option("-c"),
    use_gpu: int = Opt(-1, "--gpu-id", "-g", help="GPU ID or -1 for CPU."),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Score a pipeline's entities, or the categories of its text classifier.

    With --train entities are scored apart for texts seen and unseen in training: those
    that stand, as an entity, in the training corpus, and others. Intervals are drawn
    over documents, for the pipeline as it is: they don't say what another training
    seed would give.

    Corpora and predictions are .spacy files; any other file is an IOB file, with one
    token a line and tags of the IOB, BIO, BILUO, BIOES or BMES scheme.
    """
    from ...files import check_targets, choose_suffix
    from ..display import Sentence, show
    from ..evaluate.evaluate import SUFFIXES, evaluate_in_depth

    with failing("Can't evaluate the pipeline"):
        check_targets(output, [model, test, train, against])
        for path in output:
            choose_suffix(path, SUFFIXES)
        layout = _columns.make_layout(
            separator=separator,
            word=word_column,
            tag=tag_column,
            sentence=sentence_column,
            encoding=encoding,
            group=group,
            quotes=quotes,
        )
        evaluation = evaluate_in_depth(
            model,
            test,
            train,
            against=against,
            task=task,
            join=join,
            layout=layout,
            predicted_column=predicted_column
            and _columns.read_column(predicted_column),
            samples=samples,
            seed=seed,
            use_gpu=use_gpu,
            show_progress=not is_quiet(),
        )
        if as_json:
            print_json(dict(evaluation))
        else:
            show(evaluation.get_parts(full=full), msg)
        show([Sentence(text, "warn") for text in evaluation["warnings"]], msg)
        for path in output:
            evaluation.write(path)
            msg.good(f"Saved the evaluation to {path}")
