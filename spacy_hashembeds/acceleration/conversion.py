"""Replace spaCy's layers and components in a pipeline's config by ours. Ours load the
weights and files that spaCy's have saved: our layers have the same tree of nodes, seeds
and parameter names, and our components are subclasses of spaCy's.
"""

import re
from collections.abc import Mapping
from typing import Any

from spacy.language import Language
from spacy.pipeline import AttributeRuler, EditTreeLemmatizer, EntityRuler, SpanRuler
from spacy.tokenizer import Tokenizer
from spacy.util import dot_to_object, registry, set_dot_to_object, walk_dict
from thinc.api import Config

from ..architectures.multi_fewer_hash_embed import DESCRIPTION, SPACY_SEED
from ..components.cached_lemmatizer import can_cache
from ..components.cached_matcher import CachedMatcher
from ..hashing.murmur import MAX_HASHES
from ..kernels.convolution import PRECISIONS, find_instructions
from ..loading import find_architectures, interpolate
from ..training.annotation import walk_layers

OUR_EMBED = DESCRIPTION.architecture
OUR_ENCODER = "spacy-hashembeds.MaxoutWindowEncoder.v1"
BLAS = "spacy-hashembeds.use_fastest_blas.v1"
#: Value of `precision`: choose for each component the fastest that changes little.
AUTO = "auto"

#: Precision of products: of all encoders, or by component. None keeps it.
Precision = str | Mapping[str, str] | None

#: The arguments of a HashEmbedCNN that belong to its encoder.
OF_ENCODER = ("width", "depth", "window_size", "maxout_pieces")

#: spaCy's factories that ours, named `cached_…`, replace, with the class of their
#: components: None if the class depends on the language.
REPLACED: dict[str, type | None] = {
    "lemmatizer": None,
    "trainable_lemmatizer": EditTreeLemmatizer,
    "attribute_ruler": AttributeRuler,
    "entity_ruler": EntityRuler,
    "span_ruler": SpanRuler,
}

#: Most bytes of an output. glibc maps the pages of each new array above 32 MB again;
#: this is half of that, since texts may be longer than assumed.
MOST_BYTES = 2**24
#: Assumed number of tokens of a text whose length is unknown.
_TOKENS = 16

_TOKENIZER, _OUR_TOKENIZER = "spacy.Tokenizer.v1", "spacy-hashembeds.Tokenizer.v1"
_OF_NLP = ("tokenizer", "batch_size", "after_pipeline_creation")
_NAME = "@architectures"
_EMBED, _ENCODER = "spacy.MultiHashEmbed.v2", "spacy.MaxoutWindowEncoder.v2"
_TOK2VEC = "spacy.Tok2Vec.v2"
#: spaCy's embedders and encoders for which we have no replacement.
_OTHERS = ("CharacterEmbed", "MishWindowEncoder", "TorchBiLSTMEncoder")
#: Versions 1 have the same tree and seeds as versions 2, except embedders with static
#: vectors.
_THEIRS = re.compile(
    r"spacy(-legacy)?\.(MultiHashEmbed|HashEmbedCNN|MaxoutWindowEncoder|"
    rf"{'|'.join(_OTHERS)})\.v[12]"
)
#: Version 1 gives the encoder all Docs in one array. Version 2 has the same tree, and
#: its encoder joins the Docs itself.
_OLD_TOK2VEC = re.compile(r"spacy(-legacy)?\.Tok2Vec\.v1")
_VECTORS = {
    "MultiHashEmbed": "include_static_vectors",
    "HashEmbedCNN": "pretrained_vectors",
}


def find_fewer_bits() -> list[str]:
    """Find precisions, except float32, for which this processor has instructions."""
    return [name for name in PRECISIONS[1:] if find_instructions(name) is not None]


