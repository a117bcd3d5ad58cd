"""`spacy hashembeds accelerate`."""

from pathlib import Path
from typing import TYPE_CHECKING

from spacy.cli._util import Arg, Opt

from ._app import describe, hashembeds_cli

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from ..acceleration.result import Acceleration


@hashembeds_cli.command("accelerate")
def accelerate_cli(
    model: str = Arg(..., help="Pipeline: package name or folder"),
    output: Path = Arg(..., help="Folder to save the new pipeline to", file_okay=False),
    text: Path | None = Opt(
        None,
        "--text",
        "-t",
        help="What to check and time it on: a .spacy file, or a file of one text a "
        "line. Default: texts that are made up",
    ),
    blas: bool = Opt(
        True, "--blas/--no-blas", help="Choose the fastest BLAS when it is loaded"
    ),
    force: bool = Opt(
        False, "--force", "-F", help="Replace the pipeline that is in the folder"
    ),
) -> None:
    """Make a trained pipeline faster on CPU, with the same predictions.

    spacy.MultiHashEmbed and spacy.HashEmbedCNN are replaced by our layers, with
    their weights. The new pipeline is saved only if it annotates all texts as the old
    one does. The old one is not changed.
    """
    from wasabi import msg

    from ..acceleration.accelerate import accelerate_folder

    try:
        texts = None if text is None else _read_texts(text)
        done = accelerate_folder(model, output, texts, blas=blas, force=force)
    except (ImportError, OSError, ValueError) as e:
        msg.fail("Can't accelerate the pipeline", describe(e), exits=1)
    _print_report(done)
    msg.good(
        f"Saved the pipeline to {output}",
        "spacy-hashembeds must be installed wherever it is loaded.",
    )


def _read_texts(path: Path) -> "list[str] | list[Doc]":
    from spacy.vocab import Vocab

    from ..corpora.docbin import read_docs

    if path.suffix == ".spacy" or path.is_dir():
        return list(read_docs(path, Vocab()))
    if not path.exists():
        raise FileNotFoundError(
            f"There is no file '{path}' to take texts from. Name a .spacy file or a "
            "file of one text a line, or leave out --text."
        )
    return path.read_text(encoding="utf8").splitlines()


def _print_report(done: "Acceleration") -> None:
    from wasabi import msg

    from ..acceleration.parity import TOLERANCE

    for place in done.converted:
        msg.info(f"Converted {place}")
    for place, reason in done.left.items():
        msg.warn(f"Left {place} as it is: {reason}")
    for name in done.unchecked:
        msg.warn(
            f"Converted '{name}' without comparing its vectors: it was never "
            "initialised, and has no weights"
        )
    msg.good(
        f"Same predictions on {done.texts:,} texts ({done.tokens:,} tokens)",
        f"Largest difference between vectors: {done.max_relative_diff:.3g} of the "
        f"largest number (up to {TOLERANCE:g} may be rounding)",
    )
    before, after = (done.words_per_second[name] for name in ("before", "after"))
    rows = [("Before", f"{before:,.0f}"), ("After", f"{after:,.0f}")]
    rows.append(("Ratio", f"{after / before:.2f}"))
    msg.table(rows, header=("", "Words/s"), aligns=("l", "r"), divider=True)
