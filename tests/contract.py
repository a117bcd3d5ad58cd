"""A small one of each layer that a config can name, and a batch for it.

A batch is a list or an array of items, and what is cut of it is a batch as well.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from types import FunctionType
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.architectures.maxout_window_encoder import MaxoutWindowEncoder
from spacy_hashembeds.architectures.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.multi_fewer_hash_embed import MultiFewerHashEmbed
from spacy_hashembeds.architectures.subword_embed import SubwordEmbed
from spacy_hashembeds.architectures.token_classifier import TokenClassifier
from spacy_hashembeds.layers.tableembed import HashEmbed
from spacy_hashembeds.layers.with_distinct import with_distinct
from spacy_hashembeds.papers.hash_embeddings.hash_ngram_textcat import HashNgramTextCat
from spacy_hashembeds.papers.hash_embeddings.multi_weighted_hash_embed import (
    MultiWeightedHashEmbed,
)
from spacy_hashembeds.papers.hash_embeddings.text_cat_voting_ensemble import (
    TextCatVotingEnsemble,
)
from spacy_hashembeds.papers.hashformers.compressors import (
    AddCompressor,
    EmbCompressor,
    PoolCompressor,
    ProjCompressor,
)
from spacy_hashembeds.papers.hashformers.hash_former_embed import HashFormerEmbed
from spacy_hashembeds.papers.hashformers.hashers import LSHHasher, MD5Hasher, set_ngrams
from spacy_hashembeds.papers.hashformers.lsh import find_ngrams
from spacy_hashembeds.papers.hashformers.transformer import TransformerEncoder
from spacy_hashembeds.papers.why_attention.bilstm_encoders import (
    AttBiLSTMEncoder,
    BiLSTMEncoder,
    CrossBiLSTMEncoder,
)
from spacy_hashembeds.papers.why_attention.char_cnn_embed import CharCNNEmbed

from .toy_embedders import ATTRS, initialize, make_docs, make_vocab

Batch = Sequence[Any]


@dataclass(frozen=True)
class Case:
    """A layer in one of its forms.

    function (Callable): What is registered.
    arguments (Mapping): Of which those that are functions make layers.
    make_batch (Callable[[], Batch]): Makes what the layer is given.
    initialize (Callable[[Model, Batch], Model]): Gives the layer weights.
    other (Mapping): Arguments of a layer that loads the same weights, and with them
        what these were.
    """

    function: Callable[..., Model]
    arguments: Mapping[str, Any]
    make_batch: Callable[[], Batch]
    initialize: Callable[[Model, Batch], Model]
    other: Mapping[str, Any] = field(default_factory=dict)

    def make(self, **changes: Any) -> Model:
        arguments = {**self.arguments, **changes}
        makers = (FunctionType, partial)
        return self.function(
            **{k: v() if isinstance(v, makers) else v for k, v in arguments.items()}
        )

    def build(self, seed: int = 0) -> Model:
        """Make a layer with weights none of which can be left out."""
        fix_random_seed(seed)
        model = self.initialize(self.make(), self.make_batch())
        state = np.random.default_rng(seed)
        for node in model.walk():
            for name in set(node.param_names) - {"variance"}:
                param = node.get_param(name)
                noise = 0.1 * state.normal(size=param.shape)
                node.set_param(name, (param + noise).astype("f"))
        return model


@cache
def get_vocab(number: int = 0) -> Vocab:
    return make_vocab()


@cache
def make_texts() -> list[Doc]:
    """Docs of few and of many tokens, of which one is of another pipeline."""
    other = Doc(get_vocab(1), words=["Zanzibar", "both"])
    return [*make_docs(get_vocab(), [3, 0, 7, 1, 300]), other, Doc(get_vocab())]


def make_vectors() -> list[np.ndarray]:
    state = np.random.default_rng(0)
    lengths = [3, 0, 7, 1, 16, 60, 7, 0, *[5, 9, 2] * 4]
    return [state.normal(size=(n, 12)).astype("f") for n in lengths]


def make_bits() -> np.ndarray:
    return np.random.default_rng(2).integers(2, size=(9, 11)).astype("f")


def make_rows() -> np.ndarray:
    return np.random.default_rng(2).integers(7, size=(9, 1)).astype("uint32")


def make_keys() -> np.ndarray:
    return make_rows()[:, 0].astype("uint64")


def make_words() -> list[str]:
    return ["Hello", "a", "U.S.", "żółw", "", "café", "中文字", "ab-ab12", "a", ""]


def initialize_simply(model: Model, batch: Batch) -> Model:
    return model.initialize(X=batch)


def initialize_embedder(model: Model, batch: Batch) -> Model:
    return initialize(model, batch[0].vocab)


def initialize_compressor(model: Model, batch: Batch) -> Model:
    model.set_dim("nO", 3)
    if model.has_dim("nI") is None:
        model.set_dim("nI", batch.shape[1])
    return model.initialize()


def initialize_ngrams(model: Model, batch: Batch) -> Model:
    set_ngrams(model, np.unique(find_ngrams(batch[:1], 4).keys))
    return model.initialize()


def initialize_classes(model: Model, batch: Batch) -> Model:
    return model.initialize(X=batch, Y=np.zeros((len(batch), 3), dtype="f"))


def initialize_tags(model: Model, batch: Batch) -> Model:
    Y = [np.zeros((len(doc), 5), dtype="f") for doc in batch]
    return model.initialize(X=batch, Y=Y)


def embedder(function: Callable[..., Model], other: Any = (), **arguments: Any) -> Case:
    return Case(function, arguments, make_texts, initialize_embedder, dict(other))


def encoder(function: Callable[..., Model], other: Any = (), **arguments: Any) -> Case:
    return Case(function, arguments, make_vectors, initialize_simply, dict(other))


def compressor(function: Callable[..., Model], **arguments: Any) -> Case:
    make_batch = make_rows if function is EmbCompressor else make_bits
    return Case(function, arguments, make_batch, initialize_compressor)


def hasher(function: Callable[..., Model], other: Any = (), **arguments: Any) -> Case:
    return Case(function, arguments, make_words, initialize_simply, dict(other))


def classifier(function: Callable[..., Model], **arguments: Any) -> Case:
    return Case(function, arguments, make_texts, initialize_classes)


def hash_former(*pairs: tuple[Callable, Callable], **arguments: Any) -> Case:
    attrs = ATTRS[: len(pairs)]
    places = {"hashers": 0, "compressors": 1}
    parts = {
        part: lambda i=i: {a: pair[i]() for a, pair in zip(attrs, pairs, strict=True)}
        for part, i in places.items()
    }
    return embedder(HashFormerEmbed, **{**MIXED, "attrs": attrs, **parts, **arguments})


def make_small_embedder() -> Model:
    return MultiFewerHashEmbed(**{**HASHED, "attrs": ["NORM"], "rows": [11]})


def make_ensemble(*, num_models: int) -> Model:
    return TextCatVotingEnsemble(HashNgramTextCat(**CLASSES), num_models=num_models)


MIXED: dict[str, Any] = {"width": 6, "attrs": ATTRS, "include_static_vectors": False}
HASHED = {**MIXED, "rows": [11, 7, 5]}
VECTORS = {"include_static_vectors": True}
CHARACTERS = {
    **{"char_width": 3, "num_kernels": 2, "max_chars": 5},
    "include_static_vectors": False,
}
CLASSES = {
    **{"exclusive_classes": True, "ngram_size": 2, "rows": 50, "width": 8},
    **{"importance_rows": 500, "max_snippet": None},
}
WINDOWS = {"width": 12, "window_size": 1, "maxout_pieces": 3, "depth": 2}
TRANSFORMER = {
    **{"width": 12, "depth": 2, "num_heads": 2, "hidden_width": 14, "max_length": 16},
    **{"stride": 8, "dropout": 0.0, "attention_dropout": 0.0},
}
LSH = partial(LSHHasher, max_ngrams=None)

#: Whose output is that of a batch, and not of items.
OF_BATCHES = {"PretrainShuffleRandom"}

#: By the name that is registered, and what is special.
REGISTERED: dict[str, Case] = {
    "MultiFewerHashEmbed": embedder(MultiFewerHashEmbed, **HASHED),
    "MultiFewerHashEmbed, vectors": embedder(
        MultiFewerHashEmbed,
        {"num_hashes": 1, "seed": 1},
        **{**HASHED, **VECTORS, "num_hashes": 3, "seed": 5},
    ),
    "MultiEmbed": embedder(MultiEmbed, **MIXED),
    "MultiEmbed, vectors": embedder(MultiEmbed, **{**MIXED, **VECTORS}),
    "MultiEmbed, without dropout": embedder(MultiEmbed, **MIXED, dropout=None),
    "MultiWeightedHashEmbed": embedder(
        MultiWeightedHashEmbed, **HASHED, importance_rows=[50, 30, 20]
    ),
    "MultiWeightedHashEmbed, symbols": embedder(
        MultiWeightedHashEmbed, {"seed": 1}, **HASHED
    ),
    "MultiFewerHashEmbed, subwords": embedder(
        MultiFewerHashEmbed,
        **HASHED,
        subwords=lambda: SubwordEmbed(rows=13, width=5, minn=2, maxn=3),
    ),
    "SubwordEmbed": embedder(
        SubwordEmbed, {"minn": 2}, rows=11, width=3, minn=1, maxn=2
    ),
    "HashFormerEmbed: md5, emb": hash_former(
        (partial(MD5Hasher, key="k"), partial(EmbCompressor, rows=11)),
        other={"hashers": lambda: {"NORM": MD5Hasher()}},
    ),
    "HashFormerEmbed: md5, pool, not mixed": hash_former(
        (MD5Hasher, partial(PoolCompressor, num_bits=5)), maxout_pieces=None
    ),
    "HashFormerEmbed: several, vectors": hash_former(
        (LSH, ProjCompressor),
        (MD5Hasher, AddCompressor),
        (LSH, partial(EmbCompressor, rows=11)),
        **VECTORS,
    ),
    "MD5Hasher": hasher(MD5Hasher, {"key": "k", "form": "NFC"}),
    "MD5Hasher, key": hasher(MD5Hasher, {"key": None}, key="k", form="NFC"),
    "LSHHasher": hasher(
        LSHHasher, {"seed": 1, "form": "NFC", "ngram_size": 2}, max_ngrams=None
    ),
    "LSHHasher, counted": Case(
        *(LSHHasher, {"seed": 3, "ngram_size": 4, "form": "NFC"}, make_words),
        *(initialize_ngrams, {"seed": 9, "ngram_size": 2, "form": None}),
    ),
    "EmbCompressor": compressor(EmbCompressor, rows=7),
    "PoolCompressor": compressor(PoolCompressor, num_bits=4),
    "AddCompressor": compressor(AddCompressor),
    "ProjCompressor": compressor(ProjCompressor),
    "CharCNNEmbed": embedder(CharCNNEmbed, {"max_chars": 3}, **CHARACTERS),
    "CharCNNEmbed, word": embedder(
        CharCNNEmbed, **CHARACTERS, word=make_small_embedder
    ),
    "CharCNNEmbed, all": embedder(
        CharCNNEmbed,
        **{**CHARACTERS, **VECTORS, "width": 7, "word": make_small_embedder},
    ),
    "HashNgramTextCat": classifier(HashNgramTextCat, **CLASSES),
    "HashNgramTextCat, deep": classifier(
        HashNgramTextCat,
        **{**CLASSES, "hidden_layers": 2, "hidden_width": 12, "max_snippet": 100},
    ),
    "HashNgramTextCat, without weights": classifier(
        HashNgramTextCat, **{**CLASSES, "importance_rows": 0, "num_hashes": 1}
    ),
    "TextCatVotingEnsemble": classifier(make_ensemble, num_models=3),
    "TokenClassifier": Case(
        TokenClassifier, {"tok2vec": make_small_embedder}, make_texts, initialize_tags
    ),
    "MaxoutWindowEncoder": encoder(MaxoutWindowEncoder, **WINDOWS),
    "MaxoutWindowEncoder, one layer": encoder(
        MaxoutWindowEncoder, **{**WINDOWS, "maxout_pieces": 1, "depth": 1}
    ),
    "MaxoutWindowEncoder, no window": encoder(
        MaxoutWindowEncoder, **{**WINDOWS, "window_size": 0}
    ),
    "with_distinct": Case(
        *(with_distinct, {"layer": partial(HashEmbed, 3, 7, num_hashes=2, seed=9)}),
        *(make_keys, initialize_simply),
    ),
}

#: Those whose arithmetic is PyTorch's.
IN_TORCH: dict[str, Case] = {
    "BiLSTMEncoder": encoder(BiLSTMEncoder, width=20, dropout=0.0),
    "CrossBiLSTMEncoder": encoder(CrossBiLSTMEncoder, width=20, dropout=0.0),
    "AttBiLSTMEncoder": encoder(AttBiLSTMEncoder, width=40, dropout=0.0),
    "TransformerEncoder": encoder(
        TransformerEncoder, {"dropout": 0.3, "stride": 3}, **TRANSFORMER
    ),
    "TransformerEncoder, norm after": encoder(
        TransformerEncoder, **TRANSFORMER, norm="post"
    ),
}


def has_vectors(case: Case) -> bool:
    return case.arguments.get("include_static_vectors", False)


def takes_any_docs(case: Case) -> bool:
    """Whether nothing has to be counted or known before it is initialised."""
    counts = (MultiEmbed, MultiWeightedHashEmbed)
    is_embedder = case.initialize is initialize_embedder
    return is_embedder and case.function not in counts and not has_vectors(case)


def runs_kernels(case: Case) -> bool:
    """Whether there is one for all of a layer, by which a gradient is checked."""
    runs = (MultiFewerHashEmbed, MultiEmbed, MultiWeightedHashEmbed)
    if case.function is HashFormerEmbed:
        return "maxout_pieces" not in case.arguments
    return case.function in (*runs, MaxoutWindowEncoder)


def is_hasher(case: Case) -> bool:
    return case.function in (MD5Hasher, LSHHasher)


def reads_docs(case: Case) -> bool:
    return case.make_batch is make_texts


def needs_docs(case: Case) -> bool:
    """Whether there must be some: Thinc's layer around `TokenClassifier` fails."""
    return case.function is TokenClassifier
