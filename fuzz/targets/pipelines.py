"""Trained pipelines, one for each kind of embedding, some with static vectors."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy
import spacy
import srsly
from spacy.language import Language
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_hashembeds.architectures.embedders.character_ngrams import (
    CHARACTER_NGRAM_SOURCE,
    CharacterNgrams,
)
from spacy_hashembeds.architectures.embedders.descriptions import (
    EmbedderDescription,
    get_descriptions,
)
from spacy_hashembeds.configuration.embedders import read_tables, write_embedder
from spacy_hashembeds.layers.source import Source
from spacy_hashembeds.layers.symboltaker import (
    Symbols,
    find_symbol_takers,
    give_symbols,
)
from spacy_hashembeds.symbols import count_values, cut_symbols

from ..damage_bytes import damage_lines
from ..damage_text import damage_json
from ..damage_values import damage_value
from ..target import Part, Target
from . import weights
from .material import get_texts, make_docs

_WIDTH = 8
_ATTRS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
_HASH = {
    "@architectures": "spacy-hashembeds.MultiFewerHashEmbed.v1",
    "width": _WIDTH,
    "num_hashes": 2,
    "attrs": _ATTRS,
    "rows": [31, 17, 17, 13],
    "include_static_vectors": False,
    "seed": 9,
}
_LOOKUP = {
    "@architectures": "spacy-hashembeds.MultiEmbed.v1",
    "width": _WIDTH,
    "attrs": _ATTRS,
    "include_static_vectors": True,
}
_WEIGHTED = {
    "@architectures": "spacy-hashembeds.MultiWeightedHashEmbed.v1",
    "width": _WIDTH,
    "attrs": _ATTRS,
    "rows": [31, 17, 17, 13],
    "include_static_vectors": False,
}
_HYBRID = {
    **_WEIGHTED,
    "@architectures": "spacy-hashembeds.MultiHybridEmbed.v1",
}
_HASH_FORMER: dict[str, Any] = {
    "@architectures": "spacy-hashembeds.HashFormerEmbed.v1",
    "width": _WIDTH,
    "attrs": ["NORM", "LOWER", "PREFIX", "SUFFIX", "SHAPE", "ORTH"],
    "hashers": {
        "NORM": {"@architectures": "spacy-hashembeds.LSHHasher.v1", "num_bits": 32},
        "LOWER": {"@architectures": "spacy-hashembeds.LSHHasher.v1"},
        "PREFIX": {
            "@architectures": "spacy-hashembeds.LSHHasher.v1",
            "max_ngrams": None,
            "form": "NFC",
        },
        "SUFFIX": {"@architectures": "spacy-hashembeds.MD5Hasher.v1", "key": "en"},
        "SHAPE": {"@architectures": "spacy-hashembeds.MD5Hasher.v1", "form": "NFKD"},
        "ORTH": {"@architectures": "spacy-hashembeds.MD5Hasher.v1"},
    },
    "compressors": {
        "NORM": {"@architectures": "spacy-hashembeds.ProjCompressor.v1"},
        "LOWER": {"@architectures": "spacy-hashembeds.EmbCompressor.v1", "rows": 31},
        "PREFIX": {
            "@architectures": "spacy-hashembeds.PoolCompressor.v1",
            "num_bits": 5,
        },
        "SUFFIX": {"@architectures": "spacy-hashembeds.EmbCompressor.v1", "rows": 17},
        "SHAPE": {"@architectures": "spacy-hashembeds.AddCompressor.v1"},
        "ORTH": {"@architectures": "spacy-hashembeds.ProjCompressor.v1"},
    },
    "include_static_vectors": True,
}
#: One attribute, and nothing that mixes: layers that are run one after the other.
_HASH_FORMER_ALONE = {
    **_HASH_FORMER,
    "attrs": ["NORM"],
    "hashers": {"NORM": _HASH_FORMER["hashers"]["NORM"]},
    "compressors": {"NORM": _HASH_FORMER["compressors"]["NORM"]},
    "include_static_vectors": False,
    "maxout_pieces": None,
}
_ENCODE = {
    "@architectures": "spacy-hashembeds.MaxoutWindowEncoder.v1",
    "width": _WIDTH,
    "depth": 2,
    "window_size": 1,
    "maxout_pieces": 2,
}
_NER = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "state_type": "ner",
    "extra_state_tokens": False,
    "hidden_width": 8,
    "maxout_pieces": 2,
    "use_upper": True,
    "tok2vec": {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": _WIDTH,
        "upstream": "*",
    },
}


@dataclass(frozen=True)
class Answer:
    """What a pipeline makes of some texts.

    words (list[list[str]]): The tokens.
    tensors (list[NDArray]): The token vectors, for the first time.
    again (list[NDArray]): For the second time, through folded tables.
    ents (list[list[tuple[int, int, str]]]): The entities.
    """

    words: list[list[str]]
    tensors: list[Any]
    again: list[Any]
    ents: list[list[tuple[int, int, str]]]


def _make(embed: dict[str, Any], folder: Path) -> None:
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    model = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": _ENCODE}
    nlp.add_pipe("tok2vec", config={"model": model})
    nlp.add_pipe("ner", config={"model": _NER})
    if embed["include_static_vectors"]:
        _add_vectors(nlp)
    docs = make_docs(nlp.vocab)
    _count_symbols(nlp)
    _count_ngrams(nlp)
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(folder)


def _add_vectors(nlp: Language) -> None:
    state = numpy.random.default_rng(0)
    nlp.vocab.reset_vectors(width=5)
    for word in ("Anna", "Paris", "lives", "in", "Emil", "today"):
        vector: Any = state.normal(size=5).astype("float32")
        nlp.vocab.set_vector(word, vector)


def _count_symbols(nlp: Language) -> None:
    counts = count_values(make_docs(nlp.vocab), _ATTRS)
    tables = cut_symbols(counts, min_freq=2, lang="xx")
    for embed in find_symbol_takers(nlp.get_pipe("tok2vec").model):  # type: ignore[attr-defined]
        table = tables.get_table(embed.attrs["key"])
        give_symbols(embed, Symbols(table.frequent, table.rare))


def _count_ngrams(nlp: Language) -> None:
    model = nlp.get_pipe("tok2vec").model  # type: ignore[attr-defined]
    for node in model.walk():
        if CHARACTER_NGRAM_SOURCE in node.attrs:
            node.attrs[CHARACTER_NGRAM_SOURCE] = Source(partial(_read_ngrams, nlp))


def _read_ngrams(nlp: Language, kind: CharacterNgrams) -> Any:
    return numpy.unique(kind.read(make_docs(nlp.vocab)))


def _load(folder: Path, part: Part) -> Language:
    return spacy.load(folder)


def _use(nlp: Language) -> Answer:
    docs = list(nlp.pipe(get_texts()))
    again = list(nlp.pipe(get_texts()))
    return Answer(
        words=[[token.text for token in doc] for doc in docs],
        tensors=[doc.tensor for doc in docs],
        again=[doc.tensor for doc in again],
        ents=[[(e.start, e.end, e.label_) for e in doc.ents] for doc in docs],
    )


def _is_same(a: Answer, b: Answer) -> bool:
    return (
        a.words == b.words
        and a.ents == b.ents
        and all(map(_are_close, a.tensors, b.tensors))
        and all(map(_are_close, b.tensors, b.again))
    )


def _are_close(X: Any, Y: Any) -> bool:
    return X.shape == Y.shape and bool(numpy.allclose(X, Y, rtol=1e-3, atol=1e-3))


def _find_fault(
    part: Part, original: bytes, damaged: bytes, answer: Answer
) -> str | None:
    if part.path == "tok2vec/model":
        fault = weights.find_fault(original, damaged)
        if fault is not None:
            return fault
    if not all(numpy.isfinite(X).all() for X in answer.tensors):
        return "the vectors of tokens are not finite"
    if not all(map(_are_close, answer.tensors, answer.again)):
        return "folded tables give another answer"
    return None


def _damage_msgpack(data: bytes, rng: Random) -> tuple[bytes, str]:
    damaged, how = damage_value(srsly.msgpack_loads(data), rng)
    return srsly.msgpack_dumps(damaged), how


_OF_SPACY = (
    Part(path="config.cfg", structured=damage_lines, weight=6, is_ours=False),
    Part(path="meta.json", structured=damage_json, weight=3, is_ours=False),
    Part(path="tokenizer", weight=3, is_ours=False),
    Part(path="tok2vec/cfg", structured=damage_json, weight=2, is_ours=False),
    Part(path="ner/cfg", structured=damage_json, weight=2, is_ours=False),
    Part(path="ner/model", structured=_damage_msgpack, weight=4, is_ours=False),
    Part(path="ner/moves", structured=_damage_msgpack, weight=2, is_ours=False),
    Part(path="vocab/strings.json", structured=damage_json, weight=2, is_ours=False),
    Part(path="vocab/lookups.bin", structured=_damage_msgpack, weight=2, is_ours=False),
    Part(path="vocab/key2row", structured=_damage_msgpack, weight=2, is_ours=False),
    Part(path="vocab/vectors", weight=4, is_ours=False),
    Part(path="vocab/vectors.cfg", structured=damage_json, weight=2, is_ours=False),
)


def _make_target(name: str, embed: dict[str, Any]) -> Target:
    return Target(
        name=name,
        parts=[
            Part(path="tok2vec/model", structured=weights.damage, weight=40),
            *_OF_SPACY,
        ],
        make=partial(_make, embed),
        load=_load,
        use=_use,
        find_fault=_find_fault,
        is_same=_is_same,
        names_file=False,
    )


def _put_in(description: EmbedderDescription) -> dict[str, Any]:
    """Put an embedder in the place of another, as `config` does."""
    arguments = ("width", "attrs", "rows", "include_static_vectors")
    block = {key: _HASH[key] for key in arguments}
    block["@architectures"] = "spacy.MultiHashEmbed.v2"
    return write_embedder(block, read_tables("", block, description), None)[0]


_EMBEDS = {
    "hash": _HASH,
    "lookup": _LOOKUP,
    "weighted": {**_WEIGHTED, "importance_rows": [99, 50, 50, 50]},
    "weighted_symbols": _WEIGHTED,
    "hybrid": _HYBRID,
    "hash_former": _HASH_FORMER,
    "hash_former_alone": _HASH_FORMER_ALONE,
}
_KNOWN = {embed["@architectures"] for embed in _EMBEDS.values()}
_OTHERS = [d for d in get_descriptions() if d.architecture not in _KNOWN]

PIPELINES = [
    _make_target(f"{name}_pipeline", embed)
    for name, embed in {**_EMBEDS, **{d.name: _put_in(d) for d in _OTHERS}}.items()
]
