"""Which entities are taken for which, and where."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from spacy.tokens import Doc, Span

from .matching import Matches, SpanKey

# A gold and a predicted entity; one of them may be missing.
Pair = tuple[SpanKey | None, SpanKey | None]

# The type of each, and the kind of the error.
Kind = tuple[str | None, str | None, str]

#: Tokens on each side of an error that are shown of a doc without sentences, or of a
#: sentence with more than so many.
_MARGIN, _LONGEST = 30, 200


@dataclass(frozen=True, kw_only=True)
class Mark:
    """An entity in the text of an example.

    start (int): Its first character.
    end (int): The character after its last.
    label (str): Its type.
    is_error (bool): Whether the example is about it.
    """

    start: int
    end: int
    label: str
    is_error: bool


@dataclass(frozen=True, kw_only=True)
class ErrorExample:
    """An error in its sentence.

    document (int): The document's number, from 0, as `ConfusionCounter` was told.
    text (str): The sentence, or the surroundings where sentences are not annotated or
        very long.
    gold (list[Mark]): The gold entities in it.
    predicted (list[Mark]): The predicted entities in it.
    """

    document: int
    text: str
    gold: list[Mark]
    predicted: list[Mark]


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """Errors of one kind.

    gold (str, optional): The type of the gold entity; None if there is none.
    predicted (str, optional): The type of the predicted entity; None if there is none.
    error (str): "missed" (nothing predicted there), "spurious" (nothing gold there),
        "type" (right bounds), "boundary" (right type), or "type and boundary".
    count (int): How many errors.
    examples (list[ErrorExample]): The first of them.
    """

    gold: str | None
    predicted: str | None
    error: str
    count: int
    examples: list[ErrorExample]


class ConfusionCounter:
    """Counts errors doc by doc, and keeps some of each kind.

    examples (int): How many of each kind to keep.
    """

    def __init__(self, *, examples: int = 5) -> None:
        self._n_examples = examples
        self._counts: Counter[Kind] = Counter()
        self._examples: dict[Kind, list[ErrorExample]] = {}

    def add(self, document: int, gold: Doc, matches: Matches) -> None:
        """Count the errors of one doc.

        document (int): Its number.
        gold (Doc): The gold doc.
        matches (Matches): Its entities, all of them.
        """
        surroundings = _Surroundings(document, gold, matches)
        for pair in pair_errors(matches.missed, matches.spurious):
            wanted, got = pair
            kind = (wanted and wanted[0], got and got[0], name_error(*pair))
            self._counts[kind] += 1
            examples = self._examples.setdefault(kind, [])
            if len(examples) < self._n_examples:
                examples.append(surroundings.show(pair))

    def rank(self) -> list[Confusion]:
        """List what was counted, the most frequent first, and by name where equal."""
        ranked = sorted(
            self._counts.items(),
            key=lambda item: (-item[1], [name or "" for name in item[0]]),
        )
        return [
            Confusion(
                gold=gold,
                predicted=predicted,
                error=error,
                count=count,
                examples=self._examples[gold, predicted, error],
            )
            for (gold, predicted, error), count in ranked
        ]


def pair_errors(missed: Sequence[SpanKey], spurious: Sequence[SpanKey]) -> list[Pair]:
    """Pair what was missed with what was predicted in its place.

    Entities that share tokens are paired, those that share most first, then those of
    one type; each at most once. So a gold entity predicted in two parts is one boundary
    error and one spurious entity.

    missed (Sequence[SpanKey]): Gold entities, none overlapping another.
    spurious (Sequence[SpanKey]): Predicted entities.
    RETURNS (list[Pair]): Every entity once, in the order of the text.
    """
    overlaps = _find_overlaps(missed, spurious)
    pairs: list[Pair] = []
    free_gold = dict.fromkeys(missed)
    free_predicted = dict.fromkeys(range(len(spurious)))
    for _, gold, i in sorted(overlaps, key=lambda item: item[0]):
        if gold in free_gold and i in free_predicted:
            pairs.append((gold, spurious[i]))
            del free_gold[gold], free_predicted[i]
    pairs += [(gold, None) for gold in free_gold]
    pairs += [(None, spurious[i]) for i in free_predicted]
    return sorted(pairs, key=_find_start)


def name_error(gold: SpanKey | None, predicted: SpanKey | None) -> str:
    """Name the kind of an error: see `Confusion`."""
    if predicted is None:
        return "missed"
    if gold is None:
        return "spurious"
    wrong = {"type": gold[0] != predicted[0], "boundary": gold[1:] != predicted[1:]}
    return " and ".join(name for name, is_wrong in wrong.items() if is_wrong)


def _find_overlaps(
    missed: Sequence[SpanKey], spurious: Sequence[SpanKey]
) -> list[tuple[tuple, SpanKey, int]]:
    """Give each overlap's rank, its gold entity and its prediction's number."""
    owners = {i: gold for gold in missed for i in range(gold[1], gold[2])}
    overlaps = []
    for number, (label, start, end) in enumerate(spurious):
        shared = Counter(owners[i] for i in range(start, end) if i in owners)
        for gold, n_tokens in shared.items():
            rank = (-n_tokens, gold[0] != label, gold[1], start)
            overlaps.append((rank, gold, number))
    return overlaps


def _find_start(pair: Pair) -> int:
    return min(key[1] for key in pair if key is not None)


class _Surroundings:
    """Shows errors of one doc, whose entities are sorted once for all of them."""

    def __init__(self, document: int, doc: Doc, matches: Matches) -> None:
        self._document, self._doc, self._matches = document, doc, matches

    def show(self, pair: Pair) -> ErrorExample:
        """Show an error in its sentence."""
        gold, predicted = pair
        keys = [key for key in pair if key is not None]
        window = self._find_window(min(k[1] for k in keys), max(k[2] for k in keys))
        return ErrorExample(
            document=self._document,
            text=window.text,
            gold=_mark(window, self._gold, gold),
            predicted=_mark(window, self._predicted, predicted),
        )

    @cached_property
    def _gold(self) -> list[SpanKey]:
        return _sort([(ent.label_, ent.start, ent.end) for ent in self._doc.ents])

    @cached_property
    def _predicted(self) -> list[SpanKey]:
        matches = self._matches
        return _sort([*matches.correct, *matches.spurious, *matches.ignored])

    @cached_property
    def _has_sentences(self) -> bool:
        return self._doc.has_annotation("SENT_START")

    def _find_window(self, start: int, end: int) -> Span:
        """Give the sentences that tokens stand in, or what is near."""
        doc = self._doc
        if self._has_sentences:
            sentences = doc[doc[start].sent.start : doc[end - 1].sent.end]
            if len(sentences) <= _LONGEST:
                return sentences
        return doc[max(0, start - _MARGIN) : end + _MARGIN]


def _sort(keys: Sequence[SpanKey]) -> list[SpanKey]:
    return sorted(keys, key=lambda key: key[1:])


def _mark(window: Span, keys: list[SpanKey], error: SpanKey | None) -> list[Mark]:
    """Mark those of all entities, sorted, that are within a part of their doc."""
    first, last = (
        bisect_left(keys, place, key=lambda key: key[1])
        for place in (window.start, window.end)
    )
    marks = []
    for key in keys[first:last]:
        label, start, end = key
        if start < end <= window.end:
            span = window.doc[start:end]
            marks.append(
                Mark(
                    start=span.start_char - window.start_char,
                    end=span.end_char - window.start_char,
                    label=label,
                    is_error=key == error,
                )
            )
    return marks
