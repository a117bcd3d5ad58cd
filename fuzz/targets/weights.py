"""The file `model` of our layers, and what a check could see in it."""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import numpy
import srsly
from spacy.attrs import IDS

from ..damage_values import damage_value

Node = Mapping[str, Any]

# One is read when a layer is built alone, one set by the trainer: any value will do.
_FREE = {"column", "dropout_rate"}


_FORMS = (None, "NFC", "NFD", "NFKC", "NFKD")
_TEXTS = (
    *("ORTH", "LOWER", "NORM", "PREFIX", "SUFFIX", "SHAPE", "LEMMA", "POS", "TAG"),
    *("DEP", "MORPH", "ENT_TYPE", "ENT_ID", "ENT_KB_ID", "LANG"),
)


def damage(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Damage a value of a saved model: a parameter, an attribute, a dimension."""
    model = _decode(data)
    if rng.random() < 0.8:
        section, tries = rng.choice(("attrs", "params", "params")), range(100)
        for i in (rng.randrange(len(model[section])) for _ in tries):
            if model[section][i]:
                model[section][i], how = damage_value(model[section][i], rng)
                how = f"{section}/{model['nodes'][i]['name']} {i}/{how}"
                break
    else:
        model, how = damage_value(model, rng)
    return _encode(model), how


def find_fault(original: bytes, damaged: bytes) -> str | None:
    """Say in what a damaged model can't be one that this pipeline was saved as.

    A weight that is another number is none: there is no checksum. Nor is a seed or a
    number of hashes that could be, since both are taken as they were saved.
    """
    good, bad = _decode(original), _decode(damaged)
    try:
        return next(_find_faults(good, bad), None)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        return f"the structure is another ({type(error).__name__})"


def _find_faults(good: Node, bad: Node) -> Iterator[str]:
    for i, (node, other) in enumerate(zip(good["nodes"], bad["nodes"], strict=True)):
        name = node["name"]
        for key in ("dims", "refs"):
            if node[key] != other[key]:
                yield f"{name}: {key}"
        yield from _compare_params(name, good["params"][i], bad["params"][i])
        yield from _compare_attrs(name, good["attrs"][i], bad["attrs"][i])


def _compare_params(name: str, good: Node, bad: Node) -> Iterator[str]:
    if good.keys() != bad.keys():
        yield f"{name}: which parameters there are"
    for key, value in good.items():
        other = bad[key]
        if value is None or other is None:
            if value is not other:
                yield f"{name}: parameter {key} is missing"
        elif not isinstance(other, numpy.ndarray):
            yield f"{name}: parameter {key} is no array"
        elif (value.shape, value.dtype) != (other.shape, other.dtype):
            yield f"{name}: shape or dtype of parameter {key}"
        elif not numpy.isfinite(other).all():
            yield f"{name}: parameter {key} is not finite"


def _compare_attrs(name: str, good: Node, bad: Node) -> Iterator[str]:
    kind = name.partition("(")[0]
    for key in sorted(good.keys() - _FREE):
        if key not in bad:
            # it keeps the value of the config, which knows no symbols
            if key in ("symbols", "ngrams"):
                yield f"{name}: attribute {key} is missing"
        elif not _CAN_BE.get((kind, key), _is_equal)(bad[key], good[key]):
            yield f"{name}: attribute {key}"
    if name == "symbolembed" and bad.get("unk", 0) > len(good["symbols"]):
        yield f"{name}: attribute unk"


def _is_equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(numpy.array_equal(a, b))


def _is_integer(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _is_number(value: Any, low: float, high: float) -> bool:
    return type(value) in (int, float) and low <= value <= high


def _can_be_columns(value: Any, good: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == len(good)
        and all(isinstance(attr, str) and attr in IDS for attr in value)
    )


def _can_be_symbols(value: Any, good: Any) -> bool:
    return (
        isinstance(value, numpy.ndarray)
        and (value.shape, value.dtype) == (good.shape, good.dtype)
        and bool((value[1:] > value[:-1]).all())
    )


def _can_be_ngrams(value: Any, good: Any) -> bool:
    # as many as there were in a corpus, whichever
    is_array = isinstance(value, numpy.ndarray) and value.ndim == 1
    return (
        is_array and value.dtype == good.dtype and bool((value[1:] > value[:-1]).all())
    )


def _can_be_key(value: Any, _: Any) -> bool:
    return value is None or (isinstance(value, str) and 0 < len(value) <= 1000)


_CAN_BE: Mapping[tuple[str, str], Callable[[Any, Any], bool]] = {
    ("hashembed", "seed"): lambda value, _: _is_integer(value, 0, 2**32 - 1),
    ("hashembed", "num_hashes"): lambda value, _: _is_integer(value, 1, 4),
    ("hybridembed", "seed"): lambda value, _: _is_integer(value, 0, 2**32 - 1),
    ("hybridembed", "num_hashes"): lambda value, _: _is_integer(value, 1, 4),
    ("hybridembed", "rows"): lambda value, _: _is_integer(value, 1, 2**32),
    ("hybridembed", "symbols"): _can_be_symbols,
    ("weightedhashembed", "hash_seed"): lambda v, _: _is_integer(v, 0, 2**32 - 1),
    ("weightedhashembed", "same_hash"): lambda value, _: type(value) is bool,
    ("weightedhashembed", "symbols"): _can_be_symbols,
    ("sum_ngrams", "ngram_size"): lambda value, _: _is_integer(value, 1, 100),
    ("sum_ngrams", "shortest"): lambda value, _: _is_integer(value, 1, 2**31),
    ("extract_words", "attr"): lambda v, _: isinstance(v, str) and IDS.get(v, 0) > 0,
    ("extract_words", "include_punctuation"): lambda value, _: type(value) is bool,
    ("softmax", "softmax_temperature"): lambda v, _: _is_number(v, 0.001, 1000),
    ("symbolembed", "unk"): lambda value, _: _is_integer(value, 0, 2**32),
    ("symbolembed", "symbols"): _can_be_symbols,
    ("extract_features", "columns"): _can_be_columns,
    ("with_distinct_words", "attr"): lambda value, _: value in _TEXTS,
    ("lshhasher", "lsh_seed"): lambda value, _: _is_integer(value, 0, 2**64 - 1),
    ("lshhasher", "ngram_size"): lambda value, _: _is_integer(value, 1, 100),
    ("lshhasher", "ngrams"): _can_be_ngrams,
    ("lshhasher", "form"): lambda value, _: value in _FORMS,
    ("md5hasher", "form"): lambda value, _: value in _FORMS,
    ("md5hasher", "md5_key"): _can_be_key,
}


def _decode(data: bytes) -> Any:
    """Read a model, and the attributes in it, each of which is packed on its own."""
    model = srsly.msgpack_loads(data)
    model["attrs"] = [
        {key: srsly.msgpack_loads(value) for key, value in attrs.items()}
        for attrs in model["attrs"]
    ]
    return model


def _encode(model: Any) -> bytes:
    model = {**model}
    model["attrs"] = [
        {key: srsly.msgpack_dumps(value) for key, value in attrs.items()}
        for attrs in model["attrs"]
    ]
    return srsly.msgpack_dumps(model)
