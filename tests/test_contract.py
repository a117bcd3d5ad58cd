"""Properties of each layer that a config can name: see `contract.py`."""

import copy
import inspect
import pickle
import re
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.attrs import LOWER, NORM, SHAPE, SUFFIX
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Adam, Model, fix_random_seed, set_dropout_rate

from spacy_hashembeds.layers import folding

from .contract import (
    IN_TORCH,
    LAYERS,
    OF_BATCHES,
    REGISTERED,
    Batch,
    Case,
    get_vocab,
    has_vectors,
    is_hasher,
    needs_docs,
    reads_docs,
    runs_kernels,
    takes_any_docs,
)
from .toy_embedders import assert_gradients_close, get_gradients, make_docs


def list_cases(is_right=lambda case: True):
    """Return the cases for which a condition is true."""
    return [
        pytest.param(case, id=name, marks=[pytest.mark.torch] * (name in IN_TORCH))
        for name, case in (REGISTERED | IN_TORCH).items()
        if is_right(case)
    ]


@pytest.fixture(params=list_cases())
def case(request) -> Case:
    return request.param


@pytest.fixture
def model(case) -> Model:
    return case.build()


@pytest.fixture
def batch(case) -> Batch:
    return case.make_batch()


def is_trained(model: Model) -> bool:
    return any(node.param_names for node in model.walk())


def get_weights(model: Model) -> list[np.ndarray]:
    return [n.get_param(name) for n in model.walk() for name in n.param_names]


def has_batchnorm(model: Model) -> bool:
    """Return True if, in training, outputs depend on the other items of a batch."""
    return any(node.name == "batchnorm" for node in model.walk())


def flatten(Y) -> np.ndarray:
    """Return all numbers of an output or a gradient."""
    arrays = [Y] if isinstance(Y, np.ndarray) else Y
    return np.concatenate([np.zeros(0, "f"), *map(np.ravel, arrays)])


def make_gradient(Y, seed=0):
    state = np.random.default_rng(seed)
    if isinstance(Y, np.ndarray):
        return state.normal(size=Y.shape).astype("f")
    return [state.normal(size=y.shape).astype("f") for y in Y]


def update(model: Model, batch: Batch, dY) -> np.ndarray:
    Y, backprop = model.begin_update(batch)
    backprop(dY)
    return flatten(Y)


def train(model: Model, batch: Batch) -> None:
    """Train twice, since the first step of Thinc's Adam changes no weights."""
    optimizer = Adam(0.1)
    for _ in range(2 * is_trained(model)):
        Y, backprop = model.begin_update(batch)
        backprop(make_gradient(Y))
        model.finish_update(optimizer)


def set_dropout(model: Model, rate: float) -> None:
    """Set all dropout rates, including those in attributes of layers."""
    set_dropout_rate(model, rate)
    for node in model.walk():
        for name in {"dropout", "attention_dropout"} & node.attrs.keys():
            if node.attrs[name] is not None:
                node.attrs[name] = rate


def assert_same(actual, expected) -> None:
    np.testing.assert_array_equal(flatten(actual), flatten(expected))


def test_all_registered_layers_have_cases():
    cases = {case.layer for case in (REGISTERED | IN_TORCH).values()}
    assert LAYERS.keys() == cases | OF_BATCHES


def test_no_items(case, model, batch):
    empty = [] if isinstance(batch, np.ndarray) else [x for x in batch if not len(x)]
    for nothing in ([], empty[:1], empty * 2):
        if len(nothing) == 0 and needs_docs(case):
            continue
        for is_train in (False, True):
            Y, backprop = model(nothing or batch[:0], is_train)
            assert len(Y) == len(nothing)
            if is_trained(model):
                backprop(copy.deepcopy(Y))
            if not flatten(Y).size:
                assert not any(gradient.any() for gradient in get_gradients(model))
    assert flatten(Y).dtype == flatten(model.predict(batch)).dtype


