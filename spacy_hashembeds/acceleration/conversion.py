"""Naming our layers and components in a pipeline's config, in place of spaCy's. Layers
load the weights of these: they have their tree of nodes, seeds and parameter names.
"""

import re
from collections.abc import Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import Any

from spacy.language import Language
from spacy.util import dot_to_object, registry, set_dot_to_object, walk_dict
from thinc.api import Config, Model

from ..architectures.embedders.mix_attributes import forward as embed_attributes
from ..architectures.embedders.multi_fewer_hash_embed import DESCRIPTION, SPACY_SEED
from ..architectures.encoders.maxout_window_encoder import forward as encode_windows
from ..hashing.murmur import MAX_HASHES
from ..kernels.convolution import PRECISIONS, find_instructions
from ..loading import find_architectures, interpolate
from ..thinc_internals import get_forward
from .blas import walk_layers
from .components import OUR_TOKENIZER, REPLACEMENTS

OUR_EMBED = DESCRIPTION.architecture
OUR_ENCODER = "spacy-hashembeds.MaxoutWindowEncoder.v1"
BLAS = "spacy-hashembeds.use_fastest_blas.v1"
#: Asks for the fastest precision of each component that changes little.
AUTO = "auto"

#: What products are to be computed of: of all encoders, or by component; None: as is.
Precision = str | Mapping[str, str] | None
#: The forward functions of these two layers, by which they are known in a pipeline.
FORWARDS = (embed_attributes, encode_windows)

#: What a HashEmbedCNN says of its encoder.
OF_ENCODER = ("width", "depth", "window_size", "maxout_pieces")

#: Of an output of more than 32 MB, glibc has the system map all pages anew each time:
#: half of that, since texts may be longer.
MOST_BYTES = 2**24
#: So many tokens a text has, of whose length nothing is known.
_TOKENS = 16

_NAME = "@architectures"
_EMBED, _ENCODER = "spacy.MultiHashEmbed.v2", "spacy.MaxoutWindowEncoder.v2"
#: The layers that ours replace. The first versions of embedders have the tree and the
#: seeds of the second, except with static vectors.
_THEIRS = re.compile(
    r"spacy(?:-legacy)?\.(MultiHashEmbed|HashEmbedCNN|MaxoutWindowEncoder)\.v[12]"
)
_VECTORS = {
    "MultiHashEmbed": "include_static_vectors",
    "HashEmbedCNN": "pretrained_vectors",
}


def find_fewer_bits() -> list[str]:
    """Find the precisions but float32 that this processor has instructions for."""
    return [name for name in PRECISIONS[1:] if find_instructions(name) is not None]


def find_convertible(config: Config, precision: Precision = None) -> list[str]:
    """Find the places of layers that ours can replace, and, given a precision, of our
    encoders with products of another.
    """
    places = [place for place, why in _find_theirs(config).items() if why is None]
    for place, block in find_architectures(config).items():
        if block[_NAME] == OUR_ENCODER:
            kept = block.get("precision", "float32")
            if _choose(precision, place) not in (None, kept):
                places.append(place)
    return places


def _choose(precision: Precision, place: str) -> str | None:
    """Choose what the products of an encoder at a place are to be computed of."""
    if isinstance(precision, Mapping):
        return precision.get(place.split(".")[1])
    return precision


def is_converted(old: Model, new: Model) -> bool:
    """Tell whether a layer of ours stands in the place of another. What else differs,
    such as a forward function that is made anew for each layer, is none of ours.
    """
    return get_forward(new) in FORWARDS and get_forward(old) is not get_forward(new)


def find_unconvertible(config: Config, *, blas: bool = False) -> dict[str, str]:
    """Say why layers, or with `blas` a callback, stay where ours would stand."""
    left = {place: why for place, why in _find_theirs(config).items() if why}
    callback = config["nlp"].get("after_pipeline_creation")
    if blas and callback and callback.get("@callbacks") != BLAS:
        left["nlp.after_pipeline_creation"] = (
            f"{callback['@callbacks']} stands where the choice of BLAS would"
        )
    return left


