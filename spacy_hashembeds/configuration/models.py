"""Embedders and encoders in a config, and ours in their place."""

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from itertools import accumulate
from typing import Any

from confection import VARIABLE_RE
from spacy.language import Language
from spacy.util import dot_to_object, get_lang_class, set_dot_to_object, walk_dict
from thinc.api import Config

from ..acceleration.conversion import OF_ENCODER, OUR_EMBED, OUR_ENCODER, write_out_cnn
from ..architectures.embedders.descriptions import EmbedderDescription, get_descriptions
from ..loading import find_architectures
from .draft import Draft, check_block, get_name
from .embedders import is_replaced

_CNN = re.compile(r"spacy(-legacy)?\.HashEmbedCNN\.v[12]")
_ENCODER = re.compile(r"spacy(-legacy)?\.MaxoutWindowEncoder\.v[12]")
_OLD_TOK2VEC = re.compile(r"spacy(-legacy)?\.Tok2Vec\.v1")

_WEIGHTS = "[initialize] init_tok2vec"


def find_embedders(draft: Draft) -> dict[str, dict[str, Any]]:
    """Find the embedders that ours can take the place of, without variables."""
    blocks = _find_blocks(draft)
    return {p: b for p, b in blocks.items() if is_replaced(b["@architectures"])}


def find_pretrained(
    draft: Draft,
    found: Mapping[str, Mapping[str, Any]],
    embedder: EmbedderDescription,
) -> list[str]:
    """Find the places of embedders whose weights [pretraining] may have trained, all if
    it names no component, and warn of them.
    """
    weights = draft.get_initialize("init_tok2vec")
    if not weights:
        return []
    name = f"'{weights!s:.300}'"
    component = draft.resolve("pretraining.component")
    places = [p for p in found if component in (None, p.split(".")[1])]
    for place in places:
        replaced = found[place]["@architectures"]
        if not _fits(replaced, embedder):
            fitting = [d.name for d in get_descriptions() if _fits(replaced, d)]
            instead = f", or put in {fitting[0]} (--embedder)" if fitting else ""
            raise ValueError(
                f"{embedder.architecture} can't be put into [{place}]: {_WEIGHTS} "
                f"names weights, {name}, that were trained for {replaced} and "
                f"don't fit. Set it to null, to train without them{instead}."
            )
        draft.warnings.append(
            f"[{place}] keeps its settings: {_WEIGHTS} names weights that were trained "
            f"with them, {name}. To have settings chosen anew, set it to null."
        )
    return places


def _fits(replaced: str, embedder: EmbedderDescription) -> bool:
    """Tell whether weights for an architecture fit an embedder of ours."""
    is_spacy_s = ".MultiHashEmbed." in replaced
    return embedder.is_named(replaced) or (
        embedder.architecture == OUR_EMBED and is_spacy_s
    )


def write_out_variables(draft: Draft) -> None:
    """Write out the blocks that variables stand for if they hold a layer to replace,
    but not what stands in a component that may change: there it is changed for all.
    """
    for path, block in find_architectures(draft.config).items():
        name = block["@architectures"]
        is_put_in = _has_embedder(name) or _ENCODER.fullmatch(name)
        while is_put_in and path.split(".")[1] not in draft.left:
            # its own place, or one above it
            places = accumulate(path.split("."), "{}.{}".format)
            place = next((p for p in places if isinstance(draft.get(p), str)), None)
            if place is None:
                break
            variable, target = draft.get(place), place
            while isinstance(value := draft.get(target), str):  # which may be one too
                target = value[2:-1].replace(":", ".")
            section, component, *_ = [*target.split("."), ""]
            if section == "components" and component not in draft.left:
                break
            why = f"In place of {variable}, to be changed here alone."
            draft.replace(place, deepcopy(value), {None: why})