def find_convertible(
    config: Config, precision: Precision = None
) -> tuple[list[str], dict[str, str]]:
    """Find the places of layers that ours can replace, and of our encoders that have
    another precision; and for the other layers, by place, why ours can't replace them.
    """
    places, left = [], {}
    blocks = find_architectures(config)
    for place, block in blocks.items():
        if _THEIRS.fullmatch(block[_NAME]):
            why = _why_not(block, blocks.get(place.rpartition(".")[0], {}))
            if why is None:
                places.append(place)
            else:
                left[place] = why
        elif block[_NAME] == OUR_ENCODER:
            kept = block.get("precision", "float32")
            if _choose(precision, place) not in (None, kept):
                places.append(place)
    return places, left


def find_replacements(
    nlp: Language, config: Config
) -> tuple[dict[str, str], dict[str, str]]:
    """Find the components that ours can replace, with our factory; and for the others,
    by place in the config, why they stay. Blocks with a `source` stay.
    """
    found, left = {}, {}
    for name, pipe in nlp.components:
        factory = config["components"][name].get("factory")
        if factory in REPLACED:
            matcher = getattr(pipe, "matcher", None)
            is_spacys = type(pipe) is REPLACED[factory] or can_cache(pipe)
            if is_spacys and (
                matcher is None or CachedMatcher.from_matcher(matcher).find_table()
            ):
                found[name] = f"cached_{factory}"
            elif matcher is None or len(matcher):  # a ruler may have phrases alone
                left[f"components.{name}"] = (
                    "it is none of spaCy's own classes, or has token patterns that "
                    "attributes do not decide"
                )
    return found, left


