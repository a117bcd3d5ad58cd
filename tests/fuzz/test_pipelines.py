"""Damaged weights of saved pipelines.

What each attribute and weight may be, `tests/test_contract.py` asks of each layer.
"""

import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import srsly
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray
from spacy.language import Language

from ..test_saved_pipelines import SAVED
from .damage import damage_value, write
from .judgement import Reader, make_test
from .sentences import TEXTS

#: Entities, and vectors and scores, of each text, for the first and second time.
Answer = tuple[Any, Sequence[NDArray], Sequence[NDArray]]

#: What our layers are in: tables of hashes and symbols, weights, n-grams, characters.
_SAVED = {
    **dict.fromkeys(("multi_embed", "multi_weighted_hash_embed"), "tok2vec"),
    **dict.fromkeys(("hash_former_embed", "char_cnn"), "tok2vec"),
    "hash_ngram_textcat": "textcat",
    "token_ner": "token_ner",
}


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

    def pack(attrs: dict[str, Any]) -> bytes:  # each on its own
        nodes[number] = {k: srsly.msgpack_dumps(value) for k, value in attrs.items()}
        return srsly.msgpack_dumps(model)

    attrs = {key: srsly.msgpack_loads(value) for key, value in nodes[number].items()}
    return write(pack, damage_value(draw, attrs))


def _find_fault(damaged: bytes, answer: Answer) -> str | None:
    """Say what no weights and attributes give, whichever they are."""
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


def _read_pipeline(name: str, part: str, folder: Path) -> Reader:
    with zipfile.ZipFile(SAVED) as saved:
        saved.extractall(folder)
    nlp = spacy.load(folder / name)

    def load(path: Path) -> Language:
        # as spacy.load does, but for what is the same each time
        made = nlp.from_config(nlp.config, vocab=nlp.vocab, auto_fill=False)
        return made.from_disk(folder / name, exclude=["vocab", "tokenizer"])

    path = folder / name / part / "model"
    return Reader(
        path, _damage_model, load, _find_fault, _use, _is_same, names_file=False
    )


_READERS = {name: partial(_read_pipeline, name, part) for name, part in _SAVED.items()}
test_pipelines = make_test(_READERS, 0.25)
