"""Symbol tables for embedders (.npz)."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy
from spacy.attrs import IDS
from spacy.vocab import Vocab

from spacy_hashembeds.architectures.embedders.multi_embed import MultiEmbed
from spacy_hashembeds.symbols import (
    SymbolTables,
    count_values,
    cut_symbols,
    load_symbols,
    save_symbols,
)

from ..damage_bytes import damage_bytes, one_of
from ..damage_values import damage_value
from ..target import Part, Target
from .material import make_docs

_FILE = "symbols.npz"
_ATTRS = ["NORM", "PREFIX", "SHAPE"]
_SHAPES = ((2**40,), (2**62,), (-1,), (0,), (3, 4), (), (10**30,))
_DTYPES = ("<u8", "<f8", "|O", "<U4", "<u1", "<M8[s]", "|V8", ">u8")

Arrays = Mapping[str, numpy.ndarray]


@dataclass(frozen=True)
class Loaded:
    """Tables that were read, and the file that an embedder reads them from."""

    path: Path
    tables: SymbolTables


def _make(folder: Path) -> None:
    counts = count_values(make_docs(Vocab()), _ATTRS)
    save_symbols(folder / _FILE, cut_symbols(counts, min_freq=2, lang=""))


def _load(folder: Path, part: Part) -> Loaded:
    return Loaded(folder / _FILE, load_symbols(folder / _FILE))


def _use(loaded: Loaded) -> Any:
    tables = loaded.tables
    docs = make_docs(Vocab())
    model = MultiEmbed(
        attrs=list(_ATTRS), width=4, tables=loaded.path, include_static_vectors=False
    )
    model.initialize(X=docs)
    model.predict(docs)
    return (
        tables.lang,
        tables.min_freq,
        {
            attr: (table.frequent.tolist(), _list(table.counts), _list(table.rare))
            for attr, table in tables.tables.items()
        },
    )


def _list(array: numpy.ndarray | None) -> list[int] | None:
    return None if array is None else array.tolist()


def _find_fault(part: Part, original: bytes, damaged: bytes, answer: Any) -> str | None:
    arrays = _decode(damaged)
    names = {"lang", "min_freq"}
    for attr in sorted({name.split("/")[-1] for name in arrays if "/" in name}):
        if attr not in IDS:
            return "no token attribute"
        names |= {f"symbols/{attr}", f"counts/{attr}"}
        names |= {f"rare/{attr}"} & arrays.keys()  # a lookup needs none
    if names != arrays.keys():
        return "which arrays there are"
    if arrays["lang"].dtype.kind != "U" or arrays["lang"].shape:
        return "the language is no text"
    if arrays["min_freq"].dtype.kind not in "iu" or arrays["min_freq"].shape:
        return "min_freq is no integer"
    return _find_faulty_table(arrays)


def _find_faulty_table(arrays: Arrays) -> str | None:
    min_freq = int(arrays["min_freq"])
    if min_freq < 1:
        return "min_freq is below 1"
    for name in arrays:
        if name.startswith("counts/"):
            attr = name.removeprefix("counts/")
            fault = _find_faulty_symbols(arrays, attr, min_freq)
            fault = fault or _find_faulty_rare(arrays, attr)
            if fault is not None:
                return fault
    return None


def _find_faulty_symbols(arrays: Arrays, attr: str, min_freq: int) -> str | None:
    symbols, counts = arrays[f"symbols/{attr}"], arrays[f"counts/{attr}"]
    if not _is_column(symbols) or not _is_column(counts, len(symbols)):
        return "another dtype or shape"
    if len(set(symbols.tolist())) < len(symbols):
        return "a symbol is there twice"
    if (counts[1:] > counts[:-1]).any():
        return "counts are not in descending order"
    if (counts < min_freq).any():
        return "a count is below min_freq"
    return None


def _find_faulty_rare(arrays: Arrays, attr: str) -> str | None:
    symbols = arrays[f"symbols/{attr}"]
    rare = arrays.get(f"rare/{attr}", symbols[:0])
    if not _is_column(rare) or (rare[1:] <= rare[:-1]).any():
        return "rare symbols are not in ascending order"
    if set(rare.tolist()) & set(symbols.tolist()):
        return "a symbol is rare and frequent"
    return None


def _is_column(array: numpy.ndarray, size: int | None = None) -> bool:
    shape = (array.size if size is None else size,)
    return array.dtype == "uint64" and array.shape == shape


def _decode(data: bytes) -> dict[str, numpy.ndarray]:
    with numpy.load(io.BytesIO(data), allow_pickle=True) as arrays:
        return dict(arrays)


def _damage_arrays(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Damage an array, or the mapping of names to arrays."""
    arrays, how = damage_value(_decode(data), rng)
    file = io.BytesIO()
    # what is no array any more becomes one of objects, pickled
    numpy.savez_compressed(file, **arrays)
    return file.getvalue(), how


def _damage_header(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Have one array claim another shape or dtype than it has bytes for."""
    members = _read_members(data)
    name = rng.choice(list(members))
    array = numpy.load(io.BytesIO(members[name]))
    header = {
        "descr": rng.choice((array.dtype.str, rng.choice(_DTYPES))),
        "fortran_order": rng.random() < 0.1,
        "shape": rng.choice((array.shape, rng.choice(_SHAPES))),
    }
    file = io.BytesIO()
    numpy.lib.format.write_array_header_1_0(file, header)
    members[name] = file.getvalue() + array.tobytes()
    return _write_members(members), f"{name}: header {header}"


def _damage_member(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Damage the bytes of one array below the checksum of the archive."""
    members = _read_members(data)
    name = rng.choice(list(members))
    members[name], how = damage_bytes(members[name], rng)
    return _write_members(members), f"{name}: {how}"


def _read_members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _write_members(members: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


SYMBOLS = Target(
    name="symbols",
    parts=[
        Part(
            path=_FILE,
            structured=one_of(
                _damage_arrays, _damage_arrays, _damage_header, _damage_member
            ),
        )
    ],
    make=_make,
    load=_load,
    use=_use,
    find_fault=_find_fault,
)
