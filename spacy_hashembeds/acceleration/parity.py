"""Check that a pipeline and its conversion give equal annotation and vectors."""

import random
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from thinc.api import Model

from ..architectures.maxout_window_encoder import forward as encode_windows
from ..architectures.mix_attributes import forward as embed_attributes
from ..layers.windowencoder import IN_FLOAT32, EncoderPlan
from ..thinc_internals import get_forward
from ..training.annotation import walk_layers
from ..training.prediction import copy_words, find_inputs
from .changes import ATTRS

#: Forward functions of our layers.
OURS = (embed_attributes, encode_windows)

#: Tolerance for the outputs of a layer, as a share of the largest output (or of 1).
TOLERANCE = 1e-5
#: Tolerance for numbers computed from them, such as a classifier's scores.
SCORE_TOLERANCE = 1e-4

_BATCH_SIZE = 256
#: Number of tokens kept for timing.
SAMPLE_SIZE = 20_000

#: First and last letter of scripts.
SCRIPTS = "az AZ 09 àÿ αω ая א\u05ea ءي अह 一龥 あん 가힣 😀🙏".split()
SEPARATORS = (*[" "] * 20, "  ", ", ", ". ", "\n", "\t", "\u00a0", "-", "")


@dataclass(kw_only=True)
class Parity:
    """Result of a comparison of two pipelines."""

    #: Number of texts and tokens with equal annotation.
    texts: int = 0
    tokens: int = 0
    #: Components whose converted layers have no weights to compare.
    unchecked: list[str] = field(default_factory=list)
    #: Maximum difference between outputs of a layer, as a share of the largest output
    #: (or of 1).
    max_relative_diff: float = 0.0


@contextmanager
def in_float32() -> Iterator[None]:
    """Ignore the precision of encoders in this thread: compute in float32."""
    token = IN_FLOAT32.set(True)
    try:
        yield
    finally:
        IN_FLOAT32.reset(token)


def walk_encoders(nlp: Language) -> Iterator[tuple[str, EncoderPlan]]:
    """Yield the component and the weights of each of our encoders."""
    for name, node in walk_layers(nlp):
        if get_forward(node) is encode_windows:
            yield name, node.attrs["weights"]


def _has_weights(model: Model) -> bool:
    """True if all layers of a model were initialized or loaded."""
    return all(node.has_param(key) for node in model.walk() for key in node.param_names)


def compare_pipelines(
    before: Language, after: Language, texts: Iterable[str | Doc]
) -> tuple[Parity, list[Doc]]:
    """Compare the annotation of texts in float32, and the outputs of converted layers,
    also of disabled components. Encoders are compared on random vectors. Return Docs
    for timing too. The pipelines must have the same structure.
    """
    pairs = zip(walk_layers(before), walk_layers(after), strict=True)
    layers = [
        (name, old, new)
        for (name, old), (_, new) in pairs
        # foreign layers may have a forward function per instance
        if get_forward(new) in OURS and get_forward(old) is not get_forward(new)
    ]
    unchecked = dict.fromkeys(name for name, old, _ in layers if not _has_weights(old))
    layers = [each for each in layers if _has_weights(each[1])]
    parity, sample = Parity(unchecked=[*unchecked]), []
    for batch in minibatch(texts, _BATCH_SIZE):
        with in_float32():
            docs = [*annotate_texts(before, batch, "original")]
            new_docs = [*annotate_texts(after, batch)]
            for text, doc, new_doc in zip(batch, docs, new_docs, strict=True):
                _check_annotation(doc, new_doc)
                if parity.tokens < SAMPLE_SIZE:
                    # components may delete features of the annotated Doc
                    sample.append(text if isinstance(text, Doc) else doc)
                parity.texts += 1
                parity.tokens += len(doc)
            for name, old, new in layers:
                diff = _compare_outputs(name, old, new, docs, new_docs)
                parity.max_relative_diff = max(parity.max_relative_diff, diff)
    if not parity.tokens:
        raise ValueError(
            "'texts' should have tokens to compare pipelines on, but have none."
        )
    return parity, sample


