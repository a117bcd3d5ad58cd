"""Naming our embedding layers in a pipeline's config, in place of spaCy's.

Our layers have spaCy's tree of nodes, seeds and parameter names, so that the weights
of the old config load into the new one.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from spacy.util import dot_to_object, registry, set_dot_to_object, walk_dict
from thinc.api import Config

from ..architectures.embedders.multi_fewer_hash_embed import SPACY_SEED
from ..hashing.murmur import MAX_HASHES

OUR_EMBED = "spacy-hashembeds.MultiFewerHashEmbed.v1"
OUR_ENCODER = "spacy-hashembeds.MaxoutWindowEncoder.v1"
BLAS = "spacy-hashembeds.use_fastest_blas.v1"

#: The layers that ours can replace, with the argument that asks for static vectors.
#: spacy-legacy's v1 have the tree and the seeds of v2, except with static vectors.
_EMBED = "spacy.MultiHashEmbed.v2"
_EMBEDS = {
    _EMBED: "include_static_vectors",
    "spacy.MultiHashEmbed.v1": "include_static_vectors",
    "spacy-legacy.MultiHashEmbed.v1": "include_static_vectors",
}
_CNNS = {
    "spacy.HashEmbedCNN.v2": "pretrained_vectors",
    "spacy.HashEmbedCNN.v1": "pretrained_vectors",
    "spacy-legacy.HashEmbedCNN.v1": "pretrained_vectors",
}
_VECTORS = {**_EMBEDS, **_CNNS}
_ENCODER = "spacy.MaxoutWindowEncoder.v2"
_OLD_ENCODERS = ("spacy.MaxoutWindowEncoder.v1", "spacy-legacy.MaxoutWindowEncoder.v1")


def find_architectures(config: Config) -> dict[str, dict[str, Any]]:
    """Find the blocks of all components that name an architecture.

    config (Config): A pipeline's config, with or without variables.
    RETURNS (dict[str, dict[str, Any]]): For each place, such as
        "components.tok2vec.model.embed", the block with its variables resolved.
    """
    components = _interpolate(config).get("components", {})
    return dict(_walk_architectures(components, "components"))


def find_convertible(config: Config) -> list[str]:
    """Find the layers of a pipeline's config that ours can replace.

    RETURNS (list[str]): Their places.
    """
    return [
        path
        for path, block in find_architectures(config).items()
        if _is_known(block) and _why_not(block) is None
    ]


def find_unconvertible(config: Config) -> dict[str, str]:
    """Find the layers by the same names that ours can't replace.

    RETURNS (dict[str, str]): For the place of each, its name and the reason.
    """
    return {
        path: f"{block['@architectures']} {_why_not(block)}"
        for path, block in find_architectures(config).items()
        if _is_known(block) and _why_not(block) is not None
    }


def convert_config(config: Config, *, blas: bool = False) -> Config:
    """Name our layers in a pipeline's config in place of spaCy's.

    Variables stay variables, except those that point to an argument of a
    HashEmbedCNN: it becomes a Tok2Vec of two layers, and these become values.

    config (Config): The config, with or without variables. It is not changed.
    blas (bool): Whether to name our callback in [nlp.after_pipeline_creation], if it is
        empty.
    RETURNS (Config): The new config.
    """
    plain = _interpolate(config)
    converted = config.copy()
    blocks = {path: dot_to_object(plain, path) for path in find_convertible(config)}
    cnns = [path for path, block in blocks.items() if block["@architectures"] in _CNNS]
    _resolve_variables(converted, plain, cnns)
    for path, block in blocks.items():
        raw = _get_raw_block(converted, path)
        if raw is not None:
            set_dot_to_object(converted, path, _convert(raw, block))
    if blas and not converted["nlp"].get("after_pipeline_creation"):
        converted["nlp"]["after_pipeline_creation"] = {"@callbacks": BLAS}
    return converted


def _interpolate(config: Config) -> Config:
    return config if config.is_interpolated else config.interpolate()


def _walk_architectures(
    node: Mapping[str, Any], path: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    if "@architectures" in node:
        yield path, dict(node)
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _walk_architectures(value, f"{path}.{key}")


def _is_known(block: Mapping[str, Any]) -> bool:
    return block["@architectures"] in {*_VECTORS, _ENCODER, *_OLD_ENCODERS}


def _why_not(block: Mapping[str, Any]) -> str | None:
    name = block["@architectures"]
    if name in _OLD_ENCODERS:
        return "takes all Docs in one array, and ours a list of arrays, as v2"
    if name.endswith(".v1") and block[_VECTORS[name]]:
        return (
            "with static vectors gives words that have none the last vector of the "
            "table, which ours does not"
        )
    try:
        registry.resolve({"model": _convert(block, block)})
    except ValueError as e:
        return f"has settings that ours does not take: {e}"
    return None


def _get_raw_block(config: Config, path: str) -> dict[str, Any] | None:
    """Get a block, or None where a variable stands for one in another place."""
    try:
        block = dot_to_object(config, path)
    except KeyError:
        return None
    return block if isinstance(block, dict) else None


def _resolve_variables(config: Config, plain: Config, cnns: list[str]) -> None:
    """Put values in the place of all variables for arguments of these layers."""
    if not cnns:
        return
    places = "|".join(re.escape(path) for path in cnns)
    variable = re.compile(rf"\$\{{({places})[.:]\w+\}}")
    for parts, value in list(walk_dict(config)):
        if isinstance(value, str) and variable.search(value):
            path = ".".join(parts)
            set_dot_to_object(config, path, dot_to_object(plain, path))


def _convert(raw: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    if plain["@architectures"] in _CNNS:
        return _convert_cnn(raw, plain)
    if plain["@architectures"] == _ENCODER:
        return {**raw, "@architectures": OUR_ENCODER}
    return _convert_embed(raw)


def _convert_embed(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **raw,
        "@architectures": OUR_EMBED,
        "num_hashes": MAX_HASHES,
        "seed": SPACY_SEED,
    }


def _convert_cnn(raw: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    tok2vec = write_out_cnn(raw, plain)
    encode = {**tok2vec["encode"], "@architectures": OUR_ENCODER}
    return {**tok2vec, "embed": _convert_embed(tok2vec["embed"]), "encode": encode}


def write_out_cnn(raw: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    """Write out what spaCy builds for a HashEmbedCNN: an embedder and an encoder.

    raw (Mapping[str, Any]): Its block, with variables.
    plain (Mapping[str, Any]): The same without.
    RETURNS (dict[str, Any]): The block of a Tok2Vec of two layers.
    """
    size = plain["embed_size"]
    subwords = ["PREFIX", "SUFFIX", "SHAPE"] if plain["subword_features"] else []
    embed = {
        "@architectures": _EMBED,
        "width": raw["width"],
        "attrs": ["NORM", *subwords],
        "rows": [size, *(size // 2 for _ in subwords)],
        "include_static_vectors": bool(plain["pretrained_vectors"]),
    }
    arguments = ("width", "depth", "window_size", "maxout_pieces")
    return {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": embed,
        "encode": {
            "@architectures": _ENCODER,
            **{name: raw[name] for name in arguments},
        },
    }
