"""What a config should hold so that we can work on it."""

from collections.abc import Mapping
from typing import Any

from spacy.util import get_lang_class
from thinc.api import Config

from ..acceleration.conversion import find_architectures
from ..files import quote


def check_contents(config: Config) -> None:
    """Check that what we look at in a config is what spaCy would take there.

    config (Config): The config, without variables.
    RAISES (ValueError): If something is not. Does not name the file.
    """
    for section in ("nlp", "components"):
        if not config.get(section):
            raise ValueError(
                f"should be the config of a pipeline, but has nothing in [{section}]. "
                "Make one with `spacy init config`."
            )
    _check_language(config["nlp"].get("lang"))
    for name, component in config["components"].items():
        _check("components", name, component, dict, "a section")
    for place, block in find_architectures(config).items():
        _check(place, "@architectures", block["@architectures"], str, "a name")
    _check_training(config.get("training", {}))


def _check_language(lang: Any) -> None:
    if not lang:
        raise ValueError(
            "should say which language the pipeline is for, as 'lang' in [nlp]: norms "
            "depend on it."
        )
    try:
        get_lang_class(lang)
    # a name may be that of something else in spaCy, or of no type for names
    except (ImportError, AttributeError, TypeError) as error:
        raise ValueError(
            "should have the code of a language that spaCy knows as 'lang' in [nlp], "
            f"such as 'en', or 'xx' where there is none, but has {quote(lang)}. If "
            "code of yours brings the language, install it as a package."
        ) from error


def _check_training(training: Mapping[str, Any]) -> None:
    frozen = training.get("frozen_components", [])
    _check("training", "frozen_components", frozen, list, "a list of names")
    weights = training.get("score_weights") or {}
    _check("training", "score_weights", weights, dict, "a section")
    for name, weight in weights.items():
        number = (int, float, type(None))
        _check("training.score_weights", name, weight, number, "a number")


def _check(
    section: str, key: str, value: Any, kind: type | tuple[type, ...], what: str
) -> None:
    if not isinstance(value, kind):
        raise ValueError(
            f"should have {what} as '{key}' in [{section}], but has {quote(value)}."
        )
