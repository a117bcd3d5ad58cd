"""Tags of tokens, and the entities that they make up, from the scores of tags.

With P types there are 4P + 1 tags: 0 is O, and type k has the numbers from 1 + 4k to
4 + 4k, for S, B, I and E. New types come last, so that numbers stay.

All is computed for the tokens of a whole batch at once: the texts stand one after the
other in each array, and `lengths` says how many tokens each has.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..files import quote

OUTSIDE = 0
#: The sole token of an entity, and the first, a middle and the last of several: with 4k
#: more, the numbers of type k.
SOLE, BEGIN, INSIDE, END = KINDS = (1, 2, 3, 4)
#: Stands for the tag of a token of which nothing is known.
MISSING = -1

#: A slope, above 0, and an offset: see `calibrate`.
Calibration = tuple[float, float]
#: No trained pipeline is less sure than it should be, or surer, by such a factor.
MIN_SLOPE, MAX_SLOPE = 1 / 20, 20.0
# Float32 tells probabilities of tags from 1 down to some 1e-7.
_LEAST_DOUBT = 1e-6

#: Biases of O to choose from, in the order of preference.
BIASES = tuple(sorted((n / 2 for n in range(-4, 13)), key=abs))
#: By how much of F1 a bias has to be better than those before it: a share of what one
#: entity is worth, times the root of their number, or this at least.
_SHARE, _LEAST_GAIN = 0.25, 0.005
#: Bound of a bias: far beyond all log-probabilities of float32.
_MOST_BIAS = 100.0


class Entities(NamedTuple):
    """The entities of one text, in order, from first tokens up to ends.

    Scores are the products of the probabilities of their tags, or calibrated; float32.
    """

    starts: NDArray
    ends: NDArray
    types: NDArray
    scores: NDArray


_NONE = np.zeros(0, dtype="int64")
NO_ENTITIES = Entities(_NONE, _NONE, _NONE, np.zeros(0, dtype="float32"))


def count_tags(n_types: int) -> int:
    """Return the number of tags for so many entity types."""
    return len(KINDS) * n_types + 1


def number_tags(labels: Iterable[str]) -> dict[str | None, int]:
    """Number the tags of entity types by spaCy's names: U(nit) for S, L(ast) for E."""
    numbers: dict[str | None, int] = {None: MISSING, "-": MISSING, "O": OUTSIDE}
    for k, label in enumerate(labels):
        for name, kind in zip("UBIL", KINDS, strict=True):
            numbers[f"{name}-{label}"] = len(KINDS) * k + kind
    return numbers


def check_labels(labels: Any) -> list[str]:
    """Check that entity types are a list of names, each there once."""
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
    # no half of a surrogate pair either, which JSON may hold
    return isinstance(label, str) and (
        label.encode("utf8", "ignore").decode("utf8") == label.strip() != ""
    )


