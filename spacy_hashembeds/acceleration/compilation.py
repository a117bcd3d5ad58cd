"""Whether compiled kernels are there and in use, and what they bring here."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import Distribution, distributions
from pathlib import Path
from timeit import timeit
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from spacy.ml.models import build_Tok2Vec_model
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model, set_dropout_rate, use_ops

from ..architectures.embedders.multi_fewer_hash_embed import MultiFewerHashEmbed
from ..architectures.encoders.maxout_window_encoder import MaxoutWindowEncoder
from ..kernels import compiled
from ..kernels.quantized import PRECISIONS, name_instructions
from .installation import PACKAGE, describe_error
from .machine import Spread, find_spread

COMPILED, NUMPY = "compiled", "numpy"

# words of a text, and texts
_WORDS, _TEXTS = 27, 36


@dataclass(frozen=True)
class Kernels:
    """The kernels of our layers on the CPU."""

    #: "compiled" or "numpy".
    in_use: str
    #: Whether there are compiled ones that can be used; if not, why not.
    are_there: bool
    error: str | None
    #: The instructions for products of fewer bits, by precision, or None.
    instructions: dict[str, str | None]
    #: What a Tok2Vec layer takes on either path, as `_make_works` names it.
    microseconds_a_word: dict[str, dict[str, Spread]]


def examine_kernels(*, rounds: int = 7) -> Kernels:
    """Find the kernels, and measure them in turns."""
    there, error = compiled.find()
    choices = {NUMPY: None} if there is None else {COMPILED: there, NUMPY: None}
    return Kernels(
        in_use=NUMPY if compiled.kernels is None else COMPILED,
        are_there=there is not None,
        error=None if error is None else describe_error(error),
        instructions={name: name_instructions(name) for name in PRECISIONS[1:]},
        microseconds_a_word=measure_kernels(choices, rounds),
    )


def measure_kernels(
    choices: dict[str, Any], rounds: int
) -> dict[str, dict[str, Spread]]:
    """Measure microseconds a word with each of the kernels: None for numpy."""
    works = _make_works()
    times: dict[str, dict[str, list[float]]] = {
        name: {what: [] for what in works} for name in choices
    }
    for _ in range(rounds + 1):
        for name, chosen in choices.items():
            with compiled.using(chosen):
                for what, (work, number) in works.items():
                    seconds = timeit(work, number=number)
                    times[name][what].append(seconds * 1e6 / (_TEXTS * _WORDS))
    return {
        # the first round makes what the layers keep
        name: {what: find_spread(us[1:]) for what, us in of_name.items()}
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
    folder = Path(compiled.__file__).parent
    if kernels.error is not None:
        trouble = f"The compiled kernels can't be used ({kernels.error})"
    else:
        trouble = f"There are no compiled kernels in {folder}"
    trouble += ": numpy does their work, which takes longer"
    if (other := _find_other_copy(folder)) is not None:
        return [
            f"{trouble}. Another copy of {PACKAGE}, installed in {other}, has them, "
            "but Python found this one first. Work in another folder and without "
            "PYTHONPATH, run `spacy` in the place of `python -m spacy`, or install "
            "this copy with: pip install --editable ."
        ]
    return [
        f"{trouble}. To have them, install a C++ compiler and Python's headers, and "
        "then in a clone of the project: pip install --force-reinstall --no-deps "
        "--no-cache-dir --editable ."
    ]


def _find_other_copy(own: Path) -> Path | None:
    """Find where a copy is installed that has compiled kernels, and is not this one."""
    names = [f"_compiled{suffix}" for suffix in EXTENSION_SUFFIXES]
    for found in distributions(name=PACKAGE):
        root = _locate(found)
        folder = root / own.relative_to(own.parents[1])
        has_kernels = any((folder / name).is_file() for name in names)
        if has_kernels and folder.resolve() != own.resolve():
            return root
    return None


def _locate(found: Distribution) -> Path:
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        return Path(url2pathname(urlsplit(origin["url"]).path))
    return Path(str(found.locate_file("")))


def _make_works() -> dict[str, tuple[Callable[[], object], int]]:
    """Make what a Tok2Vec of spaCy's usual size does, and how often for all words."""
    vocab = Vocab()
    words = [f"Word{i * i % 149}" for i in range(_TEXTS * _WORDS)]  # most come back
    texts = [words[i : i + _WORDS] for i in range(0, len(words), _WORDS)]
    docs = [Doc(vocab, text) for text in texts]
    with use_ops("numpy", use_blis=False):
        embed = MultiFewerHashEmbed(
            width=96,
            attrs=["NORM", "PREFIX", "SUFFIX", "SHAPE"],
            rows=[5000, 2500, 2500, 2500],
            num_hashes=4,
            include_static_vectors=False,
        )
        encode = MaxoutWindowEncoder(width=96, window_size=1, maxout_pieces=3, depth=4)
        tok2vec = build_Tok2Vec_model(embed, encode).initialize(X=docs[:1])
    set_dropout_rate(tok2vec, 0.1)
    return {
        "one text": (partial(tok2vec.predict, docs[:1]), _TEXTS),
        "a batch": (partial(tok2vec.predict, docs), 1),
        "training": (partial(_train, tok2vec, docs), 1),
    }


def _train(tok2vec: Model, docs: list[Doc]) -> None:
    Y, backprop = tok2vec.begin_update(docs)
    backprop(Y)
    for node in tok2vec.walk():
        for name in node.grad_names:
            node.set_grad(name, node.get_grad(name) * 0)
