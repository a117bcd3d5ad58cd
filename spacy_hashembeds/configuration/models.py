"""Where embedders and encoders stand in a config, and ours in their place."""

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import accumulate
from typing import Any

from confection import VARIABLE_RE
from spacy.language import Language
from spacy.util import dot_to_object, get_lang_class, set_dot_to_object, walk_dict
from thinc.api import Config

from ..acceleration.conversion import (
    OUR_ENCODER,
    find_architectures,
    write_out_cnn,
)
from .draft import Draft, check_block
from .replaced import is_replaced

_CNN = re.compile(r"spacy(-legacy)?\.HashEmbedCNN\.v[12]")
_ENCODER = re.compile(r"spacy(-legacy)?\.MaxoutWindowEncoder\.v[12]")
_OLD_TOK2VEC = re.compile(r"spacy(-legacy)?\.Tok2Vec\.v1")
_TOK2VEC = "spacy.Tok2Vec.v2"

#: What a HashEmbedCNN says of its encoder.
_OF_ENCODER = ("width", "depth", "window_size", "maxout_pieces")


def find_embedders(draft: Draft) -> dict[str, dict[str, Any]]:
    """Find the embedders that ours can take the place of.

    RETURNS (dict[str, dict[str, Any]]): For each place the block, without variables.
    """
    blocks = _find_blocks(draft)
    return {p: b for p, b in blocks.items() if is_replaced(b["@architectures"])}


def is_put_in(architecture: str) -> bool:
    """Tell whether layers of ours can stand for this one."""
    patterns = (_CNN, _ENCODER)
    return is_replaced(architecture) or any(p.fullmatch(architecture) for p in patterns)


def find_left(config: Config) -> dict[str, str]:
    """Find the components that keep the models they have, and say why."""
    frozen = config.interpolate().get("training", {}).get("frozen_components", [])
    left = {}
    for name, component in config["components"].items():
        if not isinstance(component, Mapping):
            left[name] = f"it is a variable for another section, {component}"
        elif "source" in component:
            left[name] = f"it is taken from '{component['source']}' as it is"
        elif name in frozen:
            left[name] = "it is among [training] frozen_components"
    return left


def write_out_variables(draft: Draft) -> None:
    """Write out the blocks that variables stand for, if they hold a layer to replace.

    What stands in a component that may change is left: there it is changed for all.
    """
    left = find_left(draft.config)
    for path, block in find_architectures(draft.config).items():
        is_left = path.split(".")[1] in left
        while not is_left and is_put_in(block["@architectures"]):
            place = _find_variable(draft, path)
            if place is None or _is_changed_elsewhere(draft, place, left):
                break
            draft.replace(
                place,
                deepcopy(draft.get(_get_target(draft, place))),
                {None: f"In place of {draft.get(place)}, to be changed here alone."},
            )


def write_out_models(draft: Draft) -> None:
    """Write out embedders that the config leaves to spaCy's defaults, or to a CNN."""
    Language()  # the first pipeline of a process finds the factories of packages
    for name in draft.config["components"].keys() - find_left(draft.config).keys():
        _write_out_default(draft, name)
    cnns = {
        path: block
        for path, block in _find_blocks(draft).items()
        if _CNN.fullmatch(block["@architectures"])
    }
    plain = draft.interpolate()
    for path, block in cnns.items():
        check_block(path, block)
        _write_out_cnn(draft, path, block)
    _mend_variables(draft.config, plain, list(cnns))


def put_in_encoders(draft: Draft) -> None:
    """Put our encoder in the place of spaCy's."""
    for path, block in _find_blocks(draft).items():
        if _ENCODER.fullmatch(block["@architectures"]):
            check_block(path, block)
            _renew_tok2vec(draft, path.rpartition(".")[0])
            draft.set(
                path,
                "@architectures",
                OUR_ENCODER,
                f"In place of {block['@architectures']}: the same numbers, faster on "
                "the CPU.",
            )


