"""Loading trained pipelines, with errors that say more than spaCy's."""

from pathlib import Path

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
    except ValueError as error:
        if "mismatched structure" not in str(error):
            raise
        raise ValueError(
            f"The weights in '{model}' are those of other layers than its config makes "
            f"here ({error}): a function that it names is not the one it was trained "
            "with. 'spacy.MultiEmbed.v1', for one, is that of spacy-hashembeds unless "
            "code registers another. If the pipeline has code of its own, put both "
            "into a package (`spacy package --code`), install that and give its name."
        ) from error
