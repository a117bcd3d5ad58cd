"""`spacy hashembeds accelerate`."""

from pathlib import Path
from typing import TYPE_CHECKING

from spacy.cli._util import Arg, Opt
from wasabi import msg

from ._app import code_option, failing, hashembeds_cli
from ._output import JSON, QUIET, print_json, show_progress

if TYPE_CHECKING:
    from spacy.tokens import Doc


@hashembeds_cli.command("accelerate")
def accelerate_cli(
    model: str = Arg(..., help="The pipeline: a package name or a folder."),
    output: Path = Opt(
        ..., "--output", "-o", help="The new pipeline's folder.", file_okay=False
    ),
    text: Path | None = Opt(
        None,
        "--text",
        help="What to check and time it on: a .spacy file or a folder of them, a "
        ".jsonl file with a 'text' in each object, or a file of one text a line. By "
        "default texts are made up.",
    ),
    precision: str | None = Opt(
        None,
        "--precision",
        help="What products are computed of: float32, bfloat16 or int8, of which the "
        "last two are faster where the processor has them, and change predictions; or "
        "auto, for each component the fastest that changes no more than may be "
        "changed. By default it stays as it is.",
    ),
    max_changed: float = Opt(
        0.5,
        "--max-changed",
        help="The most percent of each kind of annotation that they may change, ten "
        "times that of entities, and the most points by which F1 may fall.",
    ),
    blas: bool = Opt(
        True, "--blas/--no-blas", help="Choose the fastest BLAS when it is loaded."
    ),
    force: bool = Opt(
        False, "--force", "-F", help="Replace the pipeline that is in the folder."
    ),
    code: Path | None = code_option("-c"),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Make a trained pipeline faster on CPU, with the same predictions, or nearly.

    spaCy's hash embeddings, window encoders, lemmatizers, rulers and tokenizer are
    replaced by ours, with their weights and tables. The new pipeline is saved only if
    it annotates all texts as the old one does, or with --precision nearly all. The old
    one is not changed.
    """
    from dataclasses import asdict

    from ...acceleration.accelerate import accelerate_folder
    from ...acceleration.folders import check_free
    from ...acceleration.installation import describe_missing_kernels
    from ...acceleration.timing import TITLES

    if missing := describe_missing_kernels():  # which `pip install` does not say
        msg.warn(missing)
    with failing("Can't accelerate the pipeline"):
        check_free(output, force=force)
        msg.info(f"Loading {model}, converting it, and comparing both")
        done = accelerate_folder(
            model,
            output,
            None if text is None else _read_texts(text),
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
    msg.good(f"Saved {what} to {output}", _say_what_it_needs(output, code))
    msg.text(f"Load it by spacy.load({str(output)!r}).")


def _read_texts(path: Path) -> "list[str] | list[Doc]":
    from spacy.vocab import Vocab

    from ...training.docbin import read_docs
    from ...training.rawtexts import read_texts

    if path.suffix == ".spacy" or path.is_dir():
        docs = list(read_docs(path, Vocab()))
        msg.info(f"Read {len(docs):,} Docs of {path}")
        return docs
    texts = list(read_texts(path))
    msg.info(f"Read {len(texts):,} texts of {path}, one a line")
    return texts


def _say_what_it_needs(folder: Path, code: Path | None) -> str:
    """Describe what must be there to load a pipeline: packages that it names, or that
    its functions are of, and code that it was loaded with.
    """
    import srsly
    from spacy.cli.package import get_third_party_dependencies
    from spacy.util import split_requirement

    from ...acceleration.installation import PACKAGE
    from ...loading import load_config

    needs = srsly.read_json(folder / "meta.json").get("requirements") or []
    named = [split_requirement(need)[0] for need in needs]
    needs = [n for n, name in zip(needs, named, strict=True) if name != "spacy"]
    config = load_config(folder / "config.cfg").interpolate()
    needs += sorted(get_third_party_dependencies(config, exclude=[PACKAGE, *named]))
    if PACKAGE not in named:
        needs.insert(0, PACKAGE)
    imported = f", and {code} imported (--code)" if code else ""
    return f"Wherever it is loaded, have {', '.join(needs)} installed{imported}."