def write_out_models(draft: Draft) -> None:
    """Write out embedders that the config leaves to spaCy's defaults, or to a CNN."""
    Language()  # the first pipeline of a process finds the factories of packages
    for name in draft.config["components"]:
        if name not in draft.left:
            _write_out_default(draft, name)
    plain = draft.config.interpolate()
    cnns = []
    for path, block in _find_blocks(draft).items():
        if _CNN.fullmatch(block["@architectures"]):
            check_block(path, block)
            cnns.append(path)
            tok2vec = write_out_cnn(draft.get(path), block)
            # one width for both, as spaCy's own configs have it
            tok2vec["embed"]["width"] = f"${{{path}.encode.width}}"
            names = (tok2vec[key]["@architectures"] for key in ("embed", "encode"))
            both = f"{' and '.join(names)} in one"
            why = f"In place of {block['@architectures']}, which is {both}."
            draft.replace(path, tok2vec, {"@architectures": why})
    _mend_variables(draft.config, plain, cnns)


def put_in_encoders(draft: Draft) -> None:
    """Put our encoder in the place of spaCy's."""
    for path, block in _find_blocks(draft).items():
        name = block["@architectures"]
        if _ENCODER.fullmatch(name):
            check_block(path, block)
            why = f"In place of {name}: the same numbers, faster on the CPU."
            above = path.rpartition(".")[0]
            old = get_name(draft.resolve(above), "@architectures")
            if _OLD_TOK2VEC.fullmatch(old):
                # ours takes each Doc by itself
                of_docs = "which hands all Docs to the encoder in one array"
                why_v2 = f"In place of {old}, {of_docs}."
                draft.set(above, "@architectures", "spacy.Tok2Vec.v2", why_v2)
            draft.set(path, "@architectures", OUR_ENCODER, why)
        elif name != OUR_ENCODER:
            continue
        check_block(path, draft.resolve(path))  # ours refuses more than spaCy's


def _find_blocks(draft: Draft) -> dict[str, dict[str, Any]]:
    """Find the models that stand in the components which may be changed."""
    return {
        path: block
        for path, block in find_architectures(draft.config).items()
        if path.split(".")[1] not in draft.left and isinstance(draft.get(path), dict)
    }


def _write_out_default(draft: Draft, name: str) -> None:
    """Write out the model of a component, if spaCy would fill an embedder in."""
    plain = draft.config.interpolate()
    factory = plain["components"][name].get("factory")
    language = get_lang_class(plain["nlp"]["lang"])
    given = draft.config["components"][name].get("model", {})
    has_default = isinstance(factory, str) and language.has_factory(factory)
    if not has_default or not isinstance(given, dict):
        return
    default = (language.get_factory_meta(factory).default_config or {}).get("model")
    if default is None:
        return
    filled = draft.config.copy()
    model = Config({"model": default}).merge({"model": given})["model"]
    filled["components"][name]["model"] = model
    before, after = map(find_architectures, (draft.config, filled))
    new = (after[place]["@architectures"] for place in after.keys() - before.keys())
    if any(map(_has_embedder, new)):
        draft.config["components"][name]["model"] = model


def _has_embedder(architecture: str) -> bool:
    return is_replaced(architecture) or _CNN.fullmatch(architecture) is not None


def _mend_variables(config: Config, plain: Config, cnns: list[str]) -> None:
    """Have variables for arguments of these layers say what they said before."""

    def mend(match: re.Match[str]) -> str:
        path, _, key = match[0][2:-1].replace(":", ".").rpartition(".")
        if path not in cnns:
            return match[0]
        if key in OF_ENCODER:
            return f"${{{path}.encode.{key}}}"
        return json.dumps(dot_to_object(plain, f"{path}.{key}"))

    for parts, value in list(walk_dict(config)):
        if isinstance(value, str) and VARIABLE_RE.search(value):
            mended = VARIABLE_RE.sub(mend, value)
            is_plain = not VARIABLE_RE.search(mended)
            path = ".".join(parts)
            set_dot_to_object(config, path, json.loads(mended) if is_plain else mended)
