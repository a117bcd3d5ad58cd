"""Benchmarks of layers: embedders and HashFormers."""

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

from lab.trials.sizes import count_parameters
from spacy_hashembeds.acceleration.blas import NUMPY_BLAS_OPS
from spacy_hashembeds.architectures.symbols import save_symbols
from spacy_hashembeds.layers.vocabulary import SymbolSource
from spacy_hashembeds.papers.hashformers.character_ngrams import (
    CHARACTER_NGRAM_SOURCE,
    CharacterNgrams,
)
from spacy_hashembeds.training.counting import count_values, filter_symbols
from spacy_hashembeds.training.key_counter import KeyCounter

from .data import (
    BATCH_WORDS,
    Corpus,
    Sizes,
    batch_by_docs,
    batch_by_words,
    find_short_docs,
    group,
)
from .timing import (
    Builders,
    Prepare,
    Results,
    Schedule,
    count_words,
    in_numpy,
    time_tasks,
)
from .torch_embed import TorchEmbed, import_torch

WIDTH = 96
ATTRS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
#: The default of `spacy init config`.
ROWS = [5000, 1000, 2500, 2500]
DROPOUT = 0.1
#: The minimum count of symbols, as in our configs.
MIN_FREQ = 10
#: Maximum difference of outputs, relative to the largest output.
TOLERANCE = 1e-5

SPACY, OURS = "spaCy, 4 hashes", "ours, 4 hashes"
SPACY_BLAS, OURS_NUMPY = "spaCy on numpy's BLAS", "the same in numpy"
TORCH, OURS_1, LOOKUP = "PyTorch, 4 hashes", "ours, 1 hash", "ours, lookup"

STOCK_EMBED = "spacy.MultiHashEmbed.v2"
OUR_EMBED = "spacy-hashembeds.MultiFewerHashEmbed.v1"

#: Without dropout, and with the default of `spacy train`.
DROPOUTS = (0.0, DROPOUT)


def prepare_predict(model: Any, sample: Sequence[Any]) -> Callable[[], object]:
    """Return a function that predicts batches."""
    return lambda: [model.predict(batch) for batch in sample]


def prepare_train(
    model: Any, sample: Sequence[Any], dropout: float | None = None
) -> Callable[[], object]:
    """Return a function that runs forward and backward, with a rate of dropout."""
    if isinstance(model, TorchEmbed):
        model.dropout = dropout or 0.0
    elif dropout is not None:
        set_dropout_rate(model, dropout)
    # spaCy's layers change their input arrays
    steps = [(batch, make_gradients(model, batch)) for batch in sample]

    def run() -> None:
        for batch, gradients in steps:
            _, backprop = model.begin_update(batch)
            backprop(gradients)

    return run


def make_gradients(model: Any, batch: Sequence[Any]) -> list[Any]:
    """Make gradients of a layer's output, which are equal for equal batches."""
    is_wide = isinstance(model, Model) and model.has_dim("nO")
    width = model.get_dim("nO") if is_wide else WIDTH
    ops = getattr(model, "ops", NumpyOps())
    return [ops.asarray(dY) for dY in make_vectors(batch, width)]


def make_vectors(batch: Sequence[Any], width: int) -> list[np.ndarray]:
    """Make random vectors for the tokens of each Doc of a batch."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal((len(doc), width), dtype="float32") for doc in batch]


def compare_outputs(
    stock: Any, ours: Any, batches: Sequence[Any], to_numpy: Callable = np.asarray
) -> dict[str, float]:
    """Compare the predictions of our layer and of spaCy's.

    RAISES (RuntimeError): If they differ by more than `TOLERANCE`.
    """
    expected, actual = (
        np.concatenate([to_numpy(Y) for batch in batches for Y in model.predict(batch)])
        for model in (stock, ours)
    )
    scale, difference = float(abs(expected).max()), float(abs(actual - expected).max())
    if not difference <= TOLERANCE * scale:  # NaN too
        raise RuntimeError(
            f"Ours and spaCy's outputs should be within {TOLERANCE:g} of each other, "
            f"relative to {scale:g}, but differ by {difference:g}."
        )
    return {"largest_output": scale, "largest_difference": difference}


def build_embedder(name: str, **settings: Any) -> Model:
    """Build an embedder by the name of its architecture."""
    shape = {"width": WIDTH, "attrs": ATTRS, "include_static_vectors": False}
    return registry.get("architectures", name)(**{**shape, **settings})


def build_lookup(docs: Sequence[Doc]) -> Model:
    """Build an embedder by lookup, with the frequent symbols of docs."""
    counts = count_values(docs, ATTRS)
    tables = filter_symbols(counts, min_freq=MIN_FREQ, lang=docs[0].vocab.lang)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tables.npz"
        save_symbols(path, tables)
        name = "spacy-hashembeds.MultiEmbed.v1"
        return initialize(build_embedder(name, tables=str(path)), docs)


def initialize(model: Model, docs: Sequence[Doc]) -> Model:
    """Initialize an embedder."""
    model.initialize(X=list(docs[:10]))
    return model


def make_embedders(docs: Sequence[Doc], rows: Sequence[int] = ROWS) -> Builders:
    """Make spaCy's embedder and ours, with equal weights if both hash."""
    fix_random_seed(0)
    stock = initialize(build_embedder(STOCK_EMBED, rows=[*rows]), docs)
    ours, one_hash = (
        build_embedder(OUR_EMBED, rows=[*rows], num_hashes=k).from_bytes(
            stock.to_bytes()
        )
        for k in (4, 1)
    )
    lookup = build_lookup(docs)

    def make_on_blas() -> Model:
        model = stock.copy()
        for node in model.walk():
            node.ops = NUMPY_BLAS_OPS
        return model

    builders: dict[str, Any] = {SPACY: stock.copy, SPACY_BLAS: make_on_blas}
    if import_torch() is None:
        msg.warn("torch is not installed, and is left out.")
    else:
        builders[TORCH] = partial(TorchEmbed, stock)
    return {
        **builders,
        OURS: ours.copy,
        OURS_NUMPY: ours.copy,
        OURS_1: one_hash.copy,
        LOOKUP: lookup.copy,
    }


