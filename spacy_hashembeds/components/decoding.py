"""Tags, and the entities that they make up, from the scores of tags.

All is computed for the tokens of a whole batch at once: the texts stand one after the
other in each array, and `lengths` says how many tokens each has.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..files import quote
from .platt import Calibration, calibrate
from .tags import BEGIN, END, INSIDE, KINDS, OUTSIDE, SOLE

#: What a bias of O is chosen from, in the order of preference.
BIASES = tuple(sorted((n / 2 for n in range(-4, 13)), key=abs))
#: By how much of F1 a bias has to be better than those before it: a share of what one
#: entity is worth, times the root of their number, or this at least.
_SHARE, _LEAST_GAIN = 0.25, 0.005
#: Far beyond all log-probabilities of float32.
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


def decode_greedily(scores: NDArray, lengths: NDArray) -> NDArray:
    """Give each token its best tag, whatever its neighbours have."""
    return scores.argmax(axis=1)


def decode_viterbi(scores: NDArray, lengths: NDArray) -> NDArray:
    """Give each text the best of its sequences of tags that are legal.

    A sequence is legal if each entity is either S, or B, any number of I, and E, all of
    one type. The best has the largest sum of scores. Where the best tags of all tokens
    make up a legal sequence, as in most texts, there is nothing to search. -inf marks a
    tag that a token can't have; O is none. *Shapes:* `(n, 4P + 1)` to `(n,)`.
    """
    tags = decode_greedily(scores, lengths)
    is_wrong = _find_illegal(tags, lengths)
    if is_wrong.any():
        rows = np.repeat(is_wrong, lengths)
        tags[rows] = search(scores[rows], lengths[is_wrong])
    return tags


#: By the names that users know.
DECODERS: dict[str, Callable[[NDArray, NDArray], NDArray]] = {
    "greedy": decode_greedily,
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


def choose_bias(f_scores: Sequence[float], n_gold: int) -> float:
    """Choose of `BIASES`, by F1 with each, the nearest to 0 that all but has the best.

    The fewer entities there are to find, the more chance gains, and the more has to be
    gained.
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


def _find_illegal(tags: NDArray, lengths: NDArray) -> NDArray:
    """Say which texts have a tag that is part of no entity, and is not O."""
    kinds, _ = split_tags(tags)
    is_linked = _find_linked(tags, lengths)
    is_next_linked = np.append(is_linked[1:], False)
    is_wrong = (_goes_on(kinds) & ~is_linked) | (_stays_open(kinds) & ~is_next_linked)
    text_of_token = np.repeat(np.arange(len(lengths)), lengths)
    return np.bincount(text_of_token[is_wrong], minlength=len(lengths)) > 0


def _find_linked(tags: NDArray, lengths: NDArray) -> NDArray:
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

    After each token, a text is either outside of entities or inside of one of some
    type. So there are P + 1 states, of which each is reached from two at most, but the
    one outside: time grows with the number of types, not with its square. Each text has
    a token.
    """
    order, steps = _sort_by_time(lengths)
    scores = scores[order].astype("float64")
    begin, inside, end = (
        scores[:, kind :: len(KINDS)] for kind in (BEGIN, INSIDE, END)
    )
    without = np.concatenate([scores[:, :1], scores[:, SOLE :: len(KINDS)]], axis=1)
    best_without = without.max(axis=1)
    n_texts, n_types = len(lengths), begin.shape[1]
    #: The type of the entity that ends with a token, if that is the best, else -1.
    ended = np.empty(len(scores), dtype="int64")
    was_inside = np.empty((len(scores), n_types), dtype=bool)
    is_out = np.zeros(n_texts)
    is_in = np.full((n_texts, n_types), -np.inf)
    for step in steps:
        n = step.stop - step.start  # texts that have a token at this time
        ending = is_in[:n] + end[step]
        types = ending.argmax(axis=1)
        best_ending = ending.max(axis=1)
        staying_out = is_out[:n] + best_without[step]
        ended[step] = np.where(best_ending > staying_out, types, -1)
        beginning = is_out[:n, np.newaxis] + begin[step]
        staying_in = is_in[:n] + inside[step]
        was_inside[step] = staying_in > beginning
        is_in[:n] = np.maximum(staying_in, beginning)
        is_out[:n] = np.maximum(best_ending, staying_out)
    tags = np.empty(len(scores), dtype="int64")
    # the tags of S are 1, 5, …, and the columns 1, 2, … here
    alone = without.argmax(axis=1)
    alone = np.where(alone > 0, len(KINDS) * (alone - 1) + SOLE, OUTSIDE)
    types = np.full(n_texts, -1)  # of the entity that goes on after the token, or -1
    for step in reversed(steps):
        n = step.stop - step.start
        after, is_after = types[:n], types[:n] >= 0
        goes_on = was_inside[step][np.arange(n), after]
        kinds_after = np.where(goes_on, INSIDE, BEGIN)
        before = np.where(is_after, np.where(goes_on, after, -1), ended[step])
        kinds = np.where(is_after, kinds_after, END)
        in_type = np.where(is_after, after, before)
        tags[order[step]] = np.where(
            in_type >= 0, len(KINDS) * in_type + kinds, alone[step]
        )
        types[:n] = before
    return tags


def _sort_by_time(lengths: NDArray) -> tuple[NDArray, list[slice]]:
    """Sort tokens by their place in their text, and within by how long that is.

    So the tokens of one step stand together, those of the same text always at the same
    place among them, and no text is padded. Gives the order, and the steps.
    """
    ranks = np.empty(len(lengths), dtype="int64")
    ranks[np.argsort(-lengths, kind="stable")] = np.arange(len(lengths))
    starts = np.cumsum(lengths) - lengths
    times = np.arange(lengths.sum()) - np.repeat(starts, lengths)
    order = np.lexsort((np.repeat(ranks, lengths), times))
    stops = np.cumsum(np.bincount(times))
    steps = [slice(a, b) for a, b in zip([0, *stops[:-1]], stops, strict=True)]
    return order, steps
