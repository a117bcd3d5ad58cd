"""Damaged corpora and predictions (.spacy), and symbol tables (.npz)."""

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import srsly
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray
from spacy.attrs import DEP, ENT_IOB, ENT_TYPE, IDS, LEMMA, ORTH, TAG
from spacy.strings import StringStore
from spacy.tokens import Doc, DocBin, SpanGroup
from spacy.vocab import Vocab

from spacy_hashembeds.analysis.statistics import StatisticsCounter
from spacy_hashembeds.architectures.embedders.multi_embed import MultiEmbed
from spacy_hashembeds.corpora.docbin import entity_texts, read_docs
from spacy_hashembeds.evaluation.evaluate import evaluate
from spacy_hashembeds.symbols import (
    count_values,
    cut_symbols,
    load_symbols,
    save_symbols,
)

from .damage import damage_bytes, damage_value, write
from .judgement import Reader, make_test
from .sentences import make_docs

_KEY = "ents"
_ARRAYS = {"tokens": "uint64", "spaces": "bool", "lengths": "int32"}
#: Attributes whose values are the hashes of strings that have always been in the file.
_STRINGS = (ORTH, LEMMA, TAG, DEP, ENT_TYPE)
_ATTRS = ["NORM", "PREFIX", "SHAPE"]
_SHAPES = ((2**40,), (2**62,), (-1,), (0,), (3, 4), (), (10**30,))
_DTYPES = ("<u8", "<f8", "|O", "<U4", "<u1", "<M8[s]", "|V8", ">u8")


def _unpack(data: bytes) -> dict[str, Any]:
    return srsly.msgpack_loads(zlib.decompress(data))


def _pack(content: dict[str, Any]) -> bytes:
    arrays = {k: v.tobytes() for k, v in content.items() if isinstance(v, np.ndarray)}
    return zlib.compress(srsly.msgpack_dumps({**content, **arrays}))


def _damage_docs(draw: DrawFn, data: bytes) -> bytes:
    """Change a value, in the arrays of a corpus too."""
    content = _unpack(data)
    content |= {key: np.frombuffer(content[key], _ARRAYS[key]) for key in _ARRAYS}
    content["tokens"] = content["tokens"].reshape(-1, len(content["attrs"]))
    key = draw(st.sampled_from([*content]))
    return write(_pack, {**content, key: damage_value(draw, content[key])})


def _damage_spans(draw: DrawFn, data: bytes) -> bytes:
    """Change a value in a group of spans, of which the file has the packed bytes."""
    content = _unpack(data)
    groups = [*content["span_groups"]]
    number = draw(st.integers(0, len(groups) - 1))
    (packed,) = srsly.msgpack_loads(groups[number])
    group = write(srsly.msgpack_dumps, damage_value(draw, srsly.msgpack_loads(packed)))
    groups[number] = srsly.msgpack_dumps({group: [_KEY]})
    return _pack({**content, "span_groups": groups})


def _load_docs(path: Path) -> list[Doc]:
    return [*read_docs(path, Vocab())]


def _use_corpus(docs: list[Doc]) -> Any:
    StatisticsCounter(docs).get_statistics()
    entity_texts(docs)
    return [doc.to_bytes() for doc in docs]


def _use_predictions(docs: list[Doc]) -> Any:
    gold = make_docs()
    found = evaluate(docs, gold, train=gold, samples=1, show_progress=False)
    groups = [group for doc in docs for group in doc.spans.values()]
    scores = [group.attrs["scores"] for group in groups if "scores" in group.attrs]
    return found["ents_f"], found["calibration"], scores


def _find_fault_of_docs(damaged: bytes, answer: Any) -> str | None:
    return next(_find_faults_of_docs(_unpack(damaged)), None)


def _find_faults_of_docs(content: dict[str, Any]) -> Iterator[str]:
    lengths, attrs = np.frombuffer(content["lengths"], "int32"), content["attrs"]
    sizes = len(content["tokens"]) / 8 / len(attrs), len(content["spaces"])
    if {*sizes} != {lengths.sum()} or lengths.min() < 0:
        yield "the lengths are not those of tokens and spaces"
    if len(set(attrs)) < len(attrs):
        yield "an attribute is there twice"
    for key in ("cats", "flags", "span_groups", "user_data"):
        if len(content.get(key, lengths)) != len(lengths):
            yield f"another number of {key} than of docs"
    if not all(isinstance(cats, dict) for cats in content["cats"]):
        yield "the categories are no mapping"
    yield from _find_faults_of_tokens(content)


