"""Decode the scores of tags: choose the tags of tokens, and find the entities.

With P types there are 4P + 1 tags: 0 is O, and type k has the numbers from 1 + 4k to
4 + 4k, for S, B, I and E. New types are appended, so that numbers do not change.

All functions process the tokens of a whole batch at once: arrays have the texts one
after the other, and `lengths` has the number of tokens of each.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..files import quote

OUTSIDE = 0
#: The only token of an entity, and the first, a middle and the last token of longer
#: ones. The tags of type k are these numbers plus 4k.
SOLE, BEGIN, INSIDE, END = KINDS = (1, 2, 3, 4)
#: Tag of a token whose annotation is missing.
MISSING = -1

#: A slope, above 0, and an offset: see `calibrate`.
Calibration = tuple[float, float]
#: Bounds of the slope: no trained pipeline is over- or underconfident by such a factor.
MIN_SLOPE, MAX_SLOPE = 1 / 20, 20.0
# Float32 distinguishes probabilities from 1 only down to differences of some 1e-7.
_LEAST_DOUBT = 1e-6

#: Biases of O to choose from, in the order of preference.
BIASES = tuple(sorted((n / 2 for n in range(-4, 13)), key=abs))
#: Gain in F1 for which a bias is preferred to those before it: `_SHARE` over the root
#: of the number of gold entities, but at least `_LEAST_GAIN`.
_SHARE, _LEAST_GAIN = 0.25, 0.005
#: Bound of a bias: far beyond all log-probabilities of float32.
_MOST_BIAS = 100.0


class Entities(NamedTuple):
    """The entities of one text, in order, from first tokens to ends (exclusive).

    Scores are the products of the probabilities of their tags, or calibrated; float32.
    """

    starts: NDArray
    ends: NDArray
    types: NDArray
    scores: NDArray


_NONE = np.zeros(0, dtype="int64")
NO_ENTITIES = Entities(_NONE, _NONE, _NONE, np.zeros(0, dtype="float32"))


def count_tags(n_types: int) -> int:
    """Return the number of tags for a number of entity types."""
    return len(KINDS) * n_types + 1


def number_tags(labels: Iterable[str]) -> dict[str | None, int]:
    """Return the numbers of tags by spaCy's names: U(nit) for S, L(ast) for E."""
    numbers: dict[str | None, int] = {None: MISSING, "-": MISSING, "O": OUTSIDE}
    for k, label in enumerate(labels):
        for name, kind in zip("UBIL", KINDS, strict=True):
            numbers[f"{name}-{label}"] = len(KINDS) * k + kind
    return numbers


def check_labels(labels: Any) -> list[str]:
    """Check that entity types are a list of distinct names."""
    names = [*labels] if isinstance(labels, list | tuple) else [labels]
    wrong = [name for name in names if not _is_name(name)]
    if wrong or not isinstance(labels, list | tuple) or len(set(names)) < len(names):
        raise ValueError(
            "'labels' should be a list of entity types, each there once, in UTF-8 and "
            "without white space around it, as `spacy init labels` writes it for this "
            f"component, but is {quote(labels)}: {quote((wrong or names)[0])}."
        )
    return names


def _is_name(label: Any) -> bool:
    # refuse halves of surrogate pairs, which JSON may hold
    return isinstance(label, str) and (
        label.encode("utf8", "ignore").decode("utf8") == label.strip() != ""
    )


def decode_viterbi(scores: NDArray, lengths: NDArray) -> NDArray:
    """Find the best legal sequence of tags of each text.

    A sequence is legal if each entity is either S, or B, any number of I, and E, all of
    one type. The best sequence has the largest sum of scores. If the best tags of all
    tokens form a legal sequence, as in most texts, no search is needed. A score of -inf
    forbids a tag for a token; O is never forbidden. *Shapes:* `(n, 4P + 1)` to `(n,)`.
    """
    tags = scores.argmax(axis=1)
    kinds, _ = split_tags(tags)
    is_linked = _find_linked(tags, lengths)
    is_next_linked = np.append(is_linked[1:], False)
    is_wrong = (_goes_on(kinds) & ~is_linked) | (_stays_open(kinds) & ~is_next_linked)
    if is_wrong.any():
        text_of_token = np.repeat(np.arange(len(lengths)), lengths)
        is_illegal = np.bincount(text_of_token[is_wrong], minlength=len(lengths)) > 0
        rows = is_illegal[text_of_token]
        tags[rows] = search(scores[rows], lengths[is_illegal])
    return tags


#: Decoders, by the names that users give.
DECODERS: dict[str, Callable[[NDArray, NDArray], NDArray]] = {
    "greedy": lambda scores, lengths: scores.argmax(axis=1),
    "viterbi": decode_viterbi,
}


def check_bias(bias: Any) -> None:
    """Check a bias of O from a file or a user."""
    is_number = isinstance(bias, int | float) and not isinstance(bias, bool)
    if not (is_number and -_MOST_BIAS <= bias <= _MOST_BIAS):
        raise ValueError(
            "'outside_bias' should be a number, such as 0, or 2 to find more entities, "
            f"but is {quote(bias)}."
        )


def check_calibration(calibration: Any) -> None:
    """Check a calibration from a file, which may be null."""
    is_pair = isinstance(calibration, list | tuple) and len(calibration) == 2
    if calibration is None or (
        is_pair
        and all(type(number) in (int, float) for number in calibration)
        and MIN_SLOPE <= calibration[0] <= MAX_SLOPE
        and isfinite(calibration[1])
    ):
        return
    raise ValueError(
        f"'calibration' should be a slope from {MIN_SLOPE} to {MAX_SLOPE:g} and an "
        f"offset in a list, such as [0.5, -0.7], or null, but is {quote(calibration)}."
    )


