"""Parity of two pipelines of one structure, over texts."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from thinc.api import Model, Ops, set_current_ops

from ..architectures.maxout_window_encoder import forward as encode_windows
from ..layers.windowencoder import IN_FLOAT32, LaidOut
from ..thinc_internals import get_forward
from ..training.annotation import copy_words, walk_layers
from .changes import ATTRIBUTES, ChangeCounter
from .conversion import is_converted

#: Outputs of a layer may differ by this much of the largest (or of 1): they round
#: differently.
TOLERANCE = 1e-5
#: What is computed from them, such as the scores of a classifier, by this much.
SCORE_TOLERANCE = 1e-4

BATCH_SIZE = 256
#: The number of tokens to keep for timing.
SAMPLE_SIZE = 20_000

#: First and last letters of several scripts.
SCRIPTS = "az AZ 09 àÿ αω ая א\u05ea ءي अह 一龥 あん 가힣 😀🙏".split()
SEPARATORS = (*[" "] * 20, "  ", ", ", ". ", "\n", "\t", "\u00a0", "-", "")


@dataclass(frozen=True)
class LoadedPipeline:
    """A pipeline, and Thinc's ops as they were after loading it."""

    nlp: Language
    ops: Ops

    def annotate(self, texts: Sequence[str | Doc]) -> list[Doc]:
        """Annotate texts with the components that are enabled."""
        set_current_ops(self.ops)
        vocab = self.nlp.vocab
        inputs = (t if isinstance(t, str) else copy_words(t, vocab) for t in texts)
        return list(self.nlp.pipe(inputs))


@dataclass
class Parity:
    """On how much text two pipelines are alike: see `Acceleration`."""

    texts: int = 0
    tokens: int = 0
    max_relative_diff: float = 0.0
    unchecked: list[str] = field(default_factory=list)
    #: Annotated docs of one pipeline, to time both on.
    sample: list[Doc] = field(default_factory=list)


@contextmanager
def in_float32() -> Iterator[None]:
    """Compute this thread's encoders in float32, whatever their precision."""
    token = IN_FLOAT32.set(True)
    try:
        yield
    finally:
        IN_FLOAT32.reset(token)


def walk_encoders(nlp: Language) -> Iterator[tuple[str, LaidOut]]:
    """Yield the weights, with the precision, of each encoder of ours, by component."""
    for name, node in walk_layers(nlp):
        if get_forward(node) is encode_windows:
            yield name, node.attrs["weights"]


def find_precisions(nlp: Language) -> set[str]:
    """Find the precisions of a pipeline's encoders, but for float32."""
    return {weights.precision for _, weights in walk_encoders(nlp)} - {"float32"}


def compare_pipelines(
    before: LoadedPipeline,
    after: LoadedPipeline,
    texts: Iterable[str | Doc],
    counter: ChangeCounter | None = None,
) -> Parity:
    """Check that two pipelines of one structure annotate texts alike, but for the
    rounding of scores, in float32; and so the outputs of each layer that was converted,
    enabled or not: of encoders for random vectors. A counter counts what the pipelines
    annotate otherwise in their own precision.
    """
    pairs = zip(walk_layers(before.nlp), walk_layers(after.nlp), strict=True)
    layers = [(name, a, b) for (name, a), (_, b) in pairs if is_converted(a, b)]
    unchecked = dict.fromkeys(name for name, old, _ in layers if not has_weights(old))
    layers = [layer for layer in layers if has_weights(layer[1])]
    parity = Parity(unchecked=list(unchecked))
    is_exact = not find_precisions(before.nlp)
    for batch in minibatch(texts, BATCH_SIZE):
        with in_float32():
            docs = _annotate("as it is", before, batch)
            new_docs = _annotate("as converted", after, batch)
            for doc, new_doc in zip(docs, new_docs, strict=True):
                _check_annotation(doc, new_doc)
                if parity.tokens < SAMPLE_SIZE:
                    parity.sample.append(doc)
                parity.texts += 1
                parity.tokens += len(doc)
            for name, old, new in layers:
                diff = _compare_outputs(name, old, new, docs, new_docs)
                parity.max_relative_diff = max(parity.max_relative_diff, diff)
        if counter is not None:
            if not is_exact:
                docs = _annotate("as it is", before, batch)
            counter.count(batch, docs, _annotate("as converted", after, batch))
    check_tokens(parity.tokens)
    return parity


def check_tokens(n_tokens: int) -> None:
    """Check that there is something to compare pipelines on."""
    if n_tokens == 0:
        raise ValueError(
            "'texts' should have tokens to compare the pipelines on, but have none."
        )


