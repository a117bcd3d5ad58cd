"""Loading trained pipelines, with errors that say more than spaCy's."""

from pathlib import Path

from confection import ConfigValidationError
from spacy.language import Language
from spacy.util import load_model


def load_trained(model: str | Path) -> Language:
    """Load a trained pipeline, and say more than spaCy does of what is none.

    model (str | Path): The pipeline, name or folder.
    RAISES (OSError): If there is no such pipeline.
    RAISES (ValueError): If it is a file, a folder that has pipelines in it, or a
        pipeline whose weights are those of other layers than its config names.
    """
    path = Path(model)
    if path.is_file():
        remedy = {
            ".cfg": "A config is for `spacy hashembeds analyze --config`.",
            ".spacy": "A corpus is another argument: see --help for their order.",
        }.get(path.suffix, "Give the folder that `spacy train` wrote, model-best.")
        raise ValueError(
            f"'{model}' should be a pipeline, a package name or a folder, but is a "
            f"file. {remedy}"
        )
    if path.is_dir() and not (path / "meta.json").is_file():
        inside = sorted(meta.parent for meta in path.glob("*/meta.json"))
        if inside:
            raise ValueError(
                f"The folder '{model}' is no pipeline itself, but holds some. Give the "
                "one that is meant: " + " or ".join(f"'{p}'" for p in inside) + "."
            )
    try:
        return load_model(model)
    except Exception as error:  # of whatever reads the file that is damaged
        if isinstance(error, OSError | ImportError | ConfigValidationError):
            raise
        if str(error).startswith("[E"):  # spaCy says what is wrong
            raise
        raise ValueError(_describe(model, error)) from error


def _describe(model: str | Path, error: Exception) -> str:
    if "mismatched structure" not in str(error):
        reason = f"{type(error).__name__}: {error}".strip(": ")
        return (
            f"The pipeline '{model}' can't be loaded ({reason}). Is a file in it "
            "damaged? Save it anew, or install its package again."
        )
    return (
        f"The weights in '{model}' are those of other layers than its config makes "
        f"here ({error}): a function that it names is not the one it was trained "
        "with. 'spacy.MultiEmbed.v1', for one, is that of spacy-hashembeds unless "
        "code registers another. If the pipeline has code of its own, put both "
        "into a package (`spacy package --code`), install that and give its name."
    )
