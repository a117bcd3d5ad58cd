"""Strategies of hypothesis that damage bytes, lines, nested values and arrays."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import from_dtype
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray

#: Draws damaged bytes of a file.
Damage = Callable[[DrawFn, bytes], bytes]

_PIECES = (b"\0", b"\xff", b"\n", b"\r", b"\t", b'"', b"}", b"\xc1", b"\xef\xbb\xbf")
_WORDS = (b"", b"O", b"B-X", b"I-", b"*", b"word", b"\xff")
_STARTS = (b"# ", b"-DOCSTART- ", b" \n", b"\xc2\xa0\n", *_PIECES)
_ENDS = (b"", b"\r", b"\r\n", b"\x0b", b"\0\n")
_SIZES = (0, 1, 4, 8, 64, 2048)
_DTYPES = ("float64", "float16", "int32", "int64", "uint8", "bool", "complex64")

#: Numbers that msgpack can write.
_NUMBERS = st.one_of(
    st.sampled_from((-1, 0, 1, 2, 3, 2**31, 2**32, 2**63 - 1, -(2**63), -0.5)),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
)
_TEXTS = st.one_of(
    st.sampled_from(("", "NORM", "../x", "é\u2028\U0001f600", "\0", "x" * 100_000)),
    st.text(max_size=3),
)
_ANY = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXTS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(_TEXTS, inner, max_size=2)
    ),
    max_leaves=3,
)

#: JSON that is valid, or that parsers accept, but that readers often fail on.
_JSON_TRAPS = (
    *("[" * 10**5, "[" * 10**5 + "]" * 10**5, '{"a":' * 50_000 + "1" + "}" * 50_000),
    *("9" * 5000, "-1e400", "NaN", "-Infinity", '"\\ud800"', '"\\u0000"'),
    *('{"a": 1, "a": 2}', '"' + "x" * 10**6 + '"'),
)


def damage_bytes(draw: DrawFn, data: bytes) -> bytes:
    """Flip bits of a byte, or leave out, repeat or replace some bytes."""
    start = draw(st.integers(0, len(data)))
    if start < len(data) and draw(st.booleans()):
        flipped = bytes([data[start] ^ draw(st.integers(1, 255))])
        return data[:start] + flipped + data[start + 1 :]
    chunk = data[start : start + draw(st.sampled_from((*_SIZES, len(data))))]
    kept = st.sampled_from((b"", 2 * chunk, bytes(len(chunk)), *_PIECES))
    return data[:start] + draw(kept | st.binary()) + data[start + len(chunk) :]


def damage_lines(draw: DrawFn, data: bytes) -> bytes:
    """Leave out a line, repeat or lengthen it, or change its columns or ends."""
    lines = data.splitlines(keepends=True)
    number = draw(st.integers(0, len(lines) - 1))
    line = lines[number]
    bare, separator = line.rstrip(b"\n"), b"\t" if b"\t" in line else b" "
    columns = line.split(separator)
    columns[draw(st.integers(0, len(columns) - 1))] = draw(st.sampled_from(_WORDS))
    ways = [
        st.just(separator.join(columns)),
        st.sampled_from((b"", 2 * line, 10_000 * bare + b"\n")),
        st.sampled_from(_STARTS).map(lambda start: start + line),
        st.sampled_from(_ENDS).map(lambda end: bare + end),
    ]
    lines[number] = draw(st.one_of(ways))
    return b"".join(lines)


def damage_jsonl(draw: DrawFn, data: bytes) -> bytes:
    """Change a value in one of the lines of JSON, or damage lines."""
    if draw(st.booleans()):
        return damage_lines(draw, data)
    lines = data.splitlines()
    number = draw(st.integers(0, len(lines) - 1))
    value, trap = json.loads(lines[number]), draw(st.sampled_from(_JSON_TRAPS))
    if draw(st.booleans()):
        lines[number] = _dump(damage_value(draw, value))
    else:
        key = draw(st.sampled_from([*value]))
        lines[number] = _dump({**value, key: "@"}).replace(b'"@"', trap.encode())
    return b"\n".join(lines) + b"\n"


def _dump(value: Any) -> bytes:
    return json.dumps(value, default=str).encode("utf8")


def damage_value(draw: DrawFn, value: Any) -> Any:
    """Return a copy of a structure with one changed value, in most cases similar."""
    keys = [*value] if isinstance(value, dict) else []
    keys = [*range(len(value))] if isinstance(value, list) else keys
    key = draw(st.sampled_from(keys)) if keys else None
    # change the container itself in a quarter of the cases
    if keys and draw(st.integers(0, 3)):
        changed = value.copy()
        changed[key] = damage_value(draw, value[key])
        return changed
    ways = [_ANY]
    if isinstance(value, np.ndarray):
        ways = 4 * [st.composite(_damage_array)(value)] + ways
    elif isinstance(value, bytes):
        ways = 4 * [st.composite(damage_bytes)(value)] + ways
    elif isinstance(value, dict) and keys:  # left out, renamed, added
        without = {k: v for k, v in value.items() if k != key}
        renamed, added = {**without, f"{key}x": value[key]}, {**value, "x": 1}
        ways += map(st.just, ({}, without, renamed, added))
    elif keys:
        nested = [value]
        for _ in range(draw(st.sampled_from((0, 100, 600)))):
            nested = [nested]
        ways += map(st.just, ([], nested, value[1:], [*value, value[0]]))
    elif isinstance(value, int | float):
        ways += [st.sampled_from((value + 1, value - 1, -value)), _NUMBERS]
    return draw(st.one_of(ways))


def _damage_array(draw: DrawFn, array: NDArray) -> NDArray:
    """Change elements of an array, their order, its shape or its dtype."""
    way = draw(st.sampled_from(("elements", "elements", "shape", "dtype")))
    if way == "elements" and array.size:
        changed, places = array.reshape(-1).copy(), st.integers(0, array.size - 1)
        first, second = draw(places), draw(places)
        changed[second] = changed[first]
        edges = (np.nan, np.inf, -1e38) if array.dtype.kind == "f" else (0,)
        changed[first] = draw(from_dtype(array.dtype) | st.sampled_from(edges))
        return changed.reshape(array.shape)
    if way == "dtype" and array.dtype.kind in "fiub":
        with np.errstate(all="ignore"):
            return array.astype(draw(st.sampled_from(_DTYPES)))
    if not array.ndim:
        return array.reshape(1)
    axis = draw(st.integers(0, array.ndim - 1))
    shorter, longer = (
        np.delete(array, slice(1), axis),
        np.concatenate([array, array], axis),
    )
    others = [array.T.copy(), array.reshape(-1), array[..., None], array[:0]]
    return draw(st.sampled_from([shorter, longer, *others]))
