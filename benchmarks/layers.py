"""Layers alone: embedders, HashFormers, and LSTM encoders."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Model, NumpyOps, fix_random_seed, set_dropout_rate
from wasabi import msg

from spacy_hashembeds.acceleration.blas import NUMPY_BLAS_OPS
from spacy_hashembeds.architectures.embedders.character_ngrams import (
    CHARACTER_NGRAM_SOURCE,
    CharacterNgrams,
)
from spacy_hashembeds.counting import KeyCounter
from spacy_hashembeds.layers.source import Source
from spacy_hashembeds.symbols import count_values, cut_symbols, save_symbols

from .data import (
    BATCH_WORDS,
    Corpus,
    Sizes,
    batch_by_docs,
    batch_by_words,
    cut_updates,
    find_short_docs,
    group,
)
from .timing import (
    Json,
    Makes,
    Prepare,
    Results,
    Schedule,
    Ways,
    count_words,
    in_numpy,
    time_ways,
)
from .torch_embed import TorchEmbed, import_torch

WIDTH = 96
ATTRS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
#: What `spacy init config` writes.
ROWS = [5000, 1000, 2500, 2500]
DROPOUT = 0.1
#: From how many occurrences on a symbol has a row of its own: as in our configs.
MIN_FREQ = 10
#: How far outputs may be apart, relative to the largest of them.
TOLERANCE = 1e-5

SPACY, OURS = "spaCy, 4 hashes", "ours, 4 hashes"
SPACY_BLAS, OURS_NUMPY = "spaCy on numpy's BLAS", "the same in numpy"
TORCH, OURS_1, LOOKUP = "PyTorch, 4 hashes", "ours, 1 hash", "ours, lookup"

STOCK_EMBED = "spacy.MultiHashEmbed.v2"
OUR_EMBED = "spacy-hashembeds.MultiFewerHashEmbed.v1"

#: Without, and with what `spacy train` sets by default.
DROPOUTS = (0.0, DROPOUT)


def prepare_predict(model: Any, sample: Sequence[Any]) -> Callable[[], object]:
    """Get ready to go forward with batches."""
    return lambda: [model.predict(batch) for batch in sample]


def prepare_train(
    model: Any, sample: Sequence[Any], dropout: float | None = None
) -> Callable[[], object]:
    """Get ready to go forward and backward, without optimizer, with a rate of dropout
    that is set anew unless it is None.
    """
    if isinstance(model, TorchEmbed):
        model.dropout = dropout or 0.0
    elif dropout is not None:
        set_dropout_rate(model, dropout)
    # layers may change the arrays that they are given, and spaCy's do
    steps = [(batch, make_gradients(model, batch)) for batch in sample]

    def run() -> None:
        for batch, gradients in steps:
            _, backprop = model.begin_update(batch)
            backprop(gradients)

    return run


def make_gradients(model: Any, batch: Sequence[Any]) -> list[Any]:
    """Make gradients of a layer's output, of equal values for equal batches."""
    is_wide = isinstance(model, Model) and model.has_dim("nO")
    width = model.get_dim("nO") if is_wide else WIDTH
    ops = getattr(model, "ops", NumpyOps())
    return [ops.asarray(dY) for dY in make_vectors(batch, width)]


