"""Damaged corpora (.spacy) and symbol tables (.npz)."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_hashembeds.architectures.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.symbols import load_symbols, save_symbols
from spacy_hashembeds.tools.analyze.statistics import StatisticsCounter
from spacy_hashembeds.training.counting import count_values, cut_symbols
from spacy_hashembeds.training.docbin import read_docs

from .damage import damage_bytes, damage_value, write
from .judgement import Reader, make_test
from .sentences import make_docs

_ATTRS = ["NORM", "PREFIX", "SHAPE"]
_SHAPES = ((2**40,), (2**62,), (-1,), (0,), (3, 4), (), (10**30,))
_DTYPES = ("<u8", "<f8", "|O", "<U4", "<u1", "<M8[s]", "|V8", ">u8")


def _load_docs(path: Path) -> list[Doc]:
    return [*read_docs(path, Vocab())]


def _use_corpus(docs: list[Doc]) -> Any:
    StatisticsCounter(docs).get_statistics()
    assert all(ent.text for doc in docs for ent in doc.ents)
    return [doc.to_bytes() for doc in docs]


def _make_corpus(folder: Path) -> Reader:
    docs = make_docs()
    for i, doc in enumerate(docs):
        doc.cats = {"news": i / 4}
        doc.user_data["source"] = f"line {i}"
    docs[0].spans["rivers"] = [docs[0][1:3]]
    path = folder / "train.spacy"
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return Reader(path, damage_bytes, _load_docs, use=_use_corpus)


def _read_arrays(data: bytes) -> dict[str, NDArray]:
    with np.load(io.BytesIO(data), allow_pickle=True) as arrays:
        return dict(arrays)


def _write_arrays(arrays: Mapping[str, NDArray]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # what is no array becomes one, pickled
    return file.getvalue()


def _damage_symbols(draw: DrawFn, data: bytes) -> bytes:
    """Change an array, or bytes or header of one below the archive's checksums."""
    if draw(st.booleans()):
        return write(_write_arrays, damage_value(draw, _read_arrays(data)))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = draw(st.sampled_from([*members]))
    damage = draw(st.sampled_from((damage_bytes, _damage_header)))
    members[name] = damage(draw, members[name])
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def _damage_header(draw: DrawFn, data: bytes) -> bytes:
    """Have an array claim another shape or dtype than it has bytes for."""
    array = np.load(io.BytesIO(data))
    header = {
        "descr": draw(st.sampled_from((array.dtype.str, *_DTYPES))),
        "fortran_order": draw(st.booleans()),
        "shape": draw(st.sampled_from((array.shape, *_SHAPES))),
    }
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + array.tobytes()


def _load_symbols(path: Path) -> tuple[Path, Any]:
    return path, load_symbols(path)


def _use_symbols(loaded: tuple[Path, Any]) -> Any:
    path, found = loaded
    docs = make_docs()
    model = MultiEmbed(attrs=_ATTRS, width=4, tables=path, include_static_vectors=False)
    model.initialize(X=docs)
    model.predict(docs)
    shown = {name: [*map(repr, table)] for name, table in found.tables.items()}
    return found.lang, found.min_freq, shown


def _make_symbols(folder: Path) -> Reader:
    counts = count_values(make_docs(), _ATTRS)
    tables = cut_symbols(counts, min_freq=2, lang="")
    path = folder / "symbols.npz"
    save_symbols(path, tables)
    return Reader(path, _damage_symbols, _load_symbols, use=_use_symbols)


_READERS = {
    "corpus": _make_corpus,
    "symbols": _make_symbols,
}
test_arrays = make_test(_READERS, 0.5)
