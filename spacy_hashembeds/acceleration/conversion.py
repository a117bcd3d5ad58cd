"""Replace spaCy's layers and components in a config by ours. Ours load the same files:
layers have the same tree, seeds and parameter names; components are subclasses.
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
from ..kernels.convolution import PRECISIONS
from ..loading import find_architectures, interpolate
from ..training.annotation import walk_layers
from .doctor import find_lacking

OUR_EMBED = DESCRIPTION.architecture
OUR_ENCODER = "spacy-hashembeds.MaxoutWindowEncoder.v1"
BLAS = "spacy-hashembeds.use_fastest_blas.v1"
#: Value of `precision`: choose for each component.
AUTO = "auto"

#: Precision of products: of all encoders, or by component. None keeps the current one.
Precision = str | Mapping[str, str] | None

#: Arguments of a HashEmbedCNN for its encoder.
ENCODER_ARGUMENTS = ("width", "depth", "window_size", "maxout_pieces")

#: spaCy's factories that `cached_…` factories replace, with the class of their
#: components, or None if the class depends on the language.
REPLACED: dict[str, type | None] = {
    "lemmatizer": None,
    "trainable_lemmatizer": EditTreeLemmatizer,
    "attribute_ruler": AttributeRuler,
    "entity_ruler": EntityRuler,
    "span_ruler": SpanRuler,
}

#: Maximum bytes of an output: half of the 32 MB above which glibc maps new pages for
#: each array.
MAX_BYTES = 2**24
#: Assumed number of tokens per text.
_TOKENS = 16

_TOKENIZER, _OUR_TOKENIZER = "spacy.Tokenizer.v1", "spacy-hashembeds.Tokenizer.v1"
_NAME = "@architectures"
_EMBED, _ENCODER = "spacy.MultiHashEmbed.v2", "spacy.MaxoutWindowEncoder.v2"
_TOK2VEC = "spacy.Tok2Vec.v2"
#: spaCy's embedders and encoders without a faster equivalent.
_IRREPLACEABLE = ("CharacterEmbed", "MishWindowEncoder", "TorchBiLSTMEncoder")
#: Version 1 has the tree and seeds of version 2, except embedders with static vectors.
_SPACY_LAYERS = re.compile(
    r"spacy(-legacy)?\.(MultiHashEmbed|HashEmbedCNN|MaxoutWindowEncoder|"
    rf"{'|'.join(_IRREPLACEABLE)})\.v[12]"
)
#: Version 1 passes all Docs to the encoder in one array; version 2 has the same tree.
_OLD_TOK2VEC = re.compile(r"spacy(-legacy)?\.Tok2Vec\.v1")
_VECTORS = {
    "MultiHashEmbed": "include_static_vectors",
    "HashEmbedCNN": "pretrained_vectors",
}


def list_low_precisions() -> list[str]:
    """Find the supported precisions other than float32."""
    return [name for name in PRECISIONS[1:] if find_lacking(name) is None]


def find_convertible(
    config: Config, precision: Precision = None
) -> tuple[list[str], dict[str, str]]:
    """Find the places of layers to convert, including our encoders with another
    precision; and the places of spaCy's other layers, with the reasons.
    """
    places, left = [], {}
    blocks = find_architectures(config)
    for place, block in blocks.items():
        if _SPACY_LAYERS.fullmatch(block[_NAME]):
            why = _explain_kept(block, blocks.get(place.rpartition(".")[0], {}))
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
    """Find the components to replace, with our factories; and the places of others,
    with the reasons. Blocks with a `source` are kept.
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
            elif matcher is None or len(matcher):  # not a ruler of phrases only
                left[f"components.{name}"] = (
                    "its class is not spaCy's, or its token patterns can't be cached"
                )
    return found, left


