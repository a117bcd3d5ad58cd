"""A small example of each layer that a config can name, with a batch of inputs.

A batch is a list or an array. Slices of a batch are batches.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import distribution
from types import FunctionType
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.layers.tableembed import HashEmbed
from spacy_hashembeds.papers.hashformers.hashers import set_ngrams
from spacy_hashembeds.papers.hashformers.lsh import find_ngrams

from . import toy_classifiers
from .toy_embedders import ATTRS, FEATURES, SMALL, initialize, make_docs, make_vocab

Batch = Sequence[Any]

#: Registered functions, by names without the package and the version.
LAYERS: dict[str, Callable[..., Any]] = {
    entry_point.name.split(".")[1]: entry_point.load()
    for entry_point in distribution("spacy-hashembeds").entry_points
    if entry_point.group in ("spacy_architectures", "thinc_layers")
    and entry_point.name.startswith("spacy-hashembeds.")
}


@dataclass(frozen=True)
class Case:
    """A layer with arguments.

    name (str): The registered name, then what distinguishes the case.
    arguments (Mapping): Arguments. Functions are called to make layers.
    make_batch (Callable[[], Batch]): Makes inputs.
    initialize (Callable[[Model, Batch], Model]): Initializes the layer.
    other (Mapping): Arguments of a layer that loads the same weights, and restores
        the original arguments.
    """

    name: str
    arguments: Mapping[str, Any]
    make_batch: Callable[[], Batch]
    initialize: Callable[[Model, Batch], Model]
    other: Mapping[str, Any] = field(default_factory=dict)

    @property
    def layer(self) -> str:
        return re.split("[,:]", self.name)[0]

    @property
    def function(self) -> Callable[..., Model]:
        is_ensemble = self.layer == "TextCatVotingEnsemble"
        return make_ensemble if is_ensemble else LAYERS[self.layer]

    def make(self, **changes: Any) -> Model:
        arguments = {**self.arguments, **changes}
        makers = (FunctionType, partial)
        return self.function(
            **{k: v() if isinstance(v, makers) else v for k, v in arguments.items()}
        )

    def build(self, seed: int = 0) -> Model:
        """Make a layer with random weights, each of which changes the output."""
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
    """Make Docs of few and of many tokens. One has another vocab."""
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


def embedder(name: str, other: Any = (), **arguments: Any) -> Case:
    return Case(name, arguments, make_texts, initialize_embedder, dict(other))


def encoder(name: str, other: Any = (), **arguments: Any) -> Case:
    return Case(name, arguments, make_vectors, initialize_simply, dict(other))


def hasher(name: str, other: Any = (), **arguments: Any) -> Case:
    return Case(name, arguments, make_words, initialize_simply, dict(other))


def classifier(name: str, **arguments: Any) -> Case:
    return Case(name, arguments, make_texts, initialize_classes)


def hash_former(name: str, *pairs: tuple, **arguments: Any) -> Case:
    attrs = ATTRS[: len(pairs)]
    parts = {
        part: lambda i=i: {a: pair[i]() for a, pair in zip(attrs, pairs, strict=True)}
        for i, part in enumerate(("hashers", "compressors"))
    }
    return embedder(name, **{**MIXED, "attrs": attrs, **parts, **arguments})


def make_small_embedder() -> Model:
    return LAYERS["MultiFewerHashEmbed"](**{**HASHED, "attrs": ["NORM"], "rows": [11]})


def make_ensemble(*, num_models: int) -> Model:
    member = LAYERS["HashNgramTextCat"](**CLASSES)
    return LAYERS["TextCatVotingEnsemble"](member, num_models=num_models)


MIXED: dict[str, Any] = SMALL
HASHED = {**MIXED, "rows": [11, 7, 5]}
VECTORS = {"include_static_vectors": True}
CHARACTERS = {
    **{"char_width": 3, "num_kernels": 2, "max_chars": 5},
    "include_static_vectors": False,
}
CLASSES = {**toy_classifiers.SMALL, "max_snippet": None}
WINDOWS = {"width": 12, "window_size": 1, "maxout_pieces": 3, "depth": 2}
TRANSFORMER = {
    **{"width": 12, "depth": 2, "num_heads": 2, "hidden_width": 14, "max_length": 16},
    **{"stride": 8, "dropout": 0.0, "attention_dropout": 0.0},
}
LSH, MD5 = partial(LAYERS["LSHHasher"], max_ngrams=None), LAYERS["MD5Hasher"]
EMB = partial(LAYERS["EmbCompressor"], rows=11)
POOL = partial(LAYERS["PoolCompressor"], num_bits=5)

#: Layers whose output depends on the whole batch.
OF_BATCHES = {"PretrainShuffleRandom"}

_CASES = [
    embedder("MultiFewerHashEmbed", **HASHED),
    embedder(
        "MultiFewerHashEmbed, vectors",
        {"num_hashes": 1, "seed": 1},
        **{**HASHED, **VECTORS, "num_hashes": 3, "seed": 5},
    ),
    embedder("MultiEmbed", **MIXED),
    embedder("MultiEmbed, vectors", **{**MIXED, **VECTORS}),
    embedder("MultiEmbed, without dropout", **MIXED, dropout=None),
    embedder("MultiWeightedHashEmbed", **HASHED, importance_rows=[50, 30, 20]),
    embedder("MultiWeightedHashEmbed, symbols", {"seed": 1}, **HASHED),
    embedder(
        "MultiFewerHashEmbed, subwords",
        **HASHED,
        subwords=partial(LAYERS["SubwordEmbed"], rows=13, width=5, minn=2, maxn=3),
    ),
    embedder("MultiFewerHashEmbed, features", **{**HASHED, "attrs": FEATURES}),
    embedder("SubwordEmbed", {"minn": 2}, rows=11, width=3, minn=1, maxn=2),
    hash_former(
        "HashFormerEmbed: md5, emb",
        (partial(MD5, key="k"), EMB),
        other={"hashers": lambda: {"NORM": MD5()}},
    ),
    hash_former(
        "HashFormerEmbed: md5, pool, not mixed", (MD5, POOL), maxout_pieces=None
    ),
    hash_former(
        "HashFormerEmbed: several, vectors",
        *((LSH, LAYERS["ProjCompressor"]), (MD5, LAYERS["AddCompressor"]), (LSH, EMB)),
        **VECTORS,
    ),
    hasher("MD5Hasher", {"key": "k", "form": "NFC"}),
    hasher("MD5Hasher, key", {"key": None}, key="k", form="NFC"),
    hasher("LSHHasher", {"seed": 1, "form": "NFC", "ngram_size": 2}, max_ngrams=None),
    Case(
        *("LSHHasher, counted", {"seed": 3, "ngram_size": 4, "form": "NFC"}),
        *(make_words, initialize_ngrams, {"seed": 9, "ngram_size": 2, "form": None}),
    ),
    Case("EmbCompressor", {"rows": 7}, make_rows, initialize_compressor),
    Case("PoolCompressor", {"num_bits": 4}, make_bits, initialize_compressor),
    Case("AddCompressor", {}, make_bits, initialize_compressor),
    Case("ProjCompressor", {}, make_bits, initialize_compressor),
    embedder("CharCNNEmbed", {"max_chars": 3}, **CHARACTERS),
    embedder("CharCNNEmbed, word", **CHARACTERS, word=make_small_embedder),
    embedder(
        "CharCNNEmbed, all",
        **{**CHARACTERS, **VECTORS, "width": 7, "word": make_small_embedder},
    ),
    classifier("HashNgramTextCat", **CLASSES),
    classifier(
        "HashNgramTextCat, deep",
        **{**CLASSES, "hidden_layers": 2, "hidden_width": 12, "max_snippet": 100},
    ),
    classifier(
        "HashNgramTextCat, without weights",
        **{**CLASSES, "importance_rows": 0, "num_hashes": 1},
    ),
    classifier("TextCatVotingEnsemble", num_models=3),
    Case(
        *("TokenClassifier", {"tok2vec": make_small_embedder}),
        *(make_texts, initialize_tags),
    ),
    encoder("MaxoutWindowEncoder", **WINDOWS),
    encoder(
        "MaxoutWindowEncoder, one layer", **{**WINDOWS, "maxout_pieces": 1, "depth": 1}
    ),
    encoder("MaxoutWindowEncoder, no window", **{**WINDOWS, "window_size": 0}),
    Case(
        *("with_distinct", {"layer": partial(HashEmbed, 3, 7, num_hashes=2, seed=9)}),
        *(make_keys, initialize_simply),
    ),
]

#: Cases that need PyTorch.
_TORCH_CASES = [
    encoder("BiLSTMEncoder", width=20, dropout=0.0),
    encoder("CrossBiLSTMEncoder", width=20, dropout=0.0),
    encoder("AttBiLSTMEncoder", width=40, dropout=0.0),
    encoder("TransformerEncoder", {"dropout": 0.3, "stride": 3}, **TRANSFORMER),
    encoder("TransformerEncoder, norm after", **TRANSFORMER, norm="post"),
]
REGISTERED, IN_TORCH = (
    {case.name: case for case in cases} for cases in (_CASES, _TORCH_CASES)
)


def has_vectors(case: Case) -> bool:
    return case.arguments.get("include_static_vectors", False)


def takes_any_docs(case: Case) -> bool:
    """True if initialization needs neither counted symbols nor vectors."""
    counts = ("MultiEmbed", "MultiWeightedHashEmbed")
    is_embedder = case.initialize is initialize_embedder
    return is_embedder and case.layer not in counts and not has_vectors(case)


def runs_kernels(case: Case) -> bool:
    """True if kernels compute the whole layer. Its gradient is tested with kernels."""
    runs = ("MultiFewerHashEmbed", "MultiEmbed", "MultiWeightedHashEmbed")
    if case.layer == "HashFormerEmbed":
        return "maxout_pieces" not in case.arguments
    return case.layer in (*runs, "MaxoutWindowEncoder")


def is_hasher(case: Case) -> bool:
    return case.layer in ("MD5Hasher", "LSHHasher")


def reads_docs(case: Case) -> bool:
    return case.make_batch is make_texts


def needs_docs(case: Case) -> bool:
    """True if empty batches fail, as in Thinc's layer around `TokenClassifier`."""
    return case.layer == "TokenClassifier"