def test_other_items_of_a_batch_have_no_effect(case, model, batch):
    """Outputs and gradients are those of each item alone."""
    items = [batch[i : i + 1] for i in range(len(batch))]
    together = model.predict(batch)
    alone = [flatten(model.predict(item)) for item in items]
    np.testing.assert_allclose(flatten(together), np.concatenate(alone), atol=1e-5)
    for Y, other in zip(together, model.predict(batch[::-1])[::-1], strict=True):
        np.testing.assert_allclose(Y, other, atol=1e-5)
    if not is_trained(model) or has_batchnorm(model):
        return
    dY, other = make_gradient(together), case.build()
    Y = update(model, batch, dY)
    Ys = [update(other, item, dY[i : i + 1]) for i, item in enumerate(items)]
    np.testing.assert_allclose(Y, np.concatenate(Ys), atol=1e-5)
    assert_gradients_close(get_gradients(model), get_gradients(other))


def test_gradients_add_up_and_inputs_are_unchanged(model, batch):
    if not is_trained(model):
        return
    given = copy.deepcopy([item for item in batch if not isinstance(item, Doc)])
    Y, backprop = model.begin_update(batch)
    dY = make_gradient(Y)
    before = flatten(dY)
    dX = copy.deepcopy(backprop(dY))
    once = [gradient.copy() for gradient in get_gradients(model)]
    again = backprop(dY)
    assert_same(dY, before)
    assert_gradients_close(get_gradients(model), [2 * gradient for gradient in once])
    assert any(gradient.any() for gradient in once)
    if isinstance(batch[0], np.ndarray):
        assert_same(batch, given)
        assert_same(again, dX)


@pytest.mark.parametrize("case", list_cases(runs_kernels))
@pytest.mark.parametrize("change", [(-1, 0), (1, 0), (0, -1), (0, 6)])
def test_gradients_of_wrong_shape_raise(model, batch, change):
    Y, backprop = model.begin_update(batch[:1])
    shape = np.add(Y[0].shape, change)
    with pytest.raises(ValueError, match=r"3 tokens should be of shape \(3, \d+\)"):
        backprop([np.ones(shape, dtype="f")])


def test_all_weights_are_trained(model, batch):
    before = [array.copy() for array in get_weights(model)]
    train(model, batch)
    for old, new in zip(before, get_weights(model), strict=True):
        assert not np.array_equal(old, new)


def test_equal_seeds_give_equal_weights_and_equal_training(case, batch):
    saved = []
    for seed in (1, 1, 2):
        fix_random_seed(seed)
        model = case.initialize(case.make(), batch)
        set_dropout(model, 0.2)
        train(model, batch)
        saved.append(flatten(get_weights(model)))
    np.testing.assert_array_equal(saved[0], saved[1])
    assert np.array_equal(saved[0], saved[2]) != is_trained(model)


def test_to_and_from_bytes(case, model, batch):
    saved, expected = model.to_bytes(), model.predict(batch)
    loaded = case.make(**case.other).from_bytes(saved)
    assert_same(loaded.predict(batch), expected)
    assert loaded.to_bytes() == saved
    train(loaded, batch)  # though arrays from bytes can't be written to
    assert not any(node.shims for node in model.walk()), "shims would be pickled"


@pytest.mark.parametrize(
    "duplicate", [Model.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_are_independent(case, model, batch, duplicate):
    model.predict(batch[:1])
    size = len(pickle.dumps(model))
    expected = model.predict(batch)
    assert len(pickle.dumps(model)) == size, "cached data are pickled"
    copied = duplicate(model)
    assert_same(copied.predict(batch), expected)
    # as after `replace_listeners`: Thinc's copies have no references
    duplicate(model).initialize(X=batch)
    for node in copied.walk():
        for name in node.param_names:
            param = node.get_param(name)
            node.set_param(name, make_gradient(param) ** 2 + param)
    assert_same(model.predict(batch), expected)
    if is_trained(model):
        assert not np.allclose(flatten(copied.predict(batch)), flatten(expected))


@pytest.mark.parametrize("case", list_cases(takes_any_docs))
@pytest.mark.parametrize("lengths", [None, [], [0, 0]])
def test_initialization_without_tokens(case, batch, lengths):
    X = None if lengths is None else make_docs(get_vocab(), lengths)
    model = case.make().initialize(X=X)
    (Y,) = model.predict(batch[:1])
    assert Y.shape == (3, case.build().predict(batch[:1])[0].shape[1])


def test_dropout_is_only_in_training(model, batch):
    clean = flatten(model.predict(batch))
    set_dropout(model, 0.5)
    np.testing.assert_array_equal(flatten(model.predict(batch)), clean)
    rates = ("dropout_rate", "dropout")
    has_sites = any(node.attrs.get(name) for node in model.walk() for name in rates)
    trained = flatten(model.begin_update(batch)[0])
    if not has_batchnorm(model):
        assert np.allclose(trained, clean, atol=1e-5) != has_sites


def test_threads_may_share_a_model(case, model, batch):
    items = [batch[i : i + 1] for i in range(len(batch))]
    expected = [flatten(case.build().predict(item)) for item in items]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda item: flatten(model.predict(item)), items * 20))
    for Y, other in zip(found, expected * 20, strict=True):
        np.testing.assert_allclose(Y, other, atol=1e-5)