def find_batch_size(nlp: Language) -> int | None:
    """Find the batch size with which the output of the widest layer, such as that of a
    tagger with thousands of classes, has at most `MOST_BYTES`. Return None if the
    pipeline's batch size is not larger.
    """
    layers = (node for _, node in walk_layers(nlp) if node.has_param("W"))
    widths = [node.get_dim("nO") for node in layers if node.has_dim("nO")]
    most = max(1, MOST_BYTES // (4 * _TOKENS * max(widths, default=1)))
    return most if most < nlp.batch_size else None


def check_precision(config: Config, precision: str | None) -> None:
    """Check that this machine supports a precision for the encoders in a config."""
    names = [block[_NAME] for block in find_architectures(config).values()]
    is_there = OUR_ENCODER in names and find_instructions(str(precision)) is not None
    if precision not in (None, AUTO, "float32") and not is_there:
        raise ValueError(
            f"'precision' should be 'float32', but is {precision!r}: there is no "
            "window encoder, or there are no instructions or compiled kernels for it "
            "(`spacy hashembeds doctor`)."
        )


def find_left(nlp: Language, config: Config, *, blas: bool) -> dict[str, str]:
    """Find the layers and components that ours can't replace, with the reasons."""
    left = find_replacements(nlp, config)[1] | find_convertible(config)[1]
    callback = config["nlp"].get("after_pipeline_creation") or {"@callbacks": BLAS}
    if blas and (name := callback["@callbacks"]) != BLAS:
        reason = f"{name} stands where the choice of BLAS would"
        left["nlp.after_pipeline_creation"] = reason
    return left


def find_changed(config: Config, new: Config, precision: Precision) -> list[str]:
    """Find the places of layers, components and settings that a conversion changed."""
    layers, _ = find_convertible(config, precision)
    components, nlp = config["components"], config["nlp"]
    replaced = [
        f"components.{name}"
        for name, block in components.items()
        if block.get("factory") != new["components"][name].get("factory")
    ]
    of_nlp = [f"nlp.{key}" for key in _OF_NLP if nlp.get(key) != new["nlp"].get(key)]
    return layers + replaced + of_nlp


def convert_config(
    nlp: Language, config: Config, *, blas: bool, precision: Precision = None
) -> Config:
    """Return a copy of a pipeline's config with our layers, components and tokenizer,
    smaller batches where the widest layer needs it, and with `blas` our callback if its
    place is empty.
    """
    converted = convert_layers(config, precision)
    for name, factory in find_replacements(nlp, config)[0].items():
        converted["components"][name]["factory"] = factory
    settings = converted["nlp"]
    tokenizer = settings.get("tokenizer") or {}
    # keep the tokenizer of a language, and a custom one
    if type(nlp.tokenizer) is Tokenizer and tokenizer.get("@tokenizers") == _TOKENIZER:
        tokenizer["@tokenizers"] = _OUR_TOKENIZER
    if (batch_size := find_batch_size(nlp)) is not None:
        settings["batch_size"] = batch_size
    if blas and not settings.get("after_pipeline_creation"):
        settings["after_pipeline_creation"] = {"@callbacks": BLAS}
    return converted


def convert_layers(config: Config, precision: Precision = None) -> Config:
    """Return a copy of a config with our layers.

    A HashEmbedCNN becomes a Tok2Vec of two layers. If any layer is converted, variables
    in components, and variables that refer to components, are replaced by their values.
    """
    converted = config.copy()
    places, _ = find_convertible(config, precision)
    if places:
        _resolve_components(converted, interpolate(config))
    for place in places:
        block = dot_to_object(converted, place)
        if block[_NAME].endswith(".MaxoutWindowEncoder.v1"):
            dot_to_object(converted, place.rpartition(".")[0])[_NAME] = _TOK2VEC
        new = _convert(block, _choose(precision, place))
        set_dot_to_object(converted, place, new)
    return converted


def _choose(precision: Precision, place: str) -> str | None:
    if isinstance(precision, Mapping):
        return precision.get(place.split(".")[1])
    return precision


def _resolve_components(config: Config, plain: Config) -> None:
    # not deepcopy: several variables may refer to one object
    config["components"] = Config().from_str(plain.to_str())["components"]
    for parts, value in [*walk_dict(config)]:
        if isinstance(value, str) and "${components." in value:
            place = ".".join(parts)
            set_dot_to_object(config, place, dot_to_object(plain, place))


def write_out_cnn(raw: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Tok2Vec block of a HashEmbedCNN, given its raw and resolved block."""
    size = plain["embed_size"]
    subwords = ["PREFIX", "SUFFIX", "SHAPE"] if plain["subword_features"] else []
    return {
        _NAME: _TOK2VEC,
        "embed": {
            _NAME: _EMBED,
            "width": raw["width"],
            "attrs": ["NORM", *subwords],
            "rows": [size, *(size // 2 for _ in subwords)],
            "include_static_vectors": bool(plain["pretrained_vectors"]),
        },
        "encode": {_NAME: _ENCODER, **{key: raw[key] for key in OF_ENCODER}},
    }


def _kind(block: Mapping[str, Any]) -> str:
    return block[_NAME].split(".")[1]


def _why_not(block: Mapping[str, Any], above: Mapping[str, Any]) -> str | None:
    """Explain why ours can't replace a layer, given its and the enclosing block."""
    name, kind = block[_NAME], _kind(block)
    if kind in _OTHERS:
        return f"there is no faster layer with the numbers of {name}"
    is_old, has_vectors = name.endswith(".v1"), kind in _VECTORS
    if is_old and not has_vectors and not _OLD_TOK2VEC.match(above.get(_NAME, "")):
        return (
            f"{name} takes all Docs in one array, and can be replaced only in a "
            "spacy.Tok2Vec.v1"
        )
    if is_old and has_vectors and block[_VECTORS[kind]]:
        return (
            f"{name} with static vectors gives words that have none the last vector of "
            "the table, which ours does not"
        )
    try:
        registry.resolve({"model": _convert(block)})
    except ValueError as e:
        return f"{name} has settings that ours does not take: {e}"
    return None


def _convert(block: Mapping[str, Any], precision: str | None = None) -> dict[str, Any]:
    kind = _kind(block)
    if kind == "HashEmbedCNN":
        tok2vec = write_out_cnn(block, block)
        parts = {key: _convert(tok2vec[key], precision) for key in ("embed", "encode")}
        return tok2vec | parts
    if kind == "MultiHashEmbed":
        return {**block, _NAME: OUR_EMBED, "num_hashes": MAX_HASHES, "seed": SPACY_SEED}
    if precision not in (None, block.get("precision", "float32")):
        block = {**block, "precision": precision}
    return {**block, _NAME: OUR_ENCODER}