def check_convertible(
    config: Config,
    model: object,
    precision: str | None,
    replacements: Mapping[str, str] = MappingProxyType({}),
    left: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Check that there is something to convert in the config of the `model`, its layers
    or components of these names, and that what that makes of it can be checked here.

    left (Mapping[str, str]): Why components stay, by place, for the error.
    """
    blocks = find_architectures(convert_config(config))
    _check_precision(precision, blocks, model)
    ours = remedy = ""
    if precision == AUTO:
        has_encoder = any(block[_NAME] == OUR_ENCODER for block in blocks.values())
        if has_encoder and find_fewer_bits():
            return  # of which one may be faster
        if has_encoder:
            remedy = (
                " Nor has 'auto' a choice: there are no instructions for fewer bits, "
                "or no compiled kernels (`spacy hashembeds doctor`)."
            )
        precision = None
    if replacements or find_convertible(config, precision):
        return
    found = {place: block["@architectures"] for place, block in blocks.items()}
    found |= {**find_unconvertible(config), **left}
    places = "; ".join(f"{place}: {name}" for place, name in found.items())
    factories = {block.get("factory") for block in config["components"].values()}
    our_factories = {replacement.factory for replacement in REPLACEMENTS.values()}
    if {OUR_EMBED, OUR_ENCODER} & set(found.values()) or our_factories & factories:
        kept = {block.get("precision", "float32") for block in blocks.values()}
        fewer = " and ".join(sorted(kept - {"float32"}))
        ours = f"has ours already{fewer and f', with products of {fewer}'}. It "
        if OUR_ENCODER in found.values() and find_fewer_bits() and not fewer:
            remedy = (
                " With --precision auto ('precision' in Python) its window encoders "
                "may be faster still."
            )
    raise ValueError(
        f"'{model}' {ours}should have a "
        "spacy.MultiHashEmbed, spacy.HashEmbedCNN or spacy.MaxoutWindowEncoder, a "
        "ruler or a lemmatizer that can be converted, but has none "
        f"({places or 'no trained component'}).{remedy}"
    )


def _check_precision(
    precision: str | None, blocks: Mapping[str, dict[str, Any]], model: object
) -> None:
    if precision in (None, AUTO, "float32"):
        return
    if find_instructions(precision) is None:
        raise ValueError(
            f"'precision' should be 'float32' here: for {precision} there are no "
            "instructions, or no compiled kernels (`spacy hashembeds doctor`)."
        )
    if all(block[_NAME] != OUR_ENCODER for block in blocks.values()):
        raise ValueError(
            f"'precision' should be 'float32' for '{model}': it has no window "
            f"encoder, whose products could be of {precision}."
        )


def find_batch_size(nlp: Language) -> int | None:
    """Find how many Docs a batch may have for the output of the widest layer to stay
    small, or None if it has no more. Taggers and trained lemmatizers may have thousands
    of classes.
    """
    layers = (node for _, node in walk_layers(nlp) if node.has_param("W"))
    widths = [node.get_dim("nO") for node in layers if node.has_dim("nO")]
    most = max(1, MOST_BYTES // (4 * _TOKENS * max(widths, default=1)))
    is_number = type(nlp.batch_size) is int  # or spaCy's error says so
    return most if is_number and most < nlp.batch_size else None


def convert_config(
    config: Config,
    *,
    blas: bool = False,
    batch_size: int | None = None,
    precision: Precision = None,
    factories: Mapping[str, str] = MappingProxyType({}),
    tokenizer: bool = False,
) -> Config:
    """Name our layers in a copy of a config, these factories of components, another
    batch size if there is one, with `tokenizer` ours for spaCy's, and with `blas` our
    callback if its place is empty.
    Variables stay, except those for arguments of a HashEmbedCNN: it becomes a Tok2Vec
    of two layers, and these become values.
    """
    plain = interpolate(config)
    converted = config.copy()
    blocks = {
        place: dot_to_object(plain, place)
        for place in find_convertible(config, precision)
    }
    _resolve_cnns(converted, plain, blocks)
    for place, block in blocks.items():
        if isinstance(precision, Mapping):
            _write_out(converted, plain, place)
        _convert_block(converted, place, block, _choose(precision, place))
    for name, factory in factories.items():
        converted["components"][name]["factory"] = factory
    if tokenizer:
        converted["nlp"]["tokenizer"]["@tokenizers"] = OUR_TOKENIZER
    if batch_size is not None:
        converted["nlp"]["batch_size"] = batch_size
    if blas and not converted["nlp"].get("after_pipeline_creation"):
        converted["nlp"]["after_pipeline_creation"] = {"@callbacks": BLAS}
    return converted


def _resolve_cnns(
    config: Config, plain: Config, blocks: Mapping[str, Mapping[str, Any]]
) -> None:
    """Give variables for arguments of a HashEmbedCNN their values."""
    cnns = "|".join(
        re.escape(place) for place in blocks if _kind(blocks[place]) == "HashEmbedCNN"
    )
    variable = re.compile(rf"\$\{{({cnns})[.:]\w+\}}")
    for parts, value in list(walk_dict(config)) if cnns else ():
        if isinstance(value, str) and variable.search(value):
            place = ".".join(parts)
            set_dot_to_object(config, place, dot_to_object(plain, place))


def _convert_block(
    config: Config, place: str, block: Mapping[str, Any], precision: str | None
) -> None:
    try:
        raw = dot_to_object(config, place)
    except KeyError:  # it is in a block that a variable stands for
        return
    if isinstance(raw, dict):
        set_dot_to_object(config, place, _convert(raw, block, precision))


def _write_out(config: Config, plain: Config, place: str) -> None:
    """Write out a block that a variable stands for, which another component shares."""
    parts = place.split(".")
    for n in range(1, len(parts) + 1):
        above = ".".join(parts[:n])
        if not isinstance(dot_to_object(config, above), dict):
            set_dot_to_object(config, above, deepcopy(dot_to_object(plain, above)))
            return


def write_out_cnn(raw: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    """Write out the Tok2Vec of a HashEmbedCNN, given its block raw and resolved."""
    size = plain["embed_size"]
    subwords = ["PREFIX", "SUFFIX", "SHAPE"] if plain["subword_features"] else []
    return {
        _NAME: "spacy.Tok2Vec.v2",
        "embed": {
            _NAME: _EMBED,
            "width": raw["width"],
            "attrs": ["NORM", *subwords],
            "rows": [size, *(size // 2 for _ in subwords)],
            "include_static_vectors": bool(plain["pretrained_vectors"]),
        },
        "encode": {_NAME: _ENCODER, **{key: raw[key] for key in OF_ENCODER}},
    }


def _find_theirs(config: Config) -> dict[str, str | None]:
    """Find spaCy's layers, and why ours can't replace one, if so."""
    return {
        place: _why_not(block)
        for place, block in find_architectures(config).items()
        if _THEIRS.fullmatch(block[_NAME])
    }


def _kind(block: Mapping[str, Any]) -> str:
    return block[_NAME].split(".")[1]


def _why_not(block: Mapping[str, Any]) -> str | None:
    name, kind = block[_NAME], _kind(block)
    if name.endswith(".v1") and kind not in _VECTORS:
        return f"{name} takes all Docs in one array, and ours a list of arrays, as v2"
    if name.endswith(".v1") and block[_VECTORS[kind]]:
        return (
            f"{name} with static vectors gives words that have none the last vector of "
            "the table, which ours does not"
        )
    try:
        registry.resolve({"model": _convert(block, block)})
    except ValueError as e:
        return f"{name} has settings that ours does not take: {e}"
    return None


def _convert(
    raw: Mapping[str, Any], plain: Mapping[str, Any], precision: str | None = None
) -> dict[str, Any]:
    kind = _kind(plain)
    if kind == "HashEmbedCNN":
        tok2vec = write_out_cnn(raw, plain)
        for key in ("embed", "encode"):
            tok2vec[key] = _convert(tok2vec[key], tok2vec[key], precision)
        return tok2vec
    if kind == "MaxoutWindowEncoder":
        if precision not in (None, plain.get("precision", "float32")):
            raw = {**raw, "precision": precision}
        return {**raw, _NAME: OUR_ENCODER}
    return {**raw, _NAME: OUR_EMBED, "num_hashes": MAX_HASHES, "seed": SPACY_SEED}
