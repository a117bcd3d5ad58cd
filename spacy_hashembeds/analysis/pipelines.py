"""The pipeline that a corpus is analysed for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.util import dot_to_dict, load_config, load_model_from_config
from spacy.vocab import Vocab
from thinc.api import Config

from ..loading import check_variables, load_trained

#: A config, or its file.
ConfigSource = str | Path | dict[str, Any]
#: A pipeline, or its name or folder.
ModelSource = str | Path | Language
#: Config settings, with dotted keys as `spacy train` takes them.
Overrides = Mapping[str, Any]

LANG = "nlp.lang"


def name_source(
    *, config: ConfigSource | None = None, model: ModelSource | None = None
) -> str | None:
    """Give the name of a config or pipeline for errors, or None if there is neither."""
    for argument, source in (("config", config), ("model", model)):
        if isinstance(source, str | Path):
            return f"'{source}'"
        if source is not None:
            return f"'{argument}'"
    return None


def load_pipeline(
    *,
    config: ConfigSource | None,
    model: ModelSource | None,
    overrides: Overrides,
) -> Language:
    """Load a trained pipeline, build one from a config, or make a blank one.

    config (ConfigSource, optional): The config. Its pipeline is not initialised.
    model (ModelSource, optional): The trained pipeline.
    overrides (Overrides): Settings of the config to change. Without a config, only the
        language of the blank pipeline can be set, by default "xx".
    RAISES (OSError): If there is no such config or pipeline.
    RAISES (ValueError): If the config builds none, or there is no such setting.
    """
    if config is not None:
        return _build(config, overrides)
    if model is not None:
        name = f"the pipeline {name_source(model=model)}"
        _check_overrides(overrides, known=(), source=name)
        return _load(model)
    _check_overrides(overrides, known=(LANG,), source="a corpus alone")
    return spacy.blank(str(overrides.get(LANG, "xx")))


def _check_overrides(
    overrides: Overrides, *, known: tuple[str, ...], source: str
) -> None:
    for key in overrides:
        if key not in known:
            raise ValueError(
                f"'{key}' is a setting of a config, but {source} has none. Leave it "
                "out, or give a config."
            )


def _load(model: ModelSource) -> Language:
    return model if isinstance(model, Language) else load_trained(model)


def _build(config: ConfigSource, overrides: Overrides) -> Language:
    if isinstance(config, str | Path) and not Path(config).is_file():
        raise FileNotFoundError(f"There is no config '{config}'.")
    try:
        if isinstance(config, str | Path):
            loaded = load_config(config, overrides=dict(overrides))
        else:
            loaded = Config(config).merge(dot_to_dict(dict(overrides)))
        check_variables(loaded)
        return load_model_from_config(loaded, auto_fill=True)
    except ValueError as error:
        # spaCy names no file, and lays its messages out over many lines.
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{name_source(config=config)} should be a spaCy config, but no pipeline "
            f"can be built from it: {reason}"
        ) from error


def load_vectors(vectors: ModelSource | None, nlp: Language) -> Vocab | None:
    """Load the vocab whose vectors tokens are looked up in.

    vectors (ModelSource, optional): A pipeline that has them. Default: `nlp`, if it has
        any.
    RAISES (OSError): If there is no such pipeline.
    RAISES (ValueError): If it is none, or has no vectors.
    """
    if vectors is None:
        return nlp.vocab if nlp.vocab.vectors.size else None
    vocab = _load(vectors).vocab
    if not vocab.vectors.size:
        name = "'vectors'" if isinstance(vectors, Language) else f"'{vectors}'"
        raise ValueError(
            f"{name} should be a pipeline with word vectors, but has none. Make "
            "one with `spacy init vectors`."
        )
    return vocab