DAMAGES = [
    lambda array: np.where(np.arange(array.shape[-1]) == 0, np.float32("nan"), array),
    lambda array: array + np.inf,
    lambda array: array[:-1],
    lambda array: array.astype("float64"),
]


@pytest.mark.parametrize("case", list_cases(reads_docs))
def test_memory_zones_free_long_words(model):
    """Caches of words must not hold their texts."""
    # all attributes are the whole text: spaCy's take a second for each word
    vocab = Vocab(lex_attr_getters=dict.fromkeys((LOWER, NORM, SHAPE, SUFFIX), str))
    vocab.vectors = get_vocab().vectors

    def predict(prefix: str) -> int:
        words = [f"{prefix}É{i}" + "é" * 100_000 for i in range(31)]
        with vocab.memory_zone():
            model.predict([Doc(vocab, words=words[i : i + 7]) for i in range(0, 31, 7)])
        del words
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = predict("a")
        assert predict("b") - before < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("megabytes", ["0", "256"])
def test_damaged_weights_raise(model, batch, megabytes, monkeypatch):
    monkeypatch.setenv(folding.LIMIT_NAME, megabytes)
    model.predict(batch)
    for node in model.walk():
        for name in node.param_names:
            param = node.get_param(name)
            for damage in DAMAGES:
                node.set_param(name, damage(param))
                match = rf"'{name}' of layer '{re.escape(node.name)}' should be f"
                for is_train in (False, True, False):
                    with pytest.raises(ValueError, match=match):
                        model(batch, is_train)
            node.set_param(name, param)


#: Attributes that are not checked: Thinc's own, and those without effect on outputs.
UNCHECKED = {
    *("dropout_rate", "is_enabled", "pad", "column", "key", "key_attr", "multi_label"),
    *("include_static_vectors", "max_ngrams", "hashes_weights"),
}


def test_damaged_attributes_raise(model, batch):
    model.predict(batch)
    for node in model.walk():
        for name, value in node.attrs.copy().items():
            if name in UNCHECKED or not isinstance(value, int | float | str):
                continue
            for damaged in (-1, -1.5, b"damaged", []):
                node.attrs[name] = damaged
                for is_train in (False, True):
                    with pytest.raises(
                        ValueError, match=f"'{name}' of layer .* should"
                    ):
                        model(batch, is_train)
            node.attrs[name] = value


@pytest.mark.parametrize("case", list_cases(lambda case: not is_hasher(case)))
def test_missing_weights_raise(case, batch):
    with pytest.raises(ValueError, match=r"parameter '|no symbols|value unset"):
        case.make().predict(batch)


@pytest.mark.parametrize("case", list_cases(has_vectors))
def test_missing_vectors_raise(case):
    with pytest.raises(ValueError, match=r"'include_static_vectors'.*has no vectors"):
        case.initialize(case.make(), make_docs(spacy.blank("en").vocab))


#: Arguments that may be zero.
MAY_BE_ZERO = {"seed", "unk", "importance_rows", "hidden_layers", "window_size"}

#: Arguments without an upper bound: spaCy sets `nO`, and corpora limit `max_ngrams`.
UNBOUNDED = {"nO", "max_ngrams"}


def find_wrong(name: str, kind: Any) -> list[Any]:
    """Return invalid values of a numeric argument."""
    if kind in (int, int | None) and name not in UNBOUNDED:
        return [-1, True, 1.5, "1", 2**64] + [0] * (name not in MAY_BE_ZERO)
    is_rate = kind in (float, float | None) and name != "initial_weight"
    return [-0.1, 1.0, float("nan"), "0.5", True] * is_rate