def make_vectors(batch: Sequence[Any], width: int) -> list[np.ndarray]:
    """Make vectors for the tokens of each Doc of a batch."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal((len(doc), width), dtype="float32") for doc in batch]


def compare_outputs(
    stock: Any, ours: Any, batches: Sequence[Any], to_numpy: Callable = np.asarray
) -> dict[str, float]:
    """Compare what our layer predicts with what spaCy's does: speed of wrong numbers is
    worth nothing.

    RAISES (RuntimeError): If it is off by more than the tolerance.
    RETURNS (dict[str, float]): The largest absolute output, and the largest difference.
    """
    expected, actual = (
        np.concatenate([to_numpy(Y) for batch in batches for Y in model.predict(batch)])
        for model in (stock, ours)
    )
    scale, difference = float(abs(expected).max()), float(abs(actual - expected).max())
    if not difference <= TOLERANCE * scale:  # NaN too
        raise RuntimeError(
            f"Ours and spaCy's outputs should be within {TOLERANCE:g} of each other, "
            f"relative to {scale:g}, but differ by {difference:g}. Times of wrong "
            "numbers mean nothing: mend the layer first."
        )
    return {"largest_output": scale, "largest_difference": difference}


def build_embedder(name: str, **settings: Any) -> Model:
    """Build an embedder as a config would."""
    shape = {"width": WIDTH, "attrs": ATTRS, "include_static_vectors": False}
    return registry.get("architectures", name)(**{**shape, **settings})


def build_with_symbols(
    name: str, docs: Sequence[Doc], *, min_freq: int = MIN_FREQ, **settings: Any
) -> Model:
    """Build an embedder with the symbols that are frequent in some docs."""
    counts = count_values(docs, ATTRS)
    tables = cut_symbols(counts, min_freq=min_freq, lang=docs[0].vocab.lang)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tables.npz"
        save_symbols(path, tables)
        return initialize(build_embedder(name, tables=str(path), **settings), docs)


def initialize(model: Model, docs: Sequence[Doc]) -> Model:
    """Initialise an embedder."""
    model.initialize(X=list(docs[:10]))
    return model


def make_embedders(docs: Sequence[Doc], rows: Sequence[int] = ROWS) -> Makes:
    """Make spaCy's embedder and ours, of equal shapes, and equal weights if they hash.

    Without torch, which is said, that in PyTorch is left out.
    """
    fix_random_seed(0)
    stock = initialize(build_embedder(STOCK_EMBED, rows=[*rows]), docs)
    ours, one_hash = (
        build_embedder(OUR_EMBED, rows=[*rows], num_hashes=k).from_bytes(
            stock.to_bytes()
        )
        for k in (4, 1)
    )
    lookup = build_with_symbols("spacy-hashembeds.MultiEmbed.v1", docs)

    def make_on_blas() -> Model:
        model = stock.copy()
        for node in model.walk():
            node.ops = NUMPY_BLAS_OPS
        return model

    makes: dict[str, Callable[[], Any]] = {SPACY: stock.copy, SPACY_BLAS: make_on_blas}
    if import_torch() is None:
        msg.warn("torch is not installed: measuring without it.")
    else:
        makes[TORCH] = partial(TorchEmbed, stock)
    return {
        **makes,
        OURS: ours.copy,
        OURS_NUMPY: ours.copy,
        OURS_1: one_hash.copy,
        LOOKUP: lookup.copy,
    }


def time_sizes(
    makes: Makes, docs: Sequence[Doc], schedule: Schedule, sizes: Sizes, **settings: Any
) -> Json:
    """Time embedders in prediction, and forward and backward, by the size of a call."""
    predict: dict[str, Any] = {}
    train: dict[str, Any] = {}
    for n in sizes.calls:
        batches = cut_calls(docs, n)
        what = f"{n:,} of {_count_mean(batches):,.0f} words"
        predict[what] = (makes, prepare_predict, group(batches))
    for dropout, n in product(DROPOUTS, sizes.words):
        batches = batch_by_words(docs, n, 100)
        what = f"{_count_mean(batches):,.0f}, {dropout:g}"
        prepare = partial(prepare_train, dropout=dropout)
        train[what] = (makes, prepare, group(batches))
    ways: dict[str, Ways] = {
        "forward: Docs a call": predict,
        "forward and backward: words, dropout": train,
    }
    return {what: time_ways(of, schedule, **settings) for what, of in ways.items()}


def cut_calls(docs: Sequence[Doc], n: int, n_calls: int = 200) -> list[list[Doc]]:
    """Cut calls of so many Docs, where one means a short one."""
    return batch_by_docs(find_short_docs(docs) if n == 1 else docs, n, n_calls)


def _count_mean(batches: Sequence[list[Doc]]) -> float:
    return count_words([*batches]) / len(batches)


def measure_embedding(text: Corpus, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure our embedding layers beside spaCy's and PyTorch's."""
    makes = make_embedders(text.docs)
    agreement = compare_outputs(makes[SPACY](), makes[OURS](), [text.docs[:1000]])
    contexts = in_numpy(OURS_NUMPY)
    timings = time_sizes(makes, text.docs, schedule, sizes, contexts=contexts)
    yield {
        "width": WIDTH,
        "rows": ROWS,
        "multi_embed_min_freq": MIN_FREQ,
        "agreement": agreement,
        "timings": timings,
    }


