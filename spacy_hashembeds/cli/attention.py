"""`spacy hashembeds attention`."""

from pathlib import Path

from spacy.cli._util import Arg, Opt

from ._app import describe, hashembeds_cli
from ._output import JSON, QUIET, name_output, print_json


@hashembeds_cli.command("attention")
def attention_cli(
    model: str = Arg(..., help="The pipeline: a package name or a folder."),
    text: str = Arg(..., help="The text to look at; - is standard input."),
    output: Path | None = Opt(
        None,
        "--output",
        "-o",
        help="The file to write: heat maps as .html, all weights as .json; - is "
        "standard output, for JSON.",
        dir_okay=False,
        callback=name_output,
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

    from ..analysis.attention import list_attention
    from ..analysis.attention_files import SUFFIXES, write_attention
    from ..analysis.attention_summary import summarize
    from ..display import show
    from ..files import check_targets, choose_suffix
    from ..loading import load_trained

    try:
        check_targets([output], [model])
        if output is not None:
            choose_suffix(output, SUFFIXES)
        nlp = load_trained(model)
        data = list_attention(nlp, sys.stdin.read() if text == "-" else text)
        if as_json:
            print_json(data)
        else:
            show(summarize(data), msg)
        if output is not None:
            write_attention(data, output)
            msg.good(f"Saved the weights to {output}")
    except (OSError, ValueError, ImportError) as e:
        msg.fail("Can't show attention", describe(e), exits=1)
