"""`python -m lab importance`."""

from pathlib import Path
from typing import TYPE_CHECKING

from spacy.cli._util import Opt

from spacy_hashembeds.cli._app import failing
from spacy_hashembeds.cli._output import (
    JSON,
    QUIET,
    file_output,
    json_output,
    show_progress,
)

from ._app import MODEL, give, lab_cli

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spacy.language import Language
    from spacy.tokens import Doc


@lab_cli.command("importance")
def importance_cli(
    model: str = MODEL,
    texts: list[Path] = Opt(
        [],
        "--texts",
        help="Texts whose words to look at: a .spacy file or a folder of them, a "
        ".jsonl file, or a file of one text a line; - is standard input. May be given "
        "several times. Weights that are chosen by hashing need some.",
    ),
    attr: str | None = Opt(
        None, "--attr", help="The one token attribute to look at, e.g. NORM."
    ),
    top: int = Opt(10, "--top", help="How many rows of weights to list of either end."),
    min_count: int = Opt(
        1,
        "--min-count",
        help="Leave out rows of weights of which the texts have no value so often.",
    ),
    output: Path | None = json_output("the lists"),
    chart: Path | None = file_output("The PNG file to draw a chart to", "--chart"),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """List what a pipeline's importance weights make the most and the least of.

    For hash embeddings with importance weights, as MultiWeightedHashEmbed and
    HashNgramTextCat have them.
    """
    from wasabi import msg

    from lab.figures import check_chart
    from spacy_hashembeds.files import check_targets
    from spacy_hashembeds.loading import load_trained

    from ..importance.chart import draw_importance
    from ..importance.importance import list_importance
    from ..importance.summary import summarize

    with failing("Can't list importance"):
        check_targets([output, chart], [model, *texts])
        if chart is not None:
            # before texts are read
            check_chart(chart)
        nlp = load_trained(model)
        data = list_importance(
            nlp,
            _read(texts, nlp) if texts else None,
            attr=attr,
            top=top,
            min_count=min_count,
        )
        give(data, summarize, as_json=as_json, output=output)
        if chart is not None:
            draw_importance(data, chart)
            msg.good(f"Drew a chart to {chart}")


def _read(texts: list[Path], nlp: "Language") -> "Iterable[Doc]":
    from spacy_hashembeds.corpora.rawtexts import read_text_docs
    from spacy_hashembeds.systems import STANDARD_INPUT

    paths = [STANDARD_INPUT if str(path) == "-" else path for path in texts]
    return show_progress(read_text_docs(paths, nlp), "Reading", unit="texts")
