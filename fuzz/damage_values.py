"""Damage to data in a structure: lists, mappings, numbers, text and arrays."""

import copy
import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy

from .damage_bytes import damage_bytes

Path = tuple[Any, ...]

_INTEGERS = (
    0,
    -1,
    1,
    2,
    3,
    5,
    255,
    2**31 - 1,
    2**31,
    2**32,
    2**63 - 1,
    2**64 - 1,
    -(2**63),
)
_FLOATS = (0.5, -0.0, -0.5, 1.5, 1e308, 5e-324, math.nan, math.inf, -math.inf)
_TEXTS = (
    "",
    "x",
    "NORM",
    "../x",
    "a|b",
    "é\u2028\U0001f600",
    "\x00",
    "a\nb",
    "x" * 100_000,
)
_OTHERS: tuple[Any, ...] = (
    None,
    True,
    False,
    "",
    "x",
    [],
    {},
    [[]],
    {"x": 1},
    ["NORM"],
    -1,
    0,
    1.5,
)
_DTYPES = (
    "float64",
    "float16",
    "int32",
    "int64",
    "uint8",
    "uint32",
    "bool",
    "complex64",
)


def damage_value(data: Any, rng: Random) -> tuple[Any, str]:
    """Damage one value somewhere in a structure.

    data (Any): Lists and mappings of anything. It is left as it was.
    RETURNS (tuple[Any, str]): The structure with the damage, and what it is.
    """
    return change_value(data, rng, _damage)


def change_value(
    data: Any, rng: Random, change: Callable[[Any, Random], Any]
) -> tuple[Any, str]:
    """Change one value somewhere in a structure.

    change (Callable[[Any, Random], Any]): Gives what comes into the value's place.
    """
    paths = list(_walk(data, ()))
    path = rng.choice(paths)
    holder = root = [copy.deepcopy(data)]
    key: Any = 0
    for step in path:
        holder, key = holder[key], step
    old = holder[key]
    holder[key] = change(old, rng)
    where = "/".join(map(str, path)) or "all"
    return root[0], f"{where}: {_show(old)} to {_show(holder[key])}"


def _walk(data: Any, path: Path) -> Iterator[Path]:
    yield path
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _walk(value, (*path, key))
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from _walk(value, (*path, i))


def _damage(value: Any, rng: Random) -> Any:
    for kind, damage in _BY_KIND.items():
        if isinstance(value, kind) and rng.random() < 0.8:
            return damage(value, rng)
    return copy.deepcopy(rng.choice(_OTHERS))


def _damage_number(value: float, rng: Random) -> Any:
    return rng.choice(
        (rng.choice(_INTEGERS), rng.choice(_FLOATS), value + 1, value - 1)
    )


def _damage_text(value: str, rng: Random) -> Any:
    if not value or rng.random() < 0.5:
        return rng.choice(_TEXTS)
    i = rng.randrange(len(value))
    return value[:i] + rng.choice(("", "Z", "0", " ", "\x00", "é")) + value[i + 1 :]


def _damage_bytes(value: bytes, rng: Random) -> Any:
    return damage_bytes(value or b"\x00", rng)[0]


def _damage_list(value: list, rng: Random) -> Any:
    i = rng.randrange(len(value) + 1)
    j = rng.randrange(len(value) + 1)
    item = copy.deepcopy(rng.choice(_OTHERS))
    return rng.choice(
        (
            value[:i] + value[i + 1 :],
            value[:i] + value[j:],
            value[:i] + value[i : i + 1] + value[i:],
            value[::-1],
            [],
            [*value[:i], item, *value[i:]],
            _nest(value, rng),
        )
    )


def _nest(value: Any, rng: Random) -> Any:
    for _ in range(rng.choice((1, 2, 100, 600))):
        value = [value]
    return value


def _damage_mapping(value: dict, rng: Random) -> Any:
    if not value:
        return {"x": 1}
    first, second = rng.choice(list(value)), rng.choice(list(value))
    item = copy.deepcopy(rng.choice(_OTHERS))
    return rng.choice(
        (
            {k: v for k, v in value.items() if k != first},
            {(f"{k}x" if k == first else k): v for k, v in value.items()},
            {**value, first: value[second], second: value[first]},
            {**value, "x": item},
            {},
            _nest(value, rng),
        )
    )


def _damage_array(array: numpy.ndarray, rng: Random) -> numpy.ndarray:
    change = rng.choice(
        (_set_elements, _set_elements, _reshape, _change_dtype, _reorder)
    )
    with numpy.errstate(all="ignore"):
        return change(array, rng)


def _set_elements(array: numpy.ndarray, rng: Random) -> numpy.ndarray:
    array = array.copy()
    if not array.size:
        return numpy.zeros((1, *array.shape[1:]), array.dtype)
    flat = array.reshape(-1)
    for _ in range(rng.choice((1, 1, array.size))):
        i = rng.randrange(array.size)
        if array.dtype.kind == "f":
            flat[i] = rng.choice(_FLOATS)
        elif array.dtype.kind in "iu":
            flat[i] = numpy.array(rng.choice(_INTEGERS) % 2**64, "uint64").astype(
                array.dtype
            )
        else:
            flat[i] = flat[rng.randrange(array.size)]
    return array


def _reshape(array: numpy.ndarray, rng: Random) -> numpy.ndarray:
    if not array.ndim:
        return array.reshape(1)
    axis = rng.randrange(array.ndim)
    i = rng.randrange(array.shape[axis] + 1)
    return rng.choice(
        (
            lambda: numpy.delete(array, slice(i, i + 1), axis),
            lambda: numpy.concatenate([array, array], axis),
            lambda: numpy.repeat(array[:1], len(array) + 1, 0),
            lambda: array.T.copy(),
            lambda: array.reshape(-1),
            lambda: array[None],
            lambda: array[..., None],
            lambda: array[:0],
            lambda: array.reshape(-1)[0] if array.size else array[None],
        )
    )()


def _change_dtype(array: numpy.ndarray, rng: Random) -> numpy.ndarray:
    return array.astype(rng.choice(_DTYPES)) if array.dtype.kind in "fiub" else array


def _reorder(array: numpy.ndarray, rng: Random) -> numpy.ndarray:
    if not array.size:
        return array[None]
    flat = list(array.reshape(-1))
    i, j = rng.randrange(len(flat)), rng.randrange(len(flat))
    if rng.random() < 0.5:
        flat[i] = flat[j]
    else:
        rng.shuffle(flat)
    return numpy.array(flat, array.dtype).reshape(array.shape)


def _show(value: Any) -> str:
    if isinstance(value, numpy.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


# bool before int, which it is too
_BY_KIND: dict[type | tuple[type, ...], Callable[[Any, Random], Any]] = {
    (int, float): _damage_number,
    str: _damage_text,
    bytes: _damage_bytes,
    list: _damage_list,
    dict: _damage_mapping,
    numpy.ndarray: _damage_array,
}