#: For each name the hashes, or the hasher and the compressor of all attributes.
FEWER = {"MultiFewerHashEmbed, 4 hashes": 4, "MultiFewerHashEmbed, 1 hash": 1}
PAIRS = {
    ", ".join(pair): pair
    for pair in product(("MD5", "LSH"), ("Emb", "Pool", "Add", "Proj"))
}
#: Rows of `EmbCompressor`: nearly as many parameters as `PoolCompressor` has.
EMB_ROWS = 1037


def make_hashformers(docs: Sequence[Doc]) -> dict[str, Model]:
    """Make plain hashing and each hasher with each compressor, of the docs' n-grams."""
    fix_random_seed(0)
    models = {
        name: build_embedder(OUR_EMBED, rows=ROWS, num_hashes=k)
        for name, k in FEWER.items()
    }
    get_ngrams = _make_counter(docs)
    for name, (hasher, compressor) in PAIRS.items():
        settings = {"rows": EMB_ROWS} if compressor == "Emb" else {}
        models[name] = build_embedder(
            "spacy-hashembeds.HashFormerEmbed.v1",
            hashers={attr: _make_part(f"{hasher}Hasher") for attr in ATTRS},
            compressors={
                attr: _make_part(f"{compressor}Compressor", **settings)
                for attr in ATTRS
            },
        )
        models[name].attrs[CHARACTER_NGRAM_SOURCE] = Source(get_ngrams)
    return {name: initialize(model, docs) for name, model in models.items()}


def _make_part(name: str, **settings: Any) -> Model:
    return registry.get("architectures", f"spacy-hashembeds.{name}.v1")(**settings)


def _make_counter(docs: Sequence[Doc]) -> Callable[[CharacterNgrams], NDArray]:
    """Make what counts n-grams, as `count_character_ngrams.v1` has a corpus counted."""

    @cache
    def count(kind: CharacterNgrams) -> NDArray:
        counter = KeyCounter(8 * kind.max_ngrams)
        counter.add(kind.read(docs))
        return counter.get_most_frequent(kind.max_ngrams)

    return count