def decode_viterbi(scores: NDArray, lengths: NDArray) -> NDArray:
    """Find the best legal sequence of tags of each text.

    A sequence is legal if each entity is either S, or B, any number of I, and E, all of
    one type. The best has the largest sum of scores. Where the best tags of all tokens
    make up a legal sequence, as in most texts, there is nothing to search. -inf marks a
    tag that a token can't have; O is none. *Shapes:* `(n, 4P + 1)` to `(n,)`.
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


#: By the names that users know.
DECODERS: dict[str, Callable[[NDArray, NDArray], NDArray]] = {
    "greedy": lambda scores, lengths: scores.argmax(axis=1),
    "viterbi": decode_viterbi,
}


def check_bias(bias: Any) -> None:
    """Check a bias of O that a file holds, or a user has set."""
    is_number = isinstance(bias, int | float) and not isinstance(bias, bool)
    if not (is_number and -_MOST_BIAS <= bias <= _MOST_BIAS):
        raise ValueError(
            "'outside_bias' should be a number, such as 0, or 2 to find more entities, "
            f"but is {quote(bias)}."
        )


def check_calibration(calibration: Any) -> None:
    """Check what a file holds as a calibration: null is none."""
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
    """Choose of `BIASES`, by F1 with each, the nearest to 0 that all but has the best.

    The fewer entities there are to find, the more has to be gained, as by chance.
    """
    least = max(f_scores) - max(_SHARE / max(n_gold, 1) ** 0.5, _LEAST_GAIN)
    return next(b for b, f in zip(BIASES, f_scores, strict=True) if f >= least)


def find_entities(
    tags: NDArray,
    scores: NDArray,
    lengths: NDArray,
    calibration: Calibration | None = None,
) -> list[Entities]:
    """Find the entities that tags make up in each text, and score them.

    These are a token with S, and tokens with B, any number of I, and E, next to each
    other in one text and of one type. Other tags than O are part of no entity.
    """
    kinds, types = split_tags(tags)
    first = np.where(_find_linked(tags, lengths), 0, np.arange(len(tags)))
    first = np.maximum.accumulate(first)  # of the tokens linked to each other
    is_last = (kinds == SOLE) | ((kinds == END) & (kinds[first] == BEGIN))
    starts, ends = first[is_last], is_last.nonzero()[0] + 1
    chosen = np.append(scores[np.arange(len(tags)), tags], 0.0)
    sums = np.add.reduceat(chosen, np.stack([starts, ends], axis=1).ravel())[::2]
    products = calibrate(sums, calibration).astype("float32")
    offsets = np.cumsum(lengths) - lengths
    cuts = [*np.searchsorted(starts, offsets).tolist(), len(starts)]
    offset = np.repeat(offsets, np.diff(cuts))  # of the text that each is in
    found = Entities(starts - offset, ends - offset, types[is_last], products)
    return [
        Entities(*(array[a:b] for array in found)) if a < b else NO_ENTITIES
        for a, b in pairwise(cuts)
    ]


def calibrate(log_scores: NDArray, calibration: Calibration | None) -> NDArray:
    """Calibrate scores s, given as logarithms: the log-odds are the slope times
    -log(1 - s), plus the offset. Without a calibration they are s.
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
    """Find the tokens that go on with an entity of the token before."""
    kinds, types = split_tags(tags)
    is_linked = np.zeros(len(tags), dtype=bool)
    is_linked[1:] = (
        _stays_open(kinds[:-1]) & _goes_on(kinds[1:]) & (types[:-1] == types[1:])
    )
    starts = np.cumsum(lengths) - lengths
    is_linked[starts[lengths > 0]] = False
    return is_linked


def split_tags(tags: NDArray) -> tuple[NDArray, NDArray]:
    """Split the numbers of tags into kinds and types; of O the type is -1."""
    types = (tags - 1) // len(KINDS)
    return tags - len(KINDS) * np.maximum(types, 0), types


def _stays_open(kinds: NDArray) -> NDArray:
    return (kinds == BEGIN) | (kinds == INSIDE)


def _goes_on(kinds: NDArray) -> NDArray:
    return (kinds == INSIDE) | (kinds == END)


def search(scores: NDArray, lengths: NDArray) -> NDArray:
    """Search the best legal sequence of each text by dynamic programming.

    Between tokens, a text is in state 0, outside of entities, or in 1 + k, inside of
    one of type k: time grows with the number of types, not with its square. Each text
    has a token.
    """
    starts = np.cumsum(lengths) - lengths
    times = np.arange(len(scores)) - np.repeat(starts, lengths)
    # the tokens of one step together, those of a text always at the same place there
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
    #: The best state before each token, by the one after it.
    before = np.empty((len(scores), len(states)), dtype="int64")
    best = np.where(states > 0, -np.inf, np.zeros((len(lengths), 1)))  # float64
    for step in steps:
        now = best[: step.stop - step.start]  # of texts that have a token at this time
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
