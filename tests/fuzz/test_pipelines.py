"""Damaged weights of saved pipelines, one for each of our systems, and labels."""

import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import srsly
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray
from spacy.attrs import IDS
from spacy.language import Language
from thinc.api import fix_random_seed

from spacy_hashembeds.architectures.embedders.character_ngrams import (
    CHARACTER_NGRAM_SOURCE,
)
from spacy_hashembeds.layers.source import Source

from ..test_saved_pipelines import SAVED
from .damage import Damage, damage_json, damage_value, write
from .judgement import Reader, make_test
from .likeness import find_unlike
from .sentences import TEXTS, make_docs

#: Entities, and vectors and scores, of each text, for the first and second time.
Answer = tuple[Any, Sequence[NDArray], Sequence[NDArray]]

#: Read when a layer is built alone, set by the trainer, or free text.
_FREE = {"column", "dropout_rate", "form", "md5_key"}
#: The largest that numbers may be which are used as they were saved.
_LARGEST = {
    **{"seed": 2**32 - 1, "hash_seed": 2**32 - 1, "lsh_seed": 2**64 - 1, "unk": 2**32},
    **{"num_hashes": 4, "ngram_size": 100, "shortest": 2**31, "rows": 2**32},
    **{"softmax_temperature": 1000.0, "max_chars": 10_000},
}
#: Attributes that a layer has of its config, if it has not saved them.
_COUNTED = {"symbols", "ngrams"}
#: What our layers are in, of pipelines that need no PyTorch.
_SAVED = {
    **dict.fromkeys(("multi_fewer_hash_embed", "multi_embed", "char_cnn"), "tok2vec"),
    **dict.fromkeys(("multi_weighted_hash_embed", "multi_hybrid_embed"), "tok2vec"),
    **dict.fromkeys(("hash_ngram_textcat", "hash_ngram_ensemble"), "textcat"),
    "token_ner": "token_ner",
}


def _unpack(attrs: dict[str, bytes]) -> dict[str, Any]:
    """Read attributes of a layer, each of which is packed on its own."""
    return {key: srsly.msgpack_loads(value) for key, value in attrs.items()}


def _damage_model(draw: DrawFn, data: bytes) -> bytes:
    """Change a parameter, an attribute or a dimension."""
    model = srsly.msgpack_loads(data)
    section = draw(st.sampled_from(("attrs", "params", "params", "all")))
    if section == "all":
        return write(srsly.msgpack_dumps, damage_value(draw, model))
    nodes = model[section]
    number = draw(st.sampled_from([i for i, values in enumerate(nodes) if values]))
    if section == "params":
        nodes[number] = damage_value(draw, nodes[number])
        return write(srsly.msgpack_dumps, model)

    def pack(attrs: dict[str, Any]) -> bytes:
        packed = {key: srsly.msgpack_dumps(value) for key, value in attrs.items()}
        nodes[number] = packed
        return srsly.msgpack_dumps(model)

    return write(pack, damage_value(draw, _unpack(nodes[number])))


def _find_fault_of_model(original: bytes, damaged: bytes, answer: Answer) -> str | None:
    """Say in what a damaged model can't be one that this pipeline was saved as.

    A weight that is another number is none: there is no checksum. Nor is a seed or a
    number of hashes that could be, since both are taken as they were saved.
    """
    models = srsly.msgpack_loads(original), srsly.msgpack_loads(damaged)
    faults = (*_find_faults(*models), _find_odd(answer))
    return next(filter(None, faults), None)


def _find_faults(good: dict[str, Any], bad: dict[str, Any]) -> Iterator[str]:
    for i, (node, other) in enumerate(zip(good["nodes"], bad["nodes"], strict=True)):
        if (node["dims"], node["refs"]) != (other["dims"], other["refs"]):
            yield f"{node['name']}: dimensions"
        attrs = _unpack(good["attrs"][i]), _unpack(bad["attrs"][i])
        yield from find_unlike(*attrs, _can_be, optional=attrs[0].keys() - _COUNTED)
        yield from find_unlike(good["params"][i], bad["params"][i], _can_be)
        if good["params"][i].keys() != bad["params"][i].keys():
            yield f"{node['name']}: other parameters"


def _can_be(key: str, good: Any, bad: Any) -> bool:
    if key in _FREE:
        return True
    if key in _LARGEST:
        return isinstance(bad, type(good)) and 0 <= bad <= _LARGEST[key]
    if key in ("attr", "columns"):
        return isinstance(bad, str) and bad in IDS
    is_equal = type(good) is type(bad) and good == bad
    return is_equal or (isinstance(good, bool) and isinstance(bad, bool))


def _find_odd(answer: Answer) -> str | None:
    if not all(np.isfinite(x).all() for x in answer[1]):
        return "numbers that are not finite"
    return None if _are_close(*answer[1:]) else "equal calls, other answers"


def _use(nlp: Language) -> Answer:
    docs, again = [*nlp.pipe(TEXTS)], [*nlp.pipe(TEXTS)]
    ents = [[(ent.start, ent.end, ent.label_) for ent in doc.ents] for doc in docs]
    numbers = [_get_numbers(doc) for doc in docs]
    return ents, numbers, [_get_numbers(doc) for doc in again]


