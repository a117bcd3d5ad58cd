"""`python -m lab attention`."""

from pathlib import Path

from spacy.cli._util import Arg

from spacy_hashembeds.cli._app import failing
from spacy_hashembeds.cli._output import JSON, QUIET, file_output

from ._app import MODEL, give, lab_cli


@lab_cli.command("attention")
def attention_cli(
    model: str = MODEL,
    text: str = Arg(..., help="The text to look at; - is standard input."),
    output: Path | None = file_output(
        "The file to write: heat maps as .html, or all weights as .json"
    ),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Show what a pipeline attends to in a text.

    For pipelines with an AttBiLSTMEncoder: how much each of its heads takes of which
    token, for each token.
    """
    import sys

    from wasabi import msg

    from spacy_hashembeds.files import check_targets, choose_suffix
    from spacy_hashembeds.loading import load_trained

    from ..attention.attention import (
        SUFFIXES,
        list_attention,
        summarize,
        write_attention,
    )

    with failing("Can't show attention"):
        check_targets([output], [model])
        if output is not None:
            choose_suffix(output, SUFFIXES)
        nlp = load_trained(model)
        data = list_attention(nlp, sys.stdin.read() if text == "-" else text)
        give(data, summarize, as_json=as_json)
        if output is not None:
            write_attention(data, output)
            msg.good(f"Saved the weights to {output}")
