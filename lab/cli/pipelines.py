"""`python -m lab importance`, `attention` and `ablation`."""

import sys
from pathlib import Path

from spacy.cli._util import Arg, Opt
from wasabi import msg

from spacy_hashembeds.files import STANDARD_INPUT, check_targets
from spacy_hashembeds.loading import load_trained
from spacy_hashembeds.tools.cli._app import failing
from spacy_hashembeds.tools.cli._output import (
    JSON,
    QUIET,
    is_quiet,
    json_output,
    show_progress,
)
from spacy_hashembeds.training.rawtexts import read_text_docs

from .. import importance
from ..attention import ablation, weights
from ._app import emit, lab_cli

MODEL = Arg(..., help="The pipeline: a package name or a folder.")


@lab_cli.command("importance")
def importance_cli(
    model: str = MODEL,
    texts: list[Path] = Opt(
        [],
        help="Texts whose values to list: a .spacy file or a folder of them, a .jsonl "
        "file, or a file of one text a line; - is standard input. Required if weights "
        "are chosen by hashing.",
    ),
    attr: str | None = Opt(None, help="The only token attribute to list, e.g. NORM."),
    top: int = Opt(10, help="The number of largest, and of smallest, rows.", min=1),
    output: Path | None = json_output("the lists"),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """List the values with the largest and smallest importance weights.

    MultiWeightedHashEmbed and HashNgramTextCat have such weights.
    """
    with failing("Can't list importance"):
        check_targets([output], [model, *texts])
        nlp = load_trained(model)
        paths = [STANDARD_INPUT if str(path) == "-" else path for path in texts]
        docs = show_progress(read_text_docs(paths, nlp), "Reading", unit="texts")
        data = importance.list_importance(
            nlp, docs if texts else None, attr=attr, top=top
        )
        emit(data, importance.summarize, as_json=as_json, output=output)


@lab_cli.command("attention")
def attention_cli(
    model: str = MODEL,
    text: str = Arg(..., help="The text; - is standard input."),
    output: Path | None = json_output("all weights"),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Show the attention weights of a pipeline with an AttBiLSTMEncoder in a text.

    For each token and head, show the token with the largest weight.
    """
    with failing("Can't show attention"):
        check_targets([output], [model])
        nlp = load_trained(model)
        data = weights.list_attention(nlp, sys.stdin.read() if text == "-" else text)
        emit(data, weights.summarize, as_json=as_json, output=output)


@lab_cli.command("ablation")
def ablation_cli(
    model: str = MODEL,
    corpus: Path = Arg(..., help="The gold corpus, such as dev.spacy."),
    against: str | None = Opt(
        None, "--against", "-a", help="A second pipeline, to compare with."
    ),
    output: Path | None = json_output("the comparison"),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Score chunk tags with each part of a pipeline's BiLSTM encoder alone."""
    with failing("Can't compare the parts"):
        check_targets([output], [model, corpus, against])
        other = None if against is None else load_trained(against)
        data = ablation.ablate(
            load_trained(model), corpus, other, show_progress=not is_quiet()
        )
        for warning in data["warnings"]:
            msg.warn(warning)
        emit(data, ablation.summarize, as_json=as_json, output=output)