def cut_ways(docs: Sequence[Doc], sizes: Sizes) -> dict[str, tuple[Prepare, list[Any]]]:
    """Cut docs into as many calls, and steps of training, as they are enough for."""
    calls = batch_by_docs(docs, sizes.docs, max(1, len(docs) // sizes.docs))
    short = [[doc] for doc in find_short_docs(docs)]
    n_steps = max(1, count_words([*docs]) // BATCH_WORDS)
    steps = batch_by_words(docs, BATCH_WORDS, n_steps)
    train = partial(prepare_train, dropout=DROPOUT)
    return {
        f"prediction, {sizes.docs:,} Docs": (prepare_predict, group(calls, 1)),
        "prediction, a short Doc": (prepare_predict, group(short)),
        f"training, {BATCH_WORDS:,} words": (train, group(steps, sizes.updates)),
    }


def measure_hashformers(text: Corpus, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure how fast all pairs are."""
    models = make_hashformers(text.docs)
    ways = {}
    for what, (prepare, samples) in cut_ways(text.docs, sizes).items():
        whole = [batch for sample in samples for batch in sample]
        warm = {
            name: partial(_warm_up, m, prepare, whole) for name, m in models.items()
        }
        ways[what] = (warm, prepare, samples)
    yield {
        "width": WIDTH,
        "rows": ROWS,
        "emb_rows": EMB_ROWS,
        "dropout": DROPOUT,
        "parameters": {name: count_parameters(m) for name, m in models.items()},
        "timings": {"one thread": time_ways(ways, schedule, clock=thread_time)},
    }


def _warm_up(model: Model, prepare: Prepare, whole: list[Any]) -> Model:
    """Copy an embedder, and have it go through the whole text."""
    copied = model.copy()
    prepare(copied, whole)()
    return copied


def count_parameters(model: Model) -> int:
    """Count the parameters, those within PyTorch's modules too."""
    nodes = [*model.walk()]
    ours = [node.get_param(name) for node in nodes for name in node.param_names]
    shims = [shim for node in nodes for shim in node.shims]
    theirs = [param for shim in shims for param in shim._model.parameters()]
    return sum(W.size for W in ours) + sum(param.numel() for param in theirs)


TORCH_LSTM, CROSSED = "TorchBiLSTMEncoder", "CrossBiLSTMEncoder"
#: Of the output, and of the input too, since spaCy's has no other. Half of the last
#: one's is of its heads: the LSTMs are as wide as those of the others.
LSTM_WIDTHS = {
    **dict.fromkeys([TORCH_LSTM, "BiLSTMEncoder", CROSSED], 200),
    "AttBiLSTMEncoder": 400,
}
LSTM_DEPTH, LSTM_DROPOUT = 2, 0.35


def make_encoders() -> dict[str, Model]:
    """Make LSTM encoders, the crossed one with the weights of spaCy's.

    RAISES (ImportError): If there is no PyTorch.
    """
    fix_random_seed(0)
    encoders = {}
    for name, width in reversed(LSTM_WIDTHS.items()):  # ours say what lacks
        package = "spacy" if name == TORCH_LSTM else "spacy-hashembeds"
        build: Any = registry.get("architectures", f"{package}.{name}.v1")
        model = build(width=width, depth=LSTM_DEPTH, dropout=LSTM_DROPOUT)
        model.initialize(X=[np.zeros((1, LSTM_WIDTHS[TORCH_LSTM]), dtype="float32")])
        encoders[name] = model
    _copy_weights(encoders[TORCH_LSTM], encoders[CROSSED])
    return {name: encoders[name] for name in LSTM_WIDTHS}


def _copy_weights(stock: Model, crossed: Model) -> None:
    """Give a crossed encoder the weights of spaCy's, which has each bias in two."""
    (lstm,) = (shim._model for node in stock.walk() for shim in node.shims)
    weights = {name: W.numpy() for name, W in lstm.state_dict().items()}
    for layer in range(LSTM_DEPTH):
        for direction, suffix in (("forward", ""), ("backward", "_reverse")):
            theirs, ours = f"l{layer}{suffix}", f"{direction}_{layer + 1}"
            b = weights[f"bias_ih_{theirs}"] + weights[f"bias_hh_{theirs}"]
            crossed.set_param(f"W_{ours}", weights[f"weight_ih_{theirs}"].copy())
            crossed.set_param(f"U_{ours}", weights[f"weight_hh_{theirs}"].copy())
            crossed.set_param(f"b_{ours}", b)


def measure_encoders(text: Corpus, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure LSTM encoders on vectors for the tokens of Docs.

    RAISES (ImportError): If there is no PyTorch.
    """
    models, width = make_encoders(), LSTM_WIDTHS[TORCH_LSTM]
    makes = {name: model.copy for name, model in models.items()}

    def draw(samples: Sequence[Any]) -> list[Any]:
        return [[make_vectors(batch, width) for batch in each] for each in samples]

    calls = draw(group(batch_by_docs(text.docs, sizes.docs, schedule.rounds), 1))
    short = draw(group([[doc] for doc in find_short_docs(text.docs)]))
    steps = draw(cut_updates(text.docs, sizes.updates, schedule.rounds))
    ways: Ways = {
        f"prediction, {sizes.docs:,} Docs": (makes, prepare_predict, calls),
        "prediction, a short Doc": (makes, prepare_predict, short),
        f"training, {BATCH_WORDS:,} words": (makes, prepare_train, steps),
        "training, a short Doc": (makes, prepare_train, short),
    }
    yield {
        "width": width,
        "depth": LSTM_DEPTH,
        "dropout": LSTM_DROPOUT,
        "parameters": {name: count_parameters(m) for name, m in models.items()},
        # Doc by Doc: what spaCy's finds depends on how long the others of a batch are
        "agreement": compare_outputs(models[TORCH_LSTM], models[CROSSED], short[0]),
        "timings": {"one thread": time_ways(ways, schedule)},
    }