def choose_bias(f_scores: Sequence[float], n_gold: int) -> float:
    """Choose, from the F1 score of each of `BIASES`, the one nearest to 0 whose score
    is close to the best.

    With fewer gold entities, F1 is noisier, and a larger gain is required.
    """
    least = max(f_scores) - max(_SHARE / max(n_gold, 1) ** 0.5, _LEAST_GAIN)
    return next(b for b, f in zip(BIASES, f_scores, strict=True) if f >= least)


def find_entities(
    tags: NDArray,
    scores: NDArray,
    lengths: NDArray,
    calibration: Calibration | None = None,
) -> list[Entities]:
    """Find the entities that tags form in each text, and score them.

    An entity is a token with S, or adjacent tokens of one text with B, any number of I,
    and E, all of one type. Tags that do not fit this pattern belong to no entity.
    """
    kinds, types = split_tags(tags)
    first = np.where(_find_linked(tags, lengths), 0, np.arange(len(tags)))
    first = np.maximum.accumulate(first)  # the first of the tokens linked together
    is_last = (kinds == SOLE) | ((kinds == END) & (kinds[first] == BEGIN))
    starts, ends = first[is_last], is_last.nonzero()[0] + 1
    chosen = np.append(scores[np.arange(len(tags)), tags], 0.0)
    sums = np.add.reduceat(chosen, np.stack([starts, ends], axis=1).ravel())[::2]
    products = calibrate(sums, calibration).astype("float32")
    offsets = np.cumsum(lengths) - lengths
    cuts = [*np.searchsorted(starts, offsets).tolist(), len(starts)]
    offset = np.repeat(offsets, np.diff(cuts))  # the offset of each entity's text
    found = Entities(starts - offset, ends - offset, types[is_last], products)
    return [
        Entities(*(array[a:b] for array in found)) if a < b else NO_ENTITIES
        for a, b in pairwise(cuts)
    ]


def calibrate(log_scores: NDArray, calibration: Calibration | None) -> NDArray:
    """Calibrate scores s, given as logarithms: the new log-odds are the slope times
    -log(1 - s), plus the offset. Without a calibration, return s.
    """
    if calibration is None:
        return np.exp(log_scores)
    slope, offset = calibration
    return get_probs(slope * get_sureness(log_scores) + offset)


def get_sureness(log_scores: NDArray) -> NDArray:
    """Return -log(1 - s) of scores s, given as logarithms."""
    return -np.log(np.maximum(-np.expm1(log_scores), _LEAST_DOUBT))


def get_probs(odds: NDArray) -> NDArray:
    """Return the probabilities of log-odds."""
    return np.exp(-np.logaddexp(0, -odds))


def _find_linked(tags: NDArray, lengths: NDArray) -> NDArray:
    """Find the tokens that continue an entity of the token before."""
    kinds, types = split_tags(tags)
    is_linked = np.zeros(len(tags), dtype=bool)
    is_linked[1:] = (
        _stays_open(kinds[:-1]) & _goes_on(kinds[1:]) & (types[:-1] == types[1:])
    )
    starts = np.cumsum(lengths) - lengths
    is_linked[starts[lengths > 0]] = False
    return is_linked


def split_tags(tags: NDArray) -> tuple[NDArray, NDArray]:
    """Split the numbers of tags into kinds and types. The type of O is -1."""
    types = (tags - 1) // len(KINDS)
    return tags - len(KINDS) * np.maximum(types, 0), types


def _stays_open(kinds: NDArray) -> NDArray:
    return (kinds == BEGIN) | (kinds == INSIDE)


def _goes_on(kinds: NDArray) -> NDArray:
    return (kinds == INSIDE) | (kinds == END)


def search(scores: NDArray, lengths: NDArray) -> NDArray:
    """Search the best legal sequence of each text by dynamic programming.

    Between tokens, a text is in state 0, outside of entities, or in state 1 + k, inside
    an entity of type k. Time is linear in the number of types, not quadratic. Each text
    has at least one token.
    """
    starts = np.cumsum(lengths) - lengths
    times = np.arange(len(scores)) - np.repeat(starts, lengths)
    # tokens of one step together; each text has the same place in all steps
    order = np.lexsort((-np.repeat(lengths, lengths), times))
    steps = [slice(*of) for of in pairwise([0, *np.cumsum(np.bincount(times))])]
    scores = scores[order]
    begin, inside, end = (
        scores[:, kind :: len(KINDS)] for kind in (BEGIN, INSIDE, END)
    )
    numbers = np.append(OUTSIDE, np.arange(SOLE, scores.shape[1], len(KINDS)))
    alone = numbers[scores[:, numbers].argmax(axis=1)]
    best_alone = scores[:, numbers].max(axis=1, keepdims=True)
    states = np.arange(len(numbers))
    #: The best state before each token, for each state after it.
    before = np.empty((len(scores), len(states)), dtype="int64")
    best = np.where(states > 0, -np.inf, np.zeros((len(lengths), 1)))  # float64
    for step in steps:
        now = best[: step.stop - step.start]  # texts that have a token in this step
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
        in_entity = len(KINDS) * types + kinds
        tags[order[step]] = np.where(types < 0, alone[step], in_entity)
        after[:] = earlier
    return tags
