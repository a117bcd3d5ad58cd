"""Damage that hypothesis draws: to bytes, lines, values in a structure, and arrays."""

import json
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import srsly
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.extra.numpy import from_dtype
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray

#: Draws what becomes of the bytes of a file.
Damage = Callable[[DrawFn, bytes], bytes]

_PIECES = (b"\0", b"\xff", b"\n", b"\r", b"\t", b'"', b"}", b"\xc1", b"\xef\xbb\xbf")
_WORDS = (b"", b"O", b"B-X", b"I-", b"*", b"(X*", b"*)", b"word", b"\xff")
_STARTS = (b"# ", b"#begin document\n", b"-DOCSTART- ", b" \n", b"\xc2\xa0\n")
_ENDS = (b"", b"\r", b"\r\n", b"\x0b", b"\0\n")
_MARK = "@@trap@@"
_CANT_ENCODE = (
    *(ValueError, TypeError, AttributeError, LookupError, ArithmeticError),
    *(RecursionError, struct.error),
)
_SIZES = (0, 1, 2, 4, 8, 64, 2048)
_EDGES = st.sampled_from((np.nan, np.inf, -np.inf, -1e38))
_DTYPES = ("float64", "float16", "int32", "int64", "uint8", "bool", "complex64")

#: Those that msgpack can write: JSON and YAML have larger ones among their traps.
_NUMBERS = st.one_of(
    st.sampled_from((-1, 0, 1, 2, 3, 5, 2**31, 2**32, 2**63 - 1, -(2**63), 1.5, -0.5)),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
)
_TEXTS = st.one_of(
    st.sampled_from(("", "x", "NORM", "../x", "é\u2028\U0001f600", "\0", "a\nb")),
    st.text(max_size=3),
    st.just("x" * 100_000),
)
_ANY = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXTS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(_TEXTS, inner, max_size=2)
    ),
    max_leaves=3,
)

