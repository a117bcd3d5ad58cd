"""Damaged files raise clear errors, or are read correctly.

tests/test_contract.py checks the values of attributes and weights.
"""

import io
import json
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import srsly
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, DrawFn
from numpy.typing import NDArray
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import load_config_from_str
from spacy.vocab import Vocab
from thinc.api import Config

from spacy_hashembeds.architectures.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.symbols import load_symbols, save_symbols
from spacy_hashembeds.tools.analyze.corpus import StatisticsCounter
from spacy_hashembeds.tools.config.configure import configure
from spacy_hashembeds.tools.prepare.columns import ColumnFormat, read_documents
from spacy_hashembeds.tools.prepare.labelled import TextFormat, read_labelled
from spacy_hashembeds.training.counting import count_values, filter_symbols
from spacy_hashembeds.training.docbin import read_docs
from spacy_hashembeds.training.rawtexts import create_raw_texts_reader

from ..test_saved_pipelines import SAVED
from ..toy_ner import make_doc
from .damage import damage_bytes, damage_jsonl, damage_lines, damage_value
from .outcomes import Reader

TAGGED = (  # entities as word|TYPE
    "Anna|PER lives in Paris|LOC today .",
    "Zoë|PER lives in Lisbon|LOC !",
    "we met Anna|PER and Ben|PER in Rome|LOC",
    "nobody lives there today .",
)
TEXTS = [
    *(str(make_doc(x)) for x in TAGGED),
    "don't see https://x.org/a, 12é \U0001f600\u2019",
]
ATTRS = ["NORM", "PREFIX", "SHAPE"]
_SHAPES = ((2**40,), (2**62,), (-1,), (0,), (3, 4), (), (10**30,))
_DTYPES = ("<u8", "<f8", "|O", "<U4", "<u1", "<M8[s]", "|V8", ">u8")

_blank = cache(spacy.blank)


def write(encode: Callable[[Any], bytes], value: Any) -> bytes:
    """Encode a value, or reject the case if the format can't write it."""
    try:
        return encode(value)
    except Exception:  # of many types
        reject()


# Corpora and symbol tables


def read_corpus(folder: Path) -> Reader:
    docs = [make_doc(text) for text in TAGGED]
    for i, doc in enumerate(docs):
        doc.cats = {"news": i / 4}
        doc.user_data["source"] = f"line {i}"
    docs[0].spans["rivers"] = [docs[0][1:3]]
    path = folder / "train.spacy"
    DocBin(docs=docs, store_user_data=True).to_disk(path)

    def use(docs: list[Doc]) -> None:
        StatisticsCounter(docs).get_statistics()
        assert all(ent.text for doc in docs for ent in doc.ents)

    return Reader(path, damage_bytes, lambda path: [*read_docs(path, Vocab())], use)