def _get_numbers(doc: Any) -> NDArray:
    scores = [spans.attrs["scores"] for spans in doc.spans.values()]
    shares = np.concatenate([[*doc.cats.values()], *scores])
    shares[(shares < 0) | (shares > 1)] = np.nan  # as good as none
    return np.concatenate([doc.tensor.ravel(), shares])


def _are_close(X: Sequence[NDArray], Y: Sequence[NDArray]) -> bool:
    return all(
        x.shape == y.shape and np.allclose(x, y, rtol=1e-3, atol=1e-3)
        for x, y in zip(X, Y, strict=True)
    )


def _is_same(a: Answer, b: Answer) -> bool:
    return a[0] == b[0] and _are_close(a[1], b[1]) and _are_close(b[1], b[2])


def _read_pipeline(
    path: Path,
    damage: Damage,
    find_fault: Callable[[bytes, Answer], str | None],
    folder: Path,
) -> Reader:
    nlp = spacy.load(folder)

    def load(path: Path) -> Language:
        # as spacy.load does, but for what is the same each time
        made = nlp.from_config(nlp.config, vocab=nlp.vocab, auto_fill=False)
        return made.from_disk(folder, exclude=["vocab", "tokenizer"])

    return Reader(path, damage, load, find_fault, _use, _is_same, names_file=False)


def _read_model(folder: Path, part: str) -> Reader:
    path = folder / part / "model"
    find_fault = partial(_find_fault_of_model, path.read_bytes())
    return _read_pipeline(path, _damage_model, find_fault, folder)


def _extract(name: str, part: str, folder: Path) -> Reader:
    with zipfile.ZipFile(SAVED) as file:
        file.extractall(folder)
    return _read_model(folder / name, part)


def _read_labels(folder: Path) -> Reader:
    _extract("token_ner", "token_ner", folder)
    path = folder / "token_ner/token_ner/cfg"
    return _read_pipeline(
        path, damage_json, _find_fault_of_labels, folder / "token_ner"
    )


def _find_fault_of_labels(damaged: bytes, answer: Answer) -> str | None:
    labels = json.loads(damaged)["labels"]
    assert all(isinstance(label, str) and label for label in labels)
    assert len({*labels}) == len(labels), "a label is there twice"
    return _find_odd(answer)


def _name(architecture: str, **arguments: Any) -> dict[str, Any]:
    return {"@architectures": f"spacy-hashembeds.{architecture}.v1", **arguments}


# Each way of hashing and compressing words.
_HASHERS = {
    "NORM": _name("LSHHasher", num_bits=32),
    "LOWER": _name("LSHHasher", max_ngrams=None),
    "PREFIX": _name("LSHHasher", form="NFC"),
    "SUFFIX": _name("MD5Hasher", key="en"),
    "SHAPE": _name("MD5Hasher", form="NFKD"),
}
_COMPRESSORS = {
    "NORM": _name("ProjCompressor"),
    "LOWER": _name("PoolCompressor", num_bits=5),
    "PREFIX": _name("EmbCompressor", rows=31),
    "SUFFIX": _name("EmbCompressor", rows=17),
    "SHAPE": _name("AddCompressor"),
}


def _hash_words(*attrs: str, **arguments: Any) -> dict[str, Any]:
    hashers, compressors = (
        {attr: each[attr] for attr in attrs} for each in (_HASHERS, _COMPRESSORS)
    )
    parts = {"attrs": [*attrs], "hashers": hashers, "compressors": compressors}
    return _name("HashFormerEmbed", **parts, **arguments)


_EMBEDS = {
    "hashers": _hash_words(*_HASHERS, include_static_vectors=True),
    # nothing that mixes: layers that are run one after the other
    "hasher": _hash_words("NORM", include_static_vectors=False, maxout_pieces=None),
    "weighted": _name(
        "MultiWeightedHashEmbed",
        attrs=["NORM", "SHAPE"],
        rows=[31, 17],
        importance_rows=[99, 50],
        include_static_vectors=False,
    ),
}


def _save(embed: dict[str, Any], folder: Path) -> Reader:
    """Save a pipeline that embeds so, with weights as they are drawn."""
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.vocab.reset_vectors(width=5)
    for word in ("Anna", "Paris", "lives", "in"):
        vector: Any = np.random.default_rng(0).normal(size=5).astype("float32")
        nlp.vocab.set_vector(word, vector)
    sizes = {"width": 8, "depth": 2, "window_size": 1, "maxout_pieces": 2}
    encode = _name("MaxoutWindowEncoder", **sizes)
    model = {"@architectures": "spacy.Tok2Vec.v2", "encode": encode}
    config = {"model": {**model, "embed": {**embed, "width": 8}}}
    pipe: Any = nlp.add_pipe("tok2vec", config=config)
    docs = make_docs()
    for node in pipe.model.walk():
        if CHARACTER_NGRAM_SOURCE in node.attrs:
            source = Source(lambda kind: np.unique(kind.read(docs)))
            node.attrs[CHARACTER_NGRAM_SOURCE] = source
    nlp.initialize()
    nlp.to_disk(folder)
    return _read_model(folder, "tok2vec")


_READERS = {
    **{name: partial(_extract, name, part) for name, part in _SAVED.items()},
    **{name: partial(_save, embed) for name, embed in _EMBEDS.items()},
    "labels": _read_labels,
}
test_pipelines = make_test(_READERS, 0.4)