#: Valid in JSON, and a trap all the same.
_JSON_TRAPS = (
    *("[" * 10**5, "[" * 10**5 + "]" * 10**5, '{"a":' * 50_000 + "1" + "}" * 50_000),
    *("9" * 5000, "-1e400", "1e400", "NaN", "-Infinity", '"\\ud800"', '"\\u0000"'),
    *('{"a": 1, "a": 2}', '"' + "x" * 10**6 + '"'),
)
#: Values of YAML that JSON has not.
_YAML_TRAPS = (
    *("&a [*a]", "&a {k: *a}", "&a {k: {m: *a}}", "{<<: 1}", "*nowhere", "!unknown x"),
    *("!!python/object/apply:os.getcwd []", "!!binary aGk=", "!!set {a, b}"),
    *("!!omap [a: 1]", "2001-01-01", "2001-01-01T00:00:00Z", "0x10", "1_000", "1e400"),
    *(".nan", "-.inf", "yes", "~", "9" * 5000, "[" * 3000 + "]" * 3000, "[" * 3000),
    *("{a: 1, a: 2}", "{? [x] : 1}", "{1: 2}", "{null: 1}", "'x", "x" * 10**6),
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
    place = draw(st.integers(0, len(columns) - 1))
    word = draw(st.sampled_from(_WORDS))
    changed = [
        separator.join([*columns[:place], *new, *columns[place + 1 :]])
        for new in ([word], [], [word, columns[place]])
    ]
    longer = [b"", 2 * line, 1000 * line, 10_000 * bare + b"\n"]
    begun = [start + line for start in (*_STARTS, *_PIECES)]
    ended = [bare + end for end in _ENDS]
    ways = st.sampled_from([changed, changed, longer, begun, ended])
    lines[number] = draw(st.sampled_from(draw(ways)))
    return b"".join(lines)


def damage_json(draw: DrawFn, data: bytes) -> bytes:
    """Change a value in JSON."""
    return _damage_tree(draw, json.loads(data), _JSON_TRAPS)


def damage_yaml(draw: DrawFn, data: bytes) -> bytes:
    """Change a value in YAML, which is JSON then, or a line."""
    if draw(st.booleans()):
        return damage_lines(draw, data)
    return _damage_tree(draw, srsly.yaml_loads(data.decode("utf8")), _YAML_TRAPS)


def damage_jsonl(draw: DrawFn, data: bytes) -> bytes:
    """Change a value in one of the lines of JSON, or lines."""
    if draw(st.booleans()):
        return damage_lines(draw, data)
    lines = data.splitlines()
    number = draw(st.integers(0, len(lines) - 1))
    lines[number] = damage_json(draw, lines[number]).replace(b"\n", b" ")
    return b"\n".join(lines) + b"\n"


def _damage_tree(draw: DrawFn, data: Any, traps: Sequence[str]) -> bytes:
    if draw(st.integers(0, 2)):
        return write(_dump, damage_value(draw, data))
    trap = draw(st.sampled_from(traps)).encode()
    return _dump(_put(draw, data, lambda _: _MARK)).replace(f'"{_MARK}"'.encode(), trap)


def _dump(data: Any) -> bytes:
    return json.dumps(data, indent=1, ensure_ascii=False).encode()


def write(encode: Callable[[Any], bytes], value: Any) -> bytes:
    """Encode a value, or give the case up if the format can't write it."""
    try:
        return encode(value)
    except _CANT_ENCODE:
        reject()


def damage_value(draw: DrawFn, data: Any) -> Any:
    """Change one value somewhere in a structure, which is left as it was."""
    return _put(draw, data, lambda value: _change(draw, value))


def _put(draw: DrawFn, data: Any, make: Callable[[Any], Any]) -> Any:
    """Put something that is made of it in the place of one value."""
    keys = _list_keys(data)
    # what holds others is changed itself in a quarter of the cases
    if not keys or not draw(st.integers(0, 3)):
        return make(data)
    changed, key = data.copy(), draw(st.sampled_from(keys))
    changed[key] = _put(draw, data[key], make)
    return changed


def _list_keys(data: Any) -> list[Any]:
    """List the keys of a mapping and the places of a list; nothing else has any."""
    if isinstance(data, dict):
        return [*data]
    return [*range(len(data))] if isinstance(data, list) else []


def _change(draw: DrawFn, value: Any) -> Any:
    """Change a value, mostly to one that is much like it."""
    if not draw(st.integers(0, 4)):
        return draw(_ANY)
    if isinstance(value, np.ndarray):
        return _damage_array(draw, value)
    if isinstance(value, bytes):
        return damage_bytes(draw, value)
    if isinstance(value, dict | list):
        return _damage_items(draw, value)
    if isinstance(value, int | float):
        alike = st.sampled_from((value + 1, value - 1, -value, 2 * value))
        return draw(alike | _NUMBERS)
    if isinstance(value, str):
        place = draw(st.integers(0, len(value)))
        ways = [f"{value[:place]}{x}{value[place + 1 :]}" for x in ("", "Z", "0", "\0")]
        return draw(st.sampled_from(ways) | _TEXTS)
    return draw(_ANY)


def _damage_items(draw: DrawFn, value: Any) -> Any:
    """Leave out, exchange, rename or add items of a list or mapping, or nest it."""
    is_list, keys = isinstance(value, list), _list_keys(value)
    if not keys:
        return [draw(_ANY)] if is_list else {"x": draw(_ANY)}
    first, second = draw(st.sampled_from(keys)), draw(st.sampled_from(keys))
    exchanged = value.copy()
    exchanged[first], exchanged[second] = value[second], value[first]
    nested = value
    for _ in range(draw(st.sampled_from((1, 100, 600)))):
        nested = [nested]
    if is_list:
        shorter = value[:first] + value[second:]
        added = [*value[:first], draw(_ANY), *value[first:]]
        return draw(st.sampled_from([exchanged, nested, shorter, added, []]))
    without = {k: v for k, v in value.items() if k != first}
    renamed = {**without, f"{first}x": value[first]}
    added = {**value, "x": draw(_ANY)}
    ways = [exchanged, nested, without, without, renamed, added, {}]
    return draw(st.sampled_from(ways))


def _damage_array(draw: DrawFn, array: NDArray) -> NDArray:
    """Change elements of an array, their order, its shape or its dtype."""
    way = draw(st.sampled_from(("elements", "elements", "shape", "dtype")))
    if way == "elements" and array.size:
        return _damage_elements(draw, array)
    if way == "dtype" and array.dtype.kind in "fiub":
        with np.errstate(all="ignore"):
            return array.astype(draw(st.sampled_from(_DTYPES)))
    if not array.ndim:
        return array.reshape(1)
    axis = draw(st.integers(0, array.ndim - 1))
    place = draw(st.integers(0, array.shape[axis]))
    shorter = np.delete(array, slice(place, place + 1), axis)
    longer = np.concatenate([array, array], axis)
    others = [array.T.copy(), array.reshape(-1), array[..., None], array[:0]]
    return draw(st.sampled_from([shorter, longer, *others, array.sum()]))


def _damage_elements(draw: DrawFn, array: NDArray) -> NDArray:
    changed = array.copy()
    flat, places = changed.reshape(-1), st.integers(0, array.size - 1)
    first, second = draw(places), draw(places)
    if array.dtype.kind == "f":  # whatever their order
        flat[first] = draw(from_dtype(array.dtype) | _EDGES)
        return changed
    exchanged, repeated = (flat[second], flat[first]), (flat[first], flat[first])
    other = draw(from_dtype(array.dtype)), flat[second]
    new = draw(st.sampled_from([exchanged, repeated, other]))
    flat[first], flat[second] = new
    return changed
