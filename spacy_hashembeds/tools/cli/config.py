"""`spacy hashembeds config`."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spacy.cli._util import Arg, Opt
from wasabi import msg

from ...architectures.descriptions import list_names
from ._app import code_option, failing, hashembeds_cli
from ._output import QUIET, file_output, show_commands, show_progress

if TYPE_CHECKING:  # what takes long to import
    from ..config.edits import Edits


@hashembeds_cli.command("config")
def config_cli(
    base: str = Arg(
        ...,
        help="Config to start from: a .cfg file, or the folder or package of a saved "
        "pipeline; - is standard input.",
    ),
    output: Path = file_output("Config to write", default=...),
    embedder: str | None = Opt(
        None,
        "--embedder",
        "-e",
        help="Embedder to put in, and nothing else that is recommended: "
        f"{', '.join(list_names())}.",
    ),
    train: Path | None = Opt(
        None, "--train", "-t", help="Training corpus (.spacy) to choose settings by."
    ),
    raw: Path | None = Opt(
        None,
        "--raw",
        "-r",
        help="Texts to pretrain on: .txt (one a line), .jsonl, .spacy.",
    ),
    vectors: str | None = Opt(
        None, "--vectors", "-v", help="Word vectors to mix in: a folder or package."
    ),
    encoder: bool = Opt(
        True, "--encoder/--no-encoder", help="Put in our MaxoutWindowEncoder, too."
    ),
    blas: bool = Opt(
        True, "--blas/--no-blas", help="Have the pipeline choose the fastest BLAS."
    ),
    scorer: bool = Opt(
        False, "--scorer", help="Score entities seen and unseen in training apart."
    ),
    why: bool = Opt(
        False,
        "--why",
        help="Say why of each change, as comments in the config do.",
    ),
    code: Path | None = code_option("-c"),
    force: bool = Opt(False, "--force", "-F", help="Replace the file that is there."),
    quiet: bool = QUIET,
) -> None:
    """Put a compact embedder, and what belongs to it, into any config.

    Without --embedder that is the pipeline that is recommended, and comments say
    what each change is. The new config is the old one but for what is named.
    With --train, attributes, hashes, min_freq and a lower limit for rows are those that
    `spacy hashembeds analyze` advises; with --raw the pipeline is pretrained first.
    """
    from ...architectures.symbols import save_symbols
    from ...files import STANDARD_INPUT, check_targets, find_descriptor, replacing
    from ..config.base_config import check_output
    from ..config.configure import configure
    from ..config.next_steps import list_commands
    from ..config.pretraining import name_symbols

    with failing("Can't write the config"):
        base = str(STANDARD_INPUT) if base == "-" else base
        outputs, inputs = [output], (train, raw, vectors)
        if raw is not None:
            if find_descriptor(output) is not None:
                raise ValueError(
                    "With --raw the symbols of the texts are saved beside the config, "
                    "which needs a name then (--output)."
                )
            outputs.append(name_symbols(output))
            check_targets(outputs)
        for path in outputs:
            check_output(path, base=base, inputs=inputs, force=force)
        made = configure(
            base,
            embedder=embedder,
            train=train,
            raw=raw,
            output=output,
            vectors=vectors,
            encoder=encoder,
            blas=blas,
            scorer=scorer,
            progress=partial(show_progress, title="Reading", unit="docs"),
        )
        with replacing(output) as temporary:
            temporary.write_text(made.text, encoding="utf8")
            if made.symbols is not None:
                save_symbols(name_symbols(output), made.symbols)
    _say_what_changed(made, why=why)
    saved = f"Saved the config to {output}: comments say why"
    msg.good(saved, "Train with it, and see how it does:")
    show_commands(*list_commands(made, output, train=train, raw=raw, code=code))


def _say_what_changed(made: "Edits", *, why: bool) -> None:
    from ..config.base_config import is_pipeline

    for warning in made.warnings:
        msg.warn(warning)
    for note in made.notes:
        msg.info(note)
    for change in made.changes:
        whole = f"{change.place}: {change.why}"
        msg.info(whole if why else change.describe(made.config))
    if not made.changes:
        msg.info("There was nothing to change.")
    if is_pipeline(made.base.parent):
        folder = made.base.parent
        msg.info(f"Training starts anew: the weights in {folder} are not taken.")