FUNCTIONS = {param.values[0].function: param for param in list_cases()}
NUMBERS = [
    pytest.param(case, name, wrong, id=f"{param.id}, {name}", marks=param.marks)
    for param in FUNCTIONS.values()
    for case in param.values
    for name, parameter in inspect.signature(case.function).parameters.items()
    if (wrong := find_wrong(name, parameter.annotation))
]


@pytest.mark.parametrize(("case", "name", "wrong"), NUMBERS)
def test_invalid_numbers_raise_on_construction(case, name, wrong):
    for value in wrong:
        with pytest.raises(ValueError, match=rf"'{name}' should be .* is {value!r}"):
            case.make(**{name: value})


WEIGHTED, TEXTCAT = "MultiWeightedHashEmbed", "HashNgramTextCat"
WRONG: list[tuple[str, str, Any, str]] = [
    *(
        ("MultiFewerHashEmbed", "attrs", value, f"'attrs' {message}")
        for value, message in [
            ([], r"should be a list .* but is \[\]"),
            ("NORM", "should be a list .* is 'NORM'"),
            (["NORM", "FORM"], "holds 'FORM'.*NORM"),
            ([987654], "holds 987654"),
            ([""], "holds ''"),
            ([True], "holds True"),
        ]
    ),
    *(
        (name, argument, value, f"'{argument}' {message}")
        for name, argument in [
            *(("MultiFewerHashEmbed", "rows"), (WEIGHTED, "rows")),
            (WEIGHTED, "importance_rows"),
        ]
        for value, message in [
            ([1, 2], "should be one number of rows for each"),
            (5, "should be one number of rows for each"),
            ([5, 0, 5], "should be 1 to 2147483647, but is 0"),
            ([5, 5, 10**12], "should be 1 to 2147483647, but is 1000000000000"),
        ]
    ),
    *((name, "attrs", ["FORM"], "'attrs' holds") for name in (WEIGHTED, "MultiEmbed")),
    ("MultiFewerHashEmbed", "num_hashes", 5, "'num_hashes' should be 1 to 4, but"),
    ("MultiFewerHashEmbed", "seed", 2**32 - 2, "'seed' should be 0 to 4294967293"),
    (WEIGHTED, "seed", 2**32 - 2, "'seed' should be 0 to 4294967293"),
    (WEIGHTED, "num_hashes", 101, "'num_hashes' .* 1 to 100, but"),
    (WEIGHTED, "tables", "a.npz", r"'tables'.*a\.npz.*'importance_rows'"),
    ("SubwordEmbed", "attr", "IS_ALPHA", "'attr' should be"),
    ("SubwordEmbed", "minn", 4, "'maxn' should be"),
    ("SubwordEmbed", "num_hashes", 5, "'num_hashes' should be"),
    ("CharCNNEmbed", "ngram_size", 6, "'ngram_size' should be 1 to 5, but is 6"),
    ("CharCNNEmbed", "max_chars", 10_001, "'max_chars' should be 1 to 10000, but"),
    (TEXTCAT, "max_snippet", 3, "'max_snippet' should be 4 to 214748364"),
    (TEXTCAT, "ngram_size", 101, "'ngram_size' should be 1 to 100, but"),
    (TEXTCAT, "hidden_layers", 101, "'hidden_layers' should be 0 to 100"),
    (TEXTCAT, "attr", "LOWERCASE", "'attrs' holds 'LOWERCASE'"),
    (TEXTCAT, "rows", None, "'num_hashes' 1"),
    (f"{TEXTCAT}, without weights", "num_hashes", 5, "'num_hashes' should be 1 to 4"),
    ("PoolCompressor", "num_bits", 21, "'num_bits' should be 1 to 20"),
    ("LSHHasher", "max_ngrams", 0, "'max_ngrams' should be 1 or more"),
]


@pytest.mark.parametrize(("name", "argument", "value", "message"), WRONG)
def test_invalid_arguments_raise_on_construction(name, argument, value, message):
    with pytest.raises((ValueError, TypeError), match=message):
        REGISTERED[name].make(**{argument: value})