def measure_embedding(text: Corpus, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure our, spaCy's and PyTorch's embedding layers, by the size of a call."""
    builders = make_embedders(text.docs)
    predict: dict[str, Any] = {}
    for n in sizes.calls:
        docs = find_short_docs(text.docs) if n == 1 else text.docs
        batches = batch_by_docs(docs, n, 200)
        what = f"{n:,} of {count_words(batches) / len(batches):,.0f} words"
        predict[what] = (builders, prepare_predict, group(batches))
    train: dict[str, Any] = {}
    for dropout, n in product(DROPOUTS, sizes.words):
        batches = batch_by_words(text.docs, n, 100)
        what = f"{count_words(batches) / len(batches):,.0f}, {dropout:g}"
        prepare = partial(prepare_train, dropout=dropout)
        train[what] = (builders, prepare, group(batches))
    sections = {
        "forward: Docs a call": predict,
        "forward and backward: words, dropout": train,
    }
    contexts = in_numpy(OURS_NUMPY)
    yield {
        "width": WIDTH,
        "rows": ROWS,
        "multi_embed_min_freq": MIN_FREQ,
        "agreement": compare_outputs(
            builders[SPACY](), builders[OURS](), [text.docs[:1000]]
        ),
        "timings": {
            what: time_tasks(tasks, schedule, contexts=contexts)
            for what, tasks in sections.items()
        },
    }


#: The number of hashes, or the hasher and compressor of all attributes, by name.
FEWER = {"MultiFewerHashEmbed, 4 hashes": 4, "MultiFewerHashEmbed, 1 hash": 1}
PAIRS = {
    ", ".join(pair): pair
    for pair in product(("MD5", "LSH"), ("Emb", "Pool", "Add", "Proj"))
}
#: Rows of `EmbCompressor`, which then has about as many parameters as `PoolCompressor`.
EMB_ROWS = 1037


def make_hashformers(docs: Sequence[Doc]) -> dict[str, Model]:
    """Make hash embeddings, and all pairs of hashers and compressors, for docs."""
    fix_random_seed(0)
    models = {
        name: build_embedder(OUR_EMBED, rows=ROWS, num_hashes=k)
        for name, k in FEWER.items()
    }

    @cache
    def get_ngrams(kind: CharacterNgrams) -> NDArray:
        counter = KeyCounter(8 * kind.max_ngrams)
        counter.add(kind.read(docs))
        return counter.get_most_frequent(kind.max_ngrams)

    def make_part(name: str, **settings: Any) -> Model:
        return registry.get("architectures", f"spacy-hashembeds.{name}.v1")(**settings)

    for name, (hasher, compressor) in PAIRS.items():
        settings = {"rows": EMB_ROWS} if compressor == "Emb" else {}
        models[name] = build_embedder(
            "spacy-hashembeds.HashFormerEmbed.v1",
            hashers={attr: make_part(f"{hasher}Hasher") for attr in ATTRS},
            compressors={
                attr: make_part(f"{compressor}Compressor", **settings) for attr in ATTRS
            },
        )
        models[name].attrs[CHARACTER_NGRAM_SOURCE] = SymbolSource(get_ngrams)
    return {name: initialize(model, docs) for name, model in models.items()}


def divide(docs: Sequence[Doc], sizes: Sizes) -> dict[str, tuple[Prepare, list[Any]]]:
    """Divide docs into calls and steps of training."""
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
    """Measure the speeds of all pairs on words that were embedded before."""
    models = make_hashformers(text.docs)
    tasks = {}
    for what, (prepare, samples) in divide(text.docs, sizes).items():
        whole = [batch for sample in samples for batch in sample]
        warm = {
            name: partial(_warm_up, m, prepare, whole) for name, m in models.items()
        }
        tasks[what] = (warm, prepare, samples)
    yield {
        "width": WIDTH,
        "rows": ROWS,
        "emb_rows": EMB_ROWS,
        "dropout": DROPOUT,
        "parameters": {name: count_parameters([m]) for name, m in models.items()},
        "timings": {"one thread": time_tasks(tasks, schedule, clock=thread_time)},
    }


def _warm_up(model: Model, prepare: Prepare, whole: list[Any]) -> Model:
    """Copy an embedder, and run it on the whole text."""
    copied = model.copy()
    prepare(copied, whole)()
    return copied