def find_batch_size(nlp: Language) -> int | None:
    """Find the batch size at which the widest layer's output, such as a tagger's with
    thousands of classes, has `MAX_BYTES`. None if the current one is not larger.
    """
    layers = (node for _, node in walk_layers(nlp) if node.has_param("W"))
    widths = [node.get_dim("nO") for node in layers if node.has_dim("nO")]
    most = max(1, MAX_BYTES // (4 * _TOKENS * max(widths, default=1)))
    return most if most < nlp.batch_size else None


def check_precision(config: Config, precision: str | None) -> None:
    """Check that a precision is supported here, and that a config has encoders."""
    if precision in (None, AUTO, "float32"):
        return
    names = [block[_NAME] for block in find_architectures(config).values()]
    lacking = find_lacking(precision)
    if OUR_ENCODER not in names or lacking:
        reason = f"needs {lacking}" if lacking else "is only for window encoders"
        raise ValueError(
            f"'precision' should be 'float32', but is {precision!r}, which {reason}. "
            "See `spacy hashembeds doctor`."
        )


def explain_unconverted(nlp: Language, config: Config, *, blas: bool) -> dict[str, str]:
    """Find the layers and components to keep, with the reasons."""
    left = find_replacements(nlp, config)[1] | find_convertible(config)[1]
    callback = config["nlp"].get("after_pipeline_creation") or {"@callbacks": BLAS}
    if blas and (name := callback["@callbacks"]) != BLAS:
        left["nlp.after_pipeline_creation"] = f"{name} is set instead of {BLAS}"
    return left


def convert_config(
    nlp: Language, config: Config, *, blas: bool, precision: Precision = None
) -> tuple[Config, list[str]]:
    """Return a copy of a config with our layers, components and tokenizer, a smaller
    batch size if the widest layer needs one and, with `blas`, our callback if none is
    set; and the config paths that were changed.
    """
    converted = convert_layers(config, precision)
    changed, _ = find_convertible(config, precision)
    for name, factory in find_replacements(nlp, config)[0].items():
        converted["components"][name]["factory"] = factory
        changed.append(f"components.{name}")
    settings, new = converted["nlp"], dict[str, Any]()
    tokenizer = settings.get("tokenizer") or {}
    # keep custom tokenizers and those of languages
    if type(nlp.tokenizer) is Tokenizer and tokenizer.get("@tokenizers") == _TOKENIZER:
        new["tokenizer"] = {**tokenizer, "@tokenizers": _OUR_TOKENIZER}
    if (batch_size := find_batch_size(nlp)) is not None:
        new["batch_size"] = batch_size
    if blas and not settings.get("after_pipeline_creation"):
        new["after_pipeline_creation"] = {"@callbacks": BLAS}
    settings.update(new)
    return converted, [*changed, *(f"nlp.{name}" for name in new)]


def convert_layers(config: Config, precision: Precision = None) -> Config:
    """Return a copy of a config with our layers.

    A HashEmbedCNN becomes a Tok2Vec with two layers. If any layer is converted,
    variables in, or referring to, components are replaced by their values.
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
    # not deepcopy, which would keep objects shared by several variables
    config["components"] = Config().from_str(plain.to_str())["components"]
    for parts, value in [*walk_dict(config)]:
        if isinstance(value, str) and "${components." in value:
            place = ".".join(parts)
            set_dot_to_object(config, place, dot_to_object(plain, place))


def write_out_cnn(raw: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Tok2Vec block for a HashEmbedCNN's raw and resolved block."""
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
        "encode": {_NAME: _ENCODER, **{key: raw[key] for key in ENCODER_ARGUMENTS}},
    }


def _kind(block: Mapping[str, Any]) -> str:
    return block[_NAME].split(".")[1]


def _explain_kept(block: Mapping[str, Any], above: Mapping[str, Any]) -> str | None:
    """Explain why a layer can't be converted, given its and the enclosing block."""
    name, kind = block[_NAME], _kind(block)
    if kind in _IRREPLACEABLE:
        return f"there is no faster layer that equals {name}"
    is_old, has_vectors = name.endswith(".v1"), kind in _VECTORS
    if is_old and not has_vectors and not _OLD_TOK2VEC.match(above.get(_NAME, "")):
        return f"{name} takes all Docs in one array, unless in a spacy.Tok2Vec.v1"
    if is_old and has_vectors and block[_VECTORS[kind]]:
        return f"{name} uses the last vector for words without one"
    try:
        registry.resolve({"model": _convert(block)})
    except ValueError as e:
        return f"{name} has unsupported settings: {e}"
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
