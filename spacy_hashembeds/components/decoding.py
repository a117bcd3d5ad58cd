"""Decode tag scores to tags and entities.

With P types there are 4P + 1 tags: O is 0, and S, B, I and E of type k are 1 + 4k to
4 + 4k. New types are appended, so existing tags keep their numbers.

All functions process a batch: arrays concatenate the tokens of all texts, and `lengths`
holds the number of tokens per text.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..files import quote

OUTSIDE = 0
#: S, B, I and E. The tags of type k are these numbers plus 4k.
SINGLE, BEGIN, INSIDE, END = TAG_KINDS = (1, 2, 3, 4)
#: Tag of tokens with missing annotation.
MISSING = -1

#: Slope, above 0, and offset: see `apply_calibration`.
Calibration = tuple[float, float]
#: Bounds of the slope, far beyond the over- or underconfidence of trained pipelines.
MIN_SLOPE, MAX_SLOPE = 1 / 20, 20.0
# Minimum of 1 - probability: float32 resolves about 1e-7.
_MIN_COMPLEMENT = 1e-6

#: Candidate biases of O, in order of preference.
BIASES = tuple(sorted((n / 2 for n in range(-4, 13)), key=abs))
#: Minimum F1 gain over preferred biases: `_GAIN_SCALE` over the root of the number of
#: gold entities, at least `_MIN_GAIN`.
_GAIN_SCALE, _MIN_GAIN = 0.25, 0.005
#: Bound of the bias, beyond all log-probabilities of float32.
_MAX_BIAS = 100.0


class Entities(NamedTuple):
    """The entities of a text, in order, as token offsets with exclusive ends.

    Scores, float32, are products of tag probabilities, calibrated if so configured.
    """

    starts: NDArray
    ends: NDArray
    types: NDArray
    scores: NDArray


_NONE = np.zeros(0, dtype="int64")
NO_ENTITIES = Entities(_NONE, _NONE, _NONE, np.zeros(0, dtype="float32"))


def count_tags(n_types: int) -> int:
    """Return the number of tags of `n_types` entity types."""
    return len(TAG_KINDS) * n_types + 1


def get_tag_ids(labels: Iterable[str]) -> dict[str | None, int]:
    """Return tag numbers by spaCy's names, with U(nit) for S and L(ast) for E."""
    numbers: dict[str | None, int] = {None: MISSING, "-": MISSING, "O": OUTSIDE}
    for k, label in enumerate(labels):
        for name, kind in zip("UBIL", TAG_KINDS, strict=True):
            numbers[f"{name}-{label}"] = len(TAG_KINDS) * k + kind
    return numbers


def check_labels(labels: Any) -> None:
    """Validate a list of entity types."""
    is_right = isinstance(labels, list | tuple) and all(
        isinstance(label, str) and label == label.strip() != "" for label in labels
    )
    if not is_right or len({*labels}) < len(labels):
        raise ValueError(
            "'labels' should be a list of distinct entity types without surrounding "
            f"white space, as written by `spacy init labels`, but is {quote(labels)}."
        )


def decode_viterbi(scores: NDArray, lengths: NDArray) -> NDArray:
    """Return the legal tag sequence with the largest sum of scores for each text.

    In a legal sequence, each entity is S, or B, any number of I, and E, all of one
    type. Search is skipped if greedy tags are legal, as in most texts. -inf forbids a
    tag for a token; O is never forbidden. *Shapes:* `(n, 4P + 1)` to `(n,)`.
    """
    tags = scores.argmax(axis=1)
    kinds, _ = split_tags(tags)
    is_continuing = _find_continuing(tags, lengths)
    is_next_continuing = np.append(is_continuing[1:], False)
    is_wrong = (_continues(kinds) & ~is_continuing) | (
        _is_open(kinds) & ~is_next_continuing
    )
    if is_wrong.any():
        text_of_token = np.repeat(np.arange(len(lengths)), lengths)
        is_illegal = np.bincount(text_of_token[is_wrong], minlength=len(lengths)) > 0
        rows = is_illegal[text_of_token]
        tags[rows] = search(scores[rows], lengths[is_illegal])
    return tags


#: Decoders by the values of the setting `decoding`.
DECODERS: dict[str, Callable[[NDArray, NDArray], NDArray]] = {
    "greedy": lambda scores, lengths: scores.argmax(axis=1),
    "viterbi": decode_viterbi,
}


def check_bias(bias: Any) -> None:
    """Validate a bias of O."""
    is_number = isinstance(bias, int | float) and not isinstance(bias, bool)
    if not (is_number and -_MAX_BIAS <= bias <= _MAX_BIAS):
        raise ValueError(
            "'outside_bias' should be a number, such as 0, or 2 to find more entities, "
            f"but is {quote(bias)}."
        )


def choose_bias(f_scores: Sequence[float], n_gold: int) -> float:
    """Choose the bias nearest to 0 whose F1 is close to the best of `BIASES`.

    F1 is noisier with fewer gold entities, so a larger gain is required.
    """
    least = max(f_scores) - max(_GAIN_SCALE / max(n_gold, 1) ** 0.5, _MIN_GAIN)
    return next(b for b, f in zip(BIASES, f_scores, strict=True) if f >= least)


