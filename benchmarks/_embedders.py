"""The contenders of the embedding benchmark: equal shapes, equal weights."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Model, fix_random_seed, set_dropout_rate

from spacy_hashembeds.acceleration.blas import NUMPY_BLAS_OPS
from spacy_hashembeds.symbols import count_values, cut_symbols, save_symbols

from ._machine import import_torch
from ._timing import Contender, Maker, in_numpy
from ._torch import TorchEmbed

WIDTH = 96
ATTRS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
#: What `spacy init config` writes.
ROWS = [5000, 1000, 2500, 2500]
MIN_FREQ = 10
HASHES = (1, 2, 3, 4)

SPACY = "spacy_4"
SPACY_BLAS = "spacy_4_blas"
OURS = {k: f"ours_{k}" for k in HASHES}
TORCH = {k: f"torch_{k}" for k in HASHES}
TORCH_ROWS = "torch_rows_4"
MULTI_EMBED = "multi_embed"
#: Ours with four hashes, without compiled kernels.
OURS_NUMPY = "ours_4_numpy"

#: Batches of docs, to embed one after the other.
Sample = list[list[Doc]]
Gradients = list[list[np.ndarray]]


@dataclass(frozen=True)
class Embedders:
    """All contenders, those of torch None where torch is not installed.

    thinc (Mapping[str, Model]): spaCy's layer, the same on numpy's matrix product, and
        ours, initialised. Those that hash have the weights of spaCy's.
    torch (Mapping[str, Optional[TorchEmbed]]): The same in PyTorch.
    """

    thinc: Mapping[str, Model]
    torch: Mapping[str, TorchEmbed | None]


def make_embedders(docs: Sequence[Doc], rows: Sequence[int] = ROWS) -> Embedders:
    """Make the contenders, with tables of so many rows, for the words of some docs."""
    fix_random_seed(0)
    stock = build("spacy.MultiHashEmbed.v2", rows=list(rows))
    stock.initialize(X=list(docs[:10]))
    thinc = {SPACY: stock, SPACY_BLAS: stock.copy()}
    for node in thinc[SPACY_BLAS].walk():
        node.ops = NUMPY_BLAS_OPS
    for k, name in OURS.items():
        model = build(
            "spacy-hashembeds.MultiFewerHashEmbed.v1", rows=list(rows), num_hashes=k
        )
        thinc[name] = model.from_bytes(stock.to_bytes())
    thinc[MULTI_EMBED] = build_with_symbols(
        "spacy-hashembeds.MultiEmbed.v1", docs, min_freq=MIN_FREQ
    )
    has_torch = import_torch() is not None
    torch = {
        name: TorchEmbed(stock, k) if has_torch else None
        for k, name in [*TORCH.items(), (4, TORCH_ROWS)]
    }
    return Embedders(thinc, torch)


def build(name: str, **settings: Any) -> Model:
    """Build an embedder as a config would."""
    settings = {
        "width": WIDTH,
        "attrs": ATTRS,
        "include_static_vectors": False,
        **settings,
    }
    return registry.get("architectures", name)(**settings)


def build_with_symbols(
    name: str, docs: Sequence[Doc], *, min_freq: int, **settings: Any
) -> Model:
    """Build an embedder with the symbols that are frequent in some docs."""
    counts = count_values(docs, ATTRS)
    tables = cut_symbols(counts, min_freq=min_freq, lang=docs[0].vocab.lang)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tables.npz"
        save_symbols(path, tables)
        model = build(name, tables=str(path), **settings)
        model.initialize(X=list(docs[:10]))
    return model


def make_predictors(embedders: Embedders) -> dict[str, Maker[Sample] | None]:
    """Make what predicts: for each contender a function that copies it."""
    makers: dict[str, Maker[Sample] | None] = {}
    for name, model in embedders.thinc.items():
        makers[name] = _copy_thinc_then(_make_predict, model)
    _add_numpy(makers)
    for name, torch in embedders.torch.items():
        how = _make_rows_predict if name == TORCH_ROWS else _make_predict
        makers[name] = _copy_then(how, torch) if torch else None
    return makers


def make_trainers(
    embedders: Embedders, dropout: float
) -> dict[str, Maker[Sample] | None]:
    """Make what goes forward and backward: for each contender a copying function."""

    def make_thinc(model: Model) -> Contender[Sample]:
        set_dropout_rate(model, dropout)
        return _make_train(model.begin_update)

    def make_torch(model: TorchEmbed) -> Contender[Sample]:
        return _make_train(lambda docs: model.begin_update(docs, dropout))

    makers: dict[str, Maker[Sample] | None] = {}
    for name, model in embedders.thinc.items():
        makers[name] = _copy_thinc_then(make_thinc, model)
    _add_numpy(makers)
    for name, torch in embedders.torch.items():
        if name != TORCH_ROWS:
            makers[name] = _copy_then(make_torch, torch) if torch else None
    return makers


def _add_numpy(makers: dict[str, Maker[Sample] | None]) -> None:
    """Have ours with four hashes, if it is among them, once more in numpy."""
    make = makers.get(OURS[4])
    if make is not None:
        makers[OURS_NUMPY] = in_numpy(make)


def make_gradients(sample: Sample) -> Gradients:
    """Make gradients of the outputs, new arrays of equal values for equal samples.

    RETURNS (Gradients): For each doc of each batch an array of shape `(tokens, width)`.
    """
    rng = np.random.default_rng(0)
    return [
        [rng.standard_normal((len(doc), WIDTH), dtype="float32") for doc in batch]
        for batch in sample
    ]


def _copy_then(make: Callable[[Any], Contender[Sample]], model: Any) -> Maker[Sample]:
    return lambda: make(model.copy())


def _copy_thinc_then(
    make: Callable[[Model], Contender[Sample]], model: Model
) -> Maker[Sample]:
    def copy() -> Contender[Sample]:
        copied = model.copy()
        for node, original in zip(copied.walk(), model.walk(), strict=True):
            node.ops = original.ops  # which Thinc does not copy
        return make(copied)

    return copy


def _make_predict(model: Model | TorchEmbed) -> Contender[Sample]:
    def prepare(sample: Sample) -> Callable[[], object]:
        return lambda: [model.predict(docs) for docs in sample]

    return prepare


def _make_rows_predict(model: TorchEmbed) -> Contender[Sample]:
    def prepare(sample: Sample) -> Callable[[], object]:
        batches = [model.find_rows(docs) for docs in sample]
        return lambda: _embed_rows(model, batches)

    return prepare


def _embed_rows(model: TorchEmbed, batches: Sequence[Any]) -> None:
    with model.torch.inference_mode():
        for rows in batches:
            model.embed(rows)


def _make_train(begin_update: Callable[[list[Doc]], Any]) -> Contender[Sample]:
    def prepare(sample: Sample) -> Callable[[], object]:
        # layers may change the arrays that they are given, and spaCy's do
        steps = list(zip(sample, make_gradients(sample), strict=True))

        def run() -> None:
            for docs, dY in steps:
                _, backprop = begin_update(docs)
                backprop(dY)

        return run

    return prepare
