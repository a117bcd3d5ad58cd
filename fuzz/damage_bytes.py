"""Damage to any file: its bytes, or its lines."""

import struct
from collections.abc import Callable
from functools import partial
from random import Random

from .target import Damage

_INTEGERS = (0, 1, 127, 128, 255, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)
_FLOATS = (0.0, -0.0, 1e-45, 1e38, float("nan"), float("inf"), float("-inf"))
_PIECES = (
    b"\x00",
    b"\xff",
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b'"',
    b"}",
    b"\xc1",
    b"\xef\xbb\xbf",
)


def damage_bytes(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Damage bytes in one of the ways that any file may be."""
    damage = rng.choice(ON_BYTES)
    return damage(data, rng), damage.__name__.strip("_").replace("_", " ")


def damage_lines(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Damage the lines of a text file, or one of the words in them."""
    lines = data.splitlines(keepends=True)
    number = rng.randrange(len(lines))
    damage = rng.choice(ON_LINES)
    lines[number : number + 1] = damage(lines[number], rng)
    name = damage.__name__.strip("_").replace("_", " ")
    return b"".join(lines), f"{name}, line {number + 1}"


def one_of(*damages: Damage) -> Damage:
    """Make what damages in one of several ways. As all damage, it can be pickled."""
    return partial(_damage_by_one, damages)


def _damage_by_one(
    damages: tuple[Damage, ...], data: bytes, rng: Random
) -> tuple[bytes, str]:
    return rng.choice(damages)(data, rng)


def _cut(data: bytes, rng: Random) -> tuple[int, int]:
    """Choose a chunk, a short one more often than a long one."""
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + 2 ** rng.randrange(12))


def _flip_bits(data: bytes, rng: Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8, 64))):
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def _truncate(data: bytes, rng: Random) -> bytes:
    return data[: rng.choice((0, 1, len(data) - 1, rng.randrange(len(data))))]


def _insert(data: bytes, rng: Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    piece = rng.choice((*_PIECES, rng.randbytes(2 ** rng.randrange(8))))
    return data[:start] + piece + data[start:]


def _delete(data: bytes, rng: Random) -> bytes:
    start, stop = _cut(data, rng)
    return data[:start] + data[stop:]


def _duplicate_chunk(data: bytes, rng: Random) -> bytes:
    start, stop = _cut(data, rng)
    return data[:stop] + data[start:]


def _swap_chunks(data: bytes, rng: Random) -> bytes:
    a, b, c, d = sorted(rng.randrange(len(data) + 1) for _ in range(4))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def _zero_block(data: bytes, rng: Random) -> bytes:
    start, stop = _cut(data, rng)
    return data[:start] + bytes(stop - start) + data[stop:]


def _set_edge_number(data: bytes, rng: Random) -> bytes:
    order = rng.choice("<>")
    if rng.random() < 0.5:
        number = struct.pack(order + rng.choice("fd"), rng.choice(_FLOATS))
    else:
        size = rng.choice((1, 2, 4, 8))
        value = rng.choice(_INTEGERS) % 256**size
        number = value.to_bytes(size, "little" if order == "<" else "big")
    start = rng.randrange(len(data))
    return data[:start] + number + data[start + len(number) :]


def _leave_out(line: bytes, rng: Random) -> list[bytes]:
    return []


def _repeat(line: bytes, rng: Random) -> list[bytes]:
    return [line] * rng.choice((2, 2, 1000))


def _put_blank_before(line: bytes, rng: Random) -> list[bytes]:
    return [rng.choice((b"\n", b" \n", b"\t\n", b"\r\n", b"\xc2\xa0\n")), line]


def _end_otherwise(line: bytes, rng: Random) -> list[bytes]:
    return [line.rstrip(b"\n") + rng.choice((b"", b"\r", b"\r\n", b"\x0b", b"\x00\n"))]


def _put_before(line: bytes, rng: Random) -> list[bytes]:
    return [rng.choice((*_PIECES, b"# ", b"#begin document\n", b"-DOCSTART- ")) + line]


def _change_column(line: bytes, rng: Random) -> list[bytes]:
    columns = line.split(b"\t") if b"\t" in line else line.split(b" ")
    number = rng.randrange(len(columns))
    word = rng.choice((b"", b"O", b"B-X", b"I-", b"*", b"(X*", b"*)", b"word", b"\xff"))
    columns[number : number + 1] = rng.choice(([word], [], [word, columns[number]]))
    return [(b"\t" if b"\t" in line else b" ").join(columns)]


def _lengthen(line: bytes, rng: Random) -> list[bytes]:
    return [line.rstrip(b"\n") * 10 ** rng.randrange(1, 5) + b"\n"]


ON_BYTES: tuple[Callable[[bytes, Random], bytes], ...] = (
    _flip_bits,
    _truncate,
    _insert,
    _delete,
    _duplicate_chunk,
    _swap_chunks,
    _zero_block,
    _set_edge_number,
)
ON_LINES: tuple[Callable[[bytes, Random], list[bytes]], ...] = (
    _leave_out,
    _repeat,
    _put_blank_before,
    _end_otherwise,
    _put_before,
    _change_column,
    _lengthen,
)