def find_entities(
    tags: NDArray,
    scores: NDArray,
    lengths: NDArray,
    calibration: Calibration | None = None,
) -> list[Entities]:
    """Return the scored entities of each text.

    An entity is S, or B, any number of I, and E, all of one type. Other tags are
    ignored.
    """
    kinds, types = split_tags(tags)
    first = np.where(_find_continuing(tags, lengths), 0, np.arange(len(tags)))
    first = np.maximum.accumulate(first)  # per token: its entity's first token
    is_last = (kinds == SINGLE) | ((kinds == END) & (kinds[first] == BEGIN))
    starts, ends = first[is_last], is_last.nonzero()[0] + 1
    chosen = np.append(scores[np.arange(len(tags)), tags], 0.0)
    sums = np.add.reduceat(chosen, np.stack([starts, ends], axis=1).ravel())[::2]
    products = apply_calibration(sums, calibration).astype("float32")
    offsets = np.cumsum(lengths) - lengths
    cuts = [*np.searchsorted(starts, offsets).tolist(), len(starts)]
    offset = np.repeat(offsets, np.diff(cuts))  # of the text of each entity
    found = Entities(starts - offset, ends - offset, types[is_last], products)
    return [
        Entities(*(array[a:b] for array in found)) if a < b else NO_ENTITIES
        for a, b in pairwise(cuts)
    ]


def apply_calibration(log_scores: NDArray, calibration: Calibration | None) -> NDArray:
    """Calibrate scores s from log(s): log-odds are the slope times -log(1 - s), plus
    the offset. Without a calibration, return s.
    """
    if calibration is None:
        return np.exp(log_scores)
    slope, offset = calibration
    return get_probs(slope * get_neg_log_complement(log_scores) + offset)


def get_neg_log_complement(log_scores: NDArray) -> NDArray:
    """Return -log(1 - s) of scores s, given log(s)."""
    return -np.log(np.maximum(-np.expm1(log_scores), _MIN_COMPLEMENT))


def get_probs(odds: NDArray) -> NDArray:
    """Return the probabilities of log-odds."""
    return np.exp(-np.logaddexp(0, -odds))


def _find_continuing(tags: NDArray, lengths: NDArray) -> NDArray:
    """Return a mask of tokens that continue the entity of the previous token."""
    kinds, types = split_tags(tags)
    is_continuing = np.zeros(len(tags), dtype=bool)
    is_continuing[1:] = (
        _is_open(kinds[:-1]) & _continues(kinds[1:]) & (types[:-1] == types[1:])
    )
    starts = np.cumsum(lengths) - lengths
    is_continuing[starts[lengths > 0]] = False
    return is_continuing


def split_tags(tags: NDArray) -> tuple[NDArray, NDArray]:
    """Split tags into kinds (S, B, I, E or O) and types. The type of O is -1."""
    types = (tags - 1) // len(TAG_KINDS)
    return tags - len(TAG_KINDS) * np.maximum(types, 0), types


def _is_open(kinds: NDArray) -> NDArray:
    return (kinds == BEGIN) | (kinds == INSIDE)


def _continues(kinds: NDArray) -> NDArray:
    return (kinds == INSIDE) | (kinds == END)


def search(scores: NDArray, lengths: NDArray) -> NDArray:
    """Find the best legal sequence of each text by dynamic programming.

    Between tokens, a text is in state 0, outside of entities, or in state 1 + k, inside
    an entity of type k. Time is linear in the number of types. Texts must not be empty.
    """
    starts = np.cumsum(lengths) - lengths
    times = np.arange(len(scores)) - np.repeat(starts, lengths)
    # sort tokens by step, and within each step by decreasing length of the text
    order = np.lexsort((-np.repeat(lengths, lengths), times))
    steps = [slice(*bounds) for bounds in pairwise([0, *np.cumsum(np.bincount(times))])]
    scores = scores[order]
    begin, inside, end = (
        scores[:, kind :: len(TAG_KINDS)] for kind in (BEGIN, INSIDE, END)
    )
    numbers = np.append(OUTSIDE, np.arange(SINGLE, scores.shape[1], len(TAG_KINDS)))
    alone = numbers[scores[:, numbers].argmax(axis=1)]
    best_alone = scores[:, numbers].max(axis=1, keepdims=True)
    states = np.arange(len(numbers))
    #: Backpointers: the best state before each token, for each state after it.
    before = np.empty((len(scores), len(states)), dtype="int64")
    best = np.where(states > 0, -np.inf, np.zeros((len(lengths), 1)))  # float64
    for step in steps:
        now = best[: step.stop - step.start]  # texts with a token in this step
        out, within = now[:, :1], now[:, 1:]
        leaving = np.concatenate([out + best_alone[step], within + end[step]], axis=1)
        entering, staying = out + begin[step], within + inside[step]
        before[step, 0] = leaving.argmax(axis=1)
        before[step, 1:] = np.where(staying > entering, states[1:], 0)
        now[:, 0] = leaving.max(axis=1)
        now[:, 1:] = np.maximum(staying, entering)
    tags = np.empty(len(scores), dtype="int64")
    current = np.zeros(len(lengths), dtype="int64")
    for step in reversed(steps):
        after = current[: step.stop - step.start]
        earlier = before[step][np.arange(len(after)), after]
        kinds = np.where(after == 0, END, np.where(earlier == 0, BEGIN, INSIDE))
        types = np.maximum(after, earlier) - 1
        in_entity = len(TAG_KINDS) * types + kinds
        tags[order[step]] = np.where(types < 0, alone[step], in_entity)
        after[:] = earlier
    return tags