def _find_faults_of_tokens(content: dict[str, Any]) -> Iterator[str]:
    store, attrs = StringStore(content["strings"]), content["attrs"]
    tokens = np.frombuffer(content["tokens"], "uint64").reshape(-1, len(attrs))
    for attr, column in zip(attrs, tokens.T, strict=True):
        values = {*column.tolist()} - {0}
        if attr in _STRINGS and not all(value in store for value in values):
            yield "a string is missing"
        if attr == ENT_IOB and not values <= {1, 2, 3}:
            yield "no tag of an entity"


def _find_fault_of_predictions(damaged: bytes, answer: Any) -> str | None:
    _, calibration, scores = answer
    # where there is no calibration, nobody has used them
    for given in scores if calibration else []:
        assert all(0 <= score <= 1 for score in given), "scores are no probabilities"
    return _find_fault_of_docs(damaged, answer)


def _make_corpus(folder: Path) -> Reader:
    docs = make_docs()
    for i, doc in enumerate(docs):
        doc.cats = {"news": i / 4}
        doc.user_data["source"] = f"line {i}"
    docs[0].spans["rivers"] = [docs[0][1:3]]
    DocBin(docs=docs, store_user_data=True).to_disk(folder / "train.spacy")
    return Reader(
        folder / "train.spacy",
        _damage_docs,
        _load_docs,
        _find_fault_of_docs,
        _use_corpus,
    )


def _make_predictions(folder: Path) -> Reader:
    docs = make_docs()
    for doc in docs:
        doc.ents = doc.ents[1:] if len(doc.ents) > 2 else doc.ents
        attrs = {"scores": [0.25 * (i + 1) for i in range(len(doc.ents))]}
        doc.spans[_KEY] = SpanGroup(doc, name=_KEY, spans=doc.ents, attrs=attrs)
    DocBin(docs=docs).to_disk(folder / "predictions.spacy")
    return Reader(
        folder / "predictions.spacy",
        _damage_spans,
        _load_docs,
        _find_fault_of_predictions,
        _use_predictions,
    )


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
    return found.lang, found.min_freq, found.errors, shown


def _find_fault_of_symbols(damaged: bytes, answer: Any) -> str | None:
    return next(_find_faults_of_symbols(_read_arrays(damaged)), None)


def _find_faults_of_symbols(arrays: Mapping[str, Any]) -> Iterator[str]:
    attrs = {name.split("/")[-1] for name in arrays if "/" in name}
    names = {f"{kind}/{attr}" for kind in ("symbols", "counts") for attr in attrs}
    # a lookup needs no rare ones, and exact counts have no error
    others = {f"{kind}/{attr}" for kind in ("rare", "error") for attr in attrs}
    names |= others & arrays.keys()
    if not attrs <= IDS.keys() or names | {"lang", "min_freq"} != arrays.keys():
        yield "which arrays there are"
    lang, min_freq = arrays["lang"], arrays["min_freq"]
    if lang.dtype.kind != "U" or min_freq.dtype.kind not in "iu" or min_freq < 1:
        yield "the language is no text, or min_freq no integer from 1 on"
    errors = [arrays[name] for name in names if name.startswith("error/")]
    if any(error.dtype.kind != "u" or error.ndim for error in errors):
        yield "an error is no number"
    for attr in attrs:
        symbols, counts = arrays[f"symbols/{attr}"], arrays[f"counts/{attr}"]
        if (counts[1:] > counts[:-1]).any() or (counts < min_freq).any():
            yield "counts are not in order, or below min_freq"
        rare = arrays.get(f"rare/{attr}", symbols[:0])
        yield from _find_faults_of_table(symbols, counts, rare)


def _find_faults_of_table(symbols: Any, counts: Any, rare: Any) -> Iterator[str]:
    if {(x.dtype, x.ndim) for x in (symbols, counts, rare)} != {(symbols.dtype, 1)}:
        yield "another dtype or shape"
    if symbols.dtype != "uint64" or len(symbols) != len(counts):
        yield "another dtype, or another number of counts than of symbols"
    if (rare[1:] <= rare[:-1]).any() or np.isin(rare, symbols, kind="sort").any():
        yield "rare symbols are not in order, or frequent"
    if len({*symbols.tolist()}) < len(symbols):
        yield "a symbol is there twice"


def _make_symbols(folder: Path) -> Reader:
    counts = count_values(make_docs(), _ATTRS)
    tables = replace(cut_symbols(counts, min_freq=2, lang=""), errors={"NORM": 3})
    save_symbols(folder / "symbols.npz", tables)
    return Reader(
        folder / "symbols.npz",
        _damage_symbols,
        _load_symbols,
        _find_fault_of_symbols,
        _use_symbols,
    )


_READERS = {
    "corpus": _make_corpus,
    "predictions": _make_predictions,
    "symbols": _make_symbols,
}
test_arrays = make_test(_READERS, 1.5)