def make_texts(nlp: Language, *, only_known: bool = False) -> list[str]:
    """Generate texts of known words and, unless `only_known`, of unknown ones, which
    the vocab will store. Equal strings give equal texts. Empty texts are left out if a
    layer such as `reduce_first` fails on them.
    """
    rng = random.Random(0)
    known = sorted({*filter(None, nlp.vocab.strings)}) or ["word"]
    separators = (" ",) if only_known else SEPARATORS

    def make_word() -> str:
        if only_known or rng.random() < 0.7:
            return rng.choice(known)
        first, last = map(ord, rng.choice(SCRIPTS))
        return "".join(chr(rng.randint(first, last)) for _ in range(rng.randint(1, 8)))

    texts = ["", " ", "\n\n", "\t \u00a0", "...", "a"]
    for _ in range(400):
        words = range(rng.choice((1, 2, 5, 10, 20, 40)))
        texts.append("".join(make_word() + rng.choice(separators) for _ in words))
    rng.shuffle(texts)
    try:
        [*annotate_texts(nlp, ["a", ""])]
    except ValueError:
        return [text for text in texts if len(nlp.make_doc(text))]
    return texts


def annotate_texts(
    nlp: Language, texts: Iterable[str | Doc], which: str = "converted"
) -> Iterator[Doc]:
    """Annotate texts, or the words and features of Docs."""
    inputs, vocab = find_inputs(nlp), nlp.vocab
    copies = (copy_words(t, vocab, inputs) if isinstance(t, Doc) else t for t in texts)
    try:
        yield from nlp.pipe(copies)
    except Exception as error:  # of any kind, from any component
        raise ValueError(
            f"The {which} pipeline fails on the texts to compare on: "
            f"{type(error).__name__}: {error} Pass typical texts, with the features "
            "that it reads (--text file.spacy, or Docs as 'texts' in Python). If it "
            "fails on these too, fix the pipeline first."
        ) from error


def _check_annotation(doc: Doc, new_doc: Doc) -> None:
    old, new = _describe(doc), _describe(new_doc)
    for name, value in old.items():
        if not _is_same(value, new[name]):
            raise ValueError(
                f"The predictions differ: {name} of {doc.text[:80]!r} is "
                f"{value!r:.200} before, and {new[name]!r:.200} after. If saving "
                "and loading the old pipeline changes them too, a component does not "
                "save all of its data. Otherwise rounding decides between close "
                "scores: keep spaCy's BLAS (--no-blas, or 'blas=False' in Python)."
            )


def _describe(doc: Doc) -> dict[str, Any]:
    """Return all annotation of a Doc as plain types."""
    spans = {
        key: [group.attrs, [(s.start, s.end, s.label, s.kb_id, s.id) for s in group]]
        for key, group in doc.spans.items()
    }
    others = {name: getattr(doc, name) for name in ("cats", "tensor", "user_data")}
    tokens = {name: doc.to_array(name) for name in ATTRS}
    return {**tokens, **others, "spans": spans}


def _is_same(old: Any, new: Any) -> bool:
    if isinstance(old, Mapping):
        return old.keys() == new.keys() and all(_is_same(old[k], new[k]) for k in old)
    if isinstance(old, list | tuple):
        return len(old) == len(new) and all(map(_is_same, old, new))
    if isinstance(old, float | np.floating | np.ndarray):
        a, b = np.asarray(old), np.asarray(new)
        if a.shape != b.shape or a.dtype.kind != "f":
            return np.array_equal(a, b)
        return np.allclose(a, b, atol=SCORE_TOLERANCE, equal_nan=True)
    if isinstance(old, str | int | set | frozenset | None):
        return bool(old == new)
    return type(old) is type(new)  # many classes define no equality


def _compare_outputs(
    name: str, old: Model, new: Model, docs: list[Doc], new_docs: list[Doc]
) -> float:
    """Return the maximum difference as a share of the largest output, or of 1."""
    if not any(map(len, docs)):
        return 0.0
    inputs: list[Any] = [docs, new_docs]
    if get_forward(new) is encode_windows:  # its embedder may not be ours
        rng, width = np.random.default_rng(0), new.get_dim("nO")
        arrays = (rng.standard_normal((len(doc), width), dtype="f") for doc in docs)
        inputs = [[*map(new.ops.xp.asarray, arrays)]] * 2
    vectors, new_vectors = (
        model.ops.to_numpy(model.ops.xp.concatenate(model.predict(of_model)))
        for model, of_model in zip((old, new), inputs, strict=True)
    )
    largest = max(1.0, float(abs(vectors).max()))
    diff = float(abs(vectors - new_vectors).max()) / largest
    if not diff <= TOLERANCE:
        raise ValueError(
            f"The vectors of layer '{new.name}' in component '{name}' differ by "
            f"{diff:.3g} of the largest value: rounding explains {TOLERANCE:g} at most."
        )
    return diff