def _find_blocks(draft: Draft) -> dict[str, dict[str, Any]]:
    """Find the models that stand in the components which may be changed."""
    left = find_left(draft.config)
    return {
        path: block
        for path, block in find_architectures(draft.config).items()
        if path.split(".")[1] not in left and isinstance(draft.get(path), dict)
    }


def _write_out_default(draft: Draft, name: str) -> None:
    """Write out the model of a component, if spaCy would fill an embedder in."""
    component = draft.config["components"][name]
    lang = draft.interpolate()["nlp"]["lang"]
    plain = draft.resolve(f"components.{name}")
    default = _get_default_model(lang, plain.get("factory"))
    given = component.get("model", {})
    if default is None or not isinstance(given, dict):
        return
    filled = draft.config.copy()
    model = Config({"model": default}).merge({"model": given})["model"]
    filled["components"][name]["model"] = model
    missing = set(_find_embedding(filled)) - set(_find_embedding(draft.config))
    if missing:
        draft.config["components"][name]["model"] = model


def _get_default_model(lang: str, factory: Any) -> dict[str, Any] | None:
    language = get_lang_class(lang)
    if not isinstance(factory, str) or not language.has_factory(factory):
        return None
    config = language.get_factory_meta(factory).default_config or {}
    return config.get("model")


def _find_embedding(config: Config) -> Iterator[str]:
    for path, block in find_architectures(config).items():
        name = block["@architectures"]
        if is_replaced(name) or _CNN.fullmatch(name):
            yield path


def _write_out_cnn(draft: Draft, path: str, plain: Mapping[str, Any]) -> None:
    tok2vec = write_out_cnn(draft.get(path), plain)
    # one width for both, as spaCy's own configs have it
    tok2vec["embed"]["width"] = f"${{{path}.encode.width}}"
    names = (tok2vec[key]["@architectures"] for key in ("embed", "encode"))
    why = (
        f"In place of {plain['@architectures']}, which is {' and '.join(names)} in one."
    )
    draft.replace(path, tok2vec, {"@architectures": why})


def _mend_variables(config: Config, plain: Config, cnns: list[str]) -> None:
    """Have variables for arguments of these layers say what they said before."""

    def mend(match: re.Match[str]) -> str:
        path, _, key = match[0][2:-1].replace(":", ".").rpartition(".")
        if path not in cnns:
            return match[0]
        if key in _OF_ENCODER:
            return f"${{{path}.encode.{key}}}"
        return json.dumps(dot_to_object(plain, f"{path}.{key}"))

    for parts, value in list(walk_dict(config)):
        if isinstance(value, str) and VARIABLE_RE.search(value):
            mended = VARIABLE_RE.sub(mend, value)
            is_plain = not VARIABLE_RE.search(mended)
            path = ".".join(parts)
            set_dot_to_object(config, path, json.loads(mended) if is_plain else mended)


def _renew_tok2vec(draft: Draft, path: str) -> None:
    """Name the Tok2Vec that hands an encoder each Doc, as ours takes them."""
    block = draft.resolve(path) or {}
    if _OLD_TOK2VEC.fullmatch(block.get("@architectures", "")):
        draft.set(
            path,
            "@architectures",
            _TOK2VEC,
            f"In place of {block['@architectures']}, which hands all Docs to the "
            "encoder in one array.",
        )


def _find_variable(draft: Draft, path: str) -> str | None:
    """Find the place above a model, or its own, where a variable stands for it."""
    places = accumulate(path.split("."), "{}.{}".format)
    return next((p for p in places if isinstance(draft.get(p), str)), None)


def _get_target(draft: Draft, place: str) -> str:
    """Get the section that a variable stands for, which may be one itself."""
    value: Any = draft.get(place)
    while isinstance(value, str):
        place = value[2:-1].replace(":", ".")
        value = draft.get(place)
    return place


def _is_changed_elsewhere(draft: Draft, place: str, left: dict[str, str]) -> bool:
    section, _, rest = _get_target(draft, place).partition(".")
    return section == "components" and rest.split(".")[0] not in left
