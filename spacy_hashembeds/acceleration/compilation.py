"""Whether compiled kernels are there and in use, and what they bring here."""

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from spacy.ml.models import build_Tok2Vec_model
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model, NumpyOps, get_current_ops, set_current_ops

from ..architectures.embedders.multi_fewer_hash_embed import MultiFewerHashEmbed
from ..architectures.encoders.maxout_window_encoder import MaxoutWindowEncoder
from ..kernels import compiled

COMPILED, NUMPY = "compiled", "numpy"

_ATTRS: list[str | int] = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
_WIDTH = 96
_WORDS = 27

#: Where the package is imported from: a clone, if that is the current folder.
FOLDER = Path(compiled.__file__).parent


class Kernels(NamedTuple):
    """The kernels of our layers on the CPU.

    in_use (str): "compiled" or "numpy".
    are_there (bool): Whether there are compiled ones that can be used.
    error (str, optional): Why those that are there can't be used.
    microseconds_a_word (dict[str, dict[str, float]]): What a Tok2Vec layer of spaCy's
        usual size takes on either path: in a text of 27 words alone, in a batch of 36
        such texts, and in training on it, without the optimizer. Compiled only if they
        are there.
    """

    in_use: str
    are_there: bool
    error: str | None
    microseconds_a_word: dict[str, dict[str, float]]


def examine_kernels(*, rounds: int = 5) -> Kernels:
    """Find the kernels, and measure them in turns. Takes less than a second.

    rounds (int): How often to measure. The middle counts.
    """
    there = compiled.find()
    choices = {NUMPY: None} if there is None else {COMPILED: there, NUMPY: None}
    in_use = NUMPY if compiled.kernels is None else COMPILED
    error = compiled.find_error()
    return Kernels(
        in_use,
        there is not None,
        None if error is None else f"{type(error).__name__}: {error}",
        measure_kernels(choices, rounds),
    )


def measure_kernels(
    choices: dict[str, Any], rounds: int
) -> dict[str, dict[str, float]]:
    """Measure what a Tok2Vec layer takes with different kernels.

    choices (dict[str, Any]): The kernels, or None for numpy, by any name.
    RETURNS (dict[str, dict[str, float]]): For each of them, microseconds a word.
    """
    times: dict[str, dict[str, list[float]]] = {name: {} for name in choices}
    works = _make_works()
    for i in range(rounds + 1):
        for name, chosen in choices.items():
            with compiled.using(chosen):
                for what, (work, n_words) in works.items():
                    us = _measure(work) * 1e6 / n_words
                    if i > 0:  # the first one makes what the layers keep
                        times[name].setdefault(what, []).append(us)
    return {
        name: {what: median(us) for what, us in of_name.items()}
        for name, of_name in times.items()
    }


def advise_on_kernels(kernels: Kernels) -> list[str]:
    """Say how to get compiled kernels, or to use them."""
    if kernels.in_use == COMPILED:
        return []
    if kernels.are_there:
        return [
            f"Compiled kernels are there, but {compiled.SWITCH} is "
            f"{os.environ.get(compiled.SWITCH)} in the environment. Without it, they "
            "are used."
        ]
    if kernels.error is not None:
        trouble = f"The compiled kernels can't be used ({kernels.error})"
    else:
        trouble = f"There are no compiled kernels in {FOLDER}"
    return [
        f"{trouble}: numpy does their work, which takes longer. To have them, install "
        "a C++ compiler and Python's headers, and then in a clone of the project: pip "
        "install --force-reinstall --no-deps --no-cache-dir . (or --editable .)"
    ]


def _make_works() -> dict[str, tuple[Callable[[], object], int]]:
    """Make what is measured, and say how many words it does."""
    docs = _make_docs(36)
    n_words = sum(map(len, docs))
    before = get_current_ops()
    set_current_ops(NumpyOps(use_blis=False))
    try:
        tok2vec = _make_tok2vec(docs)
    finally:
        set_current_ops(before)
    return {
        "one text": (partial(tok2vec.predict, docs[:1]), _WORDS),
        "a batch": (partial(tok2vec.predict, docs), n_words),
        "training": (partial(_train, tok2vec, docs), n_words),
    }


def _make_tok2vec(docs: list[Doc]) -> Model:
    embed = MultiFewerHashEmbed(
        width=_WIDTH,
        attrs=_ATTRS,
        rows=[5000, 2500, 2500, 2500],
        num_hashes=4,
        include_static_vectors=False,
    )
    encode = MaxoutWindowEncoder(width=_WIDTH, window_size=1, maxout_pieces=3, depth=4)
    tok2vec = build_Tok2Vec_model(embed, encode)
    tok2vec.initialize(X=docs[:1])
    for node in tok2vec.walk():
        if "dropout_rate" in node.attrs:
            node.attrs["dropout_rate"] = 0.1
    return tok2vec


def _make_docs(n: int) -> list[Doc]:
    """Make texts of words of which most come back."""
    vocab = Vocab()
    words = [f"Word{i * i % 149}" for i in range(n * _WORDS)]
    return [Doc(vocab, words[i * _WORDS : (i + 1) * _WORDS]) for i in range(n)]


def _train(tok2vec: Model, docs: list[Doc]) -> None:
    Y, backprop = tok2vec.begin_update(docs)
    backprop(Y)
    for node in tok2vec.walk():
        for name in node.grad_names:
            node.set_grad(name, node.get_grad(name) * 0)


def _measure(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