def make_texts(pipeline: LoadedPipeline, *, only_known: bool = False) -> list[str]:
    """Make up texts of known and unknown words, the same for the same strings, none
    empty if a layer such as `reduce_first` takes none. With `only_known` there are no
    unknown words: a vocab keeps whatever words it has met.
    """
    strings = pipeline.nlp.vocab.strings
    random_state = random.Random(0)
    known = sorted({string for string in strings if string}) or ["word"]
    separators = (" ",) if only_known else SEPARATORS

    def make_word() -> str:
        if only_known or random_state.random() < 0.7:
            return random_state.choice(known)
        first, last = (ord(letter) for letter in random_state.choice(SCRIPTS))
        length = random_state.randint(1, 8)
        return "".join(chr(random_state.randint(first, last)) for _ in range(length))

    texts = ["", " ", "\n\n", "\t \u00a0", "...", "a"]
    for _ in range(400):
        n_words = random_state.choice((1, 2, 5, 10, 20, 40))
        pieces = (make_word() + random_state.choice(separators) for _ in range(n_words))
        texts.append("".join(pieces))
    random_state.shuffle(texts)
    try:
        pipeline.annotate(["a", ""])
    except Exception:  # of any component, some of them strangers
        return [text for text in texts if len(pipeline.nlp.make_doc(text))]
    return texts


def _annotate(
    name: str, pipeline: LoadedPipeline, texts: Sequence[str | Doc]
) -> list[Doc]:
    try:
        return pipeline.annotate(texts)
    except Exception as error:  # of any component, some of them strangers
        raise ValueError(
            f"The pipeline {name} fails on texts to check it with: "
            f"{type(error).__name__}: {error} Give texts of the kind that it is for "
            "(--text, or 'texts' in Python); if it fails on these too, mend it first."
        ) from error


def _check_annotation(doc: Doc, new_doc: Doc) -> None:
    old, new = _describe(doc), _describe(new_doc)
    for name, value in old.items():
        if not _is_same(value, new[name]):
            raise ValueError(
                f"The predictions differ: {name} of {doc.text[:80]!r} is "
                f"{value!r:.200} before, and {new[name]!r:.200} after. Where scores "
                "are so close that rounding decides, keep spaCy's BLAS (--no-blas, or "
                "'blas=False' in Python)."
            )


def _describe(doc: Doc) -> dict[str, Any]:
    """Describe all annotation in plain types."""
    return {
        **{name: doc.to_array(name).tolist() for name in ATTRIBUTES},
        "cats": doc.cats,
        "spans": {
            key: [
                group.attrs,
                *((s.start, s.end, s.label_, s.kb_id_, s.id_) for s in group),
            ]
            for key, group in doc.spans.items()
        },
        "tensor": doc.tensor,
        "user_data": doc.user_data,
    }


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
    return type(old) is type(new)  # a stranger's object may equal nothing but itself


def has_weights(model: Model) -> bool:
    """Return True if a model, with all layers in it, was initialised or loaded."""
    return all(
        node.has_param(name) for node in model.walk() for name in node.param_names
    )


def _compare_outputs(
    name: str, old: Model, new: Model, docs: list[Doc], new_docs: list[Doc]
) -> float:
    """Return the largest difference as a share of the largest number, or of 1."""
    if not any(len(doc) for doc in docs):
        return 0.0
    vectors, new_vectors = (
        model.ops.to_numpy(model.ops.xp.concatenate(model.predict(inputs)))
        for model, inputs in (
            (old, _make_inputs(new, docs)),
            (new, _make_inputs(new, new_docs)),
        )
    )
    largest = max(1.0, float(abs(vectors).max()))
    diff = float(abs(vectors - new_vectors).max()) / largest
    if not diff <= TOLERANCE:
        raise ValueError(
            f"The vectors of layer '{new.name}' in component '{name}' differ by "
            f"{diff:.3g} of the largest number: rounding accounts for {TOLERANCE:g}."
        )
    return diff


def _make_inputs(model: Model, docs: list[Doc]) -> list[Any]:
    """Return Docs, or for an encoder, whose embedder may be a stranger's, random
    vectors of their lengths.
    """
    if get_forward(model) is not encode_windows:
        return docs
    rng, width = np.random.default_rng(0), model.get_dim("nO")
    arrays = (rng.standard_normal((len(doc), width), dtype="f") for doc in docs)
    return [model.ops.xp.asarray(array) for array in arrays]
