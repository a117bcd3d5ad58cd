"""`python -m lab rawtext`."""

from pathlib import Path

from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import failing
from spacy_hashembeds.cli._output import QUIET, file_output, show_progress

from ._app import lab_cli


@lab_cli.command("rawtext")
def rawtext_cli(
    folder: Path = Arg(
        ...,
        help="The folder of the raw files, e.g. assets/wnut17-raw.",
        file_okay=False,
    ),
    output: Path = file_output(
        "The text file to write, or a .spacy file for `spacy pretrain`", default=...
    ),
    held_out: list[Path] = Opt(
        [],
        "--held-out",
        help="A .spacy file, or a folder of them, whose texts are left out. May be "
        "given more than once.",
    ),
    added: list[Path] = Opt(
        [],
        "--add",
        help="A .spacy file, or a folder of them, whose tokens are added. May be given "
        "more than once.",
    ),
    quiet: bool = QUIET,
) -> None:
    """Tokenise the raw text behind WNUT 2017 as the corpus itself is, one text a line,
    to train word vectors or a tok2vec on.

    Nearly every sentence of the development and test data stands in that text: leave
    them out with --held-out, or scores on them say less than they seem to.
    """
    from wasabi import msg

    from spacy_hashembeds.files import check_targets

    from ..vectors.rawtext import write_raw_text

    with failing("Can't make the text"):
        check_targets([output], [folder, *held_out, *added])
        counts = write_raw_text(
            folder,
            output,
            held_out=held_out,
            added=added,
            progress=lambda lines, name: show_progress(
                lines, f"Tokenising {name}", unit="lines"
            ),
        )
    msg.info(f"Left out {counts.held_out:,} lines of held-out data")
    msg.good(f"Saved {counts.lines:,} lines of {counts.tokens:,} tokens to {output}")