def damage_symbols(draw: DrawFn, data: bytes) -> bytes:
    """Damage one array of a zip file, or the header with its shape and dtype."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = draw(st.sampled_from([*members]))
    if draw(st.booleans()):
        members[name] = damage_bytes(draw, members[name])
    else:
        array, file = np.load(io.BytesIO(members[name])), io.BytesIO()
        header = {
            "descr": draw(st.sampled_from((array.dtype.str, *_DTYPES))),
            "fortran_order": draw(st.booleans()),
            "shape": draw(st.sampled_from((array.shape, *_SHAPES))),
        }
        np.lib.format.write_array_header_1_0(file, header)
        members[name] = file.getvalue() + array.tobytes()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def read_symbols(folder: Path) -> Reader:
    docs, path = [make_doc(text) for text in TAGGED], folder / "symbols.npz"
    save_symbols(path, filter_symbols(count_values(docs, ATTRS), min_freq=2, lang=""))

    def use(path: Path) -> None:
        model = MultiEmbed(
            attrs=ATTRS, width=4, tables=path, include_static_vectors=False
        )
        model.initialize(X=docs)
        model.predict(docs)

    return Reader(path, damage_symbols, lambda path: load_symbols(path) and path, use)


# Weights of saved pipelines

#: Tables of hashes and symbols, n-grams, characters, tags; and the component.
PIPELINES = {
    **dict.fromkeys(("multi_embed", "multi_weighted_hash_embed"), "tok2vec"),
    **dict.fromkeys(("hash_former_embed", "char_cnn"), "tok2vec"),
    "hash_ngram_textcat": "textcat",
    "token_ner": "token_ner",
}


def damage_model(draw: DrawFn, data: bytes) -> bytes:
    """Change a parameter, an attribute or a dimension."""
    model = srsly.msgpack_loads(data)
    section = draw(st.sampled_from(("attrs", "params", "params", "all")))
    if section == "all":
        return write(srsly.msgpack_dumps, damage_value(draw, model))
    nodes = model[section]
    number = draw(st.sampled_from([i for i, values in enumerate(nodes) if values]))
    if section == "params":
        nodes[number] = damage_value(draw, nodes[number])
    else:  # each attribute is packed separately
        attrs = {key: srsly.msgpack_loads(x) for key, x in nodes[number].items()}
        attrs = damage_value(draw, attrs)
        nodes[number] = write(
            lambda attrs: {k: srsly.msgpack_dumps(x) for k, x in attrs.items()}, attrs
        )
    return write(srsly.msgpack_dumps, model)


def predict(nlp: Language) -> list[NDArray]:
    """Return the vectors and scores of each text."""
    found = []
    for doc in nlp.pipe(TEXTS):
        shares = [*doc.cats.values()]
        for spans in doc.spans.values():
            shares.extend(spans.attrs["scores"])
        assert all(ent.text for ent in doc.ents)
        found.append(np.append(doc.tensor.ravel(), np.array(shares, dtype="f")))
    return found


def find_unstable(
    damaged: bytes, answers: tuple[list[NDArray], list[NDArray]]
) -> str | None:
    """Describe results that no valid weights and attributes produce."""
    for x, y in zip(*answers, strict=True):
        if not np.isfinite(x).all():
            return "numbers that are not finite"
        if x.shape != y.shape or not np.allclose(x, y, rtol=1e-3, atol=1e-3):
            return "equal calls return different results"
    return None


def read_pipeline(name: str, folder: Path) -> Reader:
    with zipfile.ZipFile(SAVED) as saved:
        saved.extractall(folder)
    nlp = spacy.load(folder / name)

    def load(path: Path) -> Language:
        # like spacy.load, without the parts that are always the same
        made = nlp.from_config(nlp.config, vocab=nlp.vocab, auto_fill=False)
        return made.from_disk(folder / name, exclude=["vocab", "tokenizer"])

    return Reader(
        folder / name / PIPELINES[name] / "model",
        damage_model,
        load,
        lambda nlp: (predict(nlp), predict(nlp)),
        find_unstable,
        names_file=False,
    )


# Texts and configs


def read_raw_texts(folder: Path) -> Reader:
    path = folder / "raw.jsonl"
    path.write_text("".join(json.dumps({"text": x, "id": 1}) + "\n" for x in TEXTS))

    def load(path: Path) -> list[str]:
        reader = create_raw_texts_reader(
            path=path, held_out=0, min_length=0, max_length=0
        )
        return sorted("".join(x.reference.text.split()) for x in reader(_blank("xx")))

    def find_fault(damaged: bytes, answer: list[str]) -> str | None:
        lines = filter(str.strip, damaged.decode("utf-8-sig").split("\n"))
        found = {"".join(json.loads(line)["text"].split()) for line in lines}
        return None if answer == sorted(found - {""}) else "other texts than the file's"

    return Reader(path, damage_jsonl, load, find_fault=find_fault)


def read_labels(name: str, lines: list[str], load: Callable, folder: Path) -> Reader:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return Reader(path, damage_lines, lambda path: [*load(path)])


read_columns = partial(
    read_labels,
    "own.iob",
    ["# id = 1", "Anna NN B-PER", "lives NN O", "", "Ben NN B-PER", "Oz NN I-PER"],
    lambda path: read_documents(path, ColumnFormat()),
)
read_csv = partial(
    read_labels,
    "own.csv",
    ["id,text,topic", *(f'{i},"{x}\n{i}",{i % 3}' for i, x in enumerate(TEXTS))],
    partial(read_labelled, layout=TextFormat(label=["topic"])),
)


def damage_config(draw: DrawFn, data: bytes) -> bytes:
    """Change a line, or a section or value."""
    if draw(st.booleans()):
        return damage_lines(draw, data)
    config = damage_value(draw, {**load_config_from_str(data.decode("utf8"))})
    return write(lambda x: Config(x).to_str(interpolate=False).encode(), config)


def read_config(folder: Path) -> Reader:
    init_config(lang="xx", pipeline=["ner"]).to_disk(folder / "base.cfg")

    def find_fault(damaged: bytes, made: Any) -> str | None:
        is_same = load_config_from_str(made.text) == made.config
        return None if is_same else "the text differs from the config"

    return Reader(folder / "base.cfg", damage_config, configure, find_fault=find_fault)


READERS: dict[str, Callable[[Path], Reader]] = {
    "corpus": read_corpus,
    "symbols": read_symbols,
    "config": read_config,
    "raw texts": read_raw_texts,
    "columns": read_columns,
    "csv": read_csv,
    **{name: partial(read_pipeline, name) for name in PIPELINES},
}


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@pytest.mark.parametrize("name", READERS)
def test_damaged_files_raise_or_are_read_correctly(name, tmp_path):
    reader = READERS[name](tmp_path)
    original = reader.path.read_bytes()
    assert reader.find_fault(original, reader.use(reader.load(reader.path))) is None

    @settings(
        max_examples=settings().max_examples // (4 if name in PIPELINES else 2),
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def check(data: DataObject) -> None:
        damage = data.draw(st.sampled_from((*3 * [reader.damage], damage_bytes)))
        reader.check(data.draw(st.composite(damage)(original)))

    check()
