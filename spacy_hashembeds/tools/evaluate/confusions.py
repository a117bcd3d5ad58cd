"""Confusions of entities or of document labels, with examples."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from spacy.tokens import Doc, Span

from ...training.scorer import Matches, SpanKey

#: Examples kept per kind of error.
_N_EXAMPLES = 5

#: Tokens shown on each side of an error in a doc without sentence boundaries, or in a
#: sentence of more than `_MAX_TOKENS` tokens.
_MARGIN, _MAX_TOKENS = 30, 200


class ErrorCounter:
    """Counts errors by kind (gold label, predicted label, type of entity error), and
    keeps the first examples of each kind.
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str | None, ...]] = Counter()
        self._examples: defaultdict[Any, list[dict[str, Any]]] = defaultdict(list)

    def add(
        self, kind: tuple[str | None, ...], show: Callable[..., Any], *args: Any
    ) -> None:
        """Count one error. `show(*args)` returns its example."""
        self._counts[kind] += 1
        if self._counts[kind] <= _N_EXAMPLES:
            self._examples[kind].append(show(*args))

    def rank(self) -> list[dict[str, Any]]:
        """List kinds by descending count, then by name."""
        ranked = sorted(
            self._counts, key=lambda k: (-self._counts[k], [name or "" for name in k])
        )
        names = ("gold", "predicted", "error")
        return [
            dict(zip(names, kind, strict=False))
            | {"count": self._counts[kind], "examples": self._examples[kind]}
            for kind in ranked
        ]


def count_entity_errors(
    counter: ErrorCounter, number: int, gold: Doc, matches: Matches
) -> None:
    """Count wrong entities of a doc. Examples hold all entities of the sentence, with
    "start" and "end" as character offsets in the sentence.
    """
    golds = [(ent.label_, ent.start, ent.end) for ent in gold.ents]
    predicted = [*matches.correct, *matches.spurious, *matches.ignored]
    predicted.sort(key=lambda key: key[1:])

    def show(expected: SpanKey | None, got: SpanKey | None) -> dict[str, Any]:
        keys = [key for key in (expected, got) if key]
        start, end = min(key[1] for key in keys), max(key[2] for key in keys)
        window = gold[max(0, start - _MARGIN) : end + _MARGIN]
        if gold.has_annotation("SENT_START"):
            sents = gold[gold[start].sent.start : gold[end - 1].sent.end]
            window = sents if len(sents) <= _MAX_TOKENS else window
        return {
            "document": number,
            "text": window.text,
            "gold": _mark(window, golds, expected),
            "predicted": _mark(window, predicted, got),
        }

    for pair in pair_errors(matches.missed, matches.spurious):
        kind = (*(key and key[0] for key in pair), _name_error(*pair))
        counter.add(kind, show, *pair)


def pair_errors(
    missed: Sequence[SpanKey], spurious: Sequence[SpanKey]
) -> list[tuple[SpanKey | None, SpanKey | None]]:
    """Pair missed entities with overlapping predictions, greedily by shared tokens and
    then by equal type. Return pairs in text order, with None for unpaired entities.
    """
    overlaps = []
    for gold in missed:
        for number, (label, start, end) in enumerate(spurious):
            n_tokens = min(gold[2], end) - max(gold[1], start)
            if n_tokens > 0:
                rank = (-n_tokens, gold[0] != label, gold[1], start, number)
                overlaps.append((rank, gold, number))
    free_gold, free = dict.fromkeys(missed), dict(enumerate(spurious))
    pairs: list[Any] = []
    for _, gold, number in sorted(overlaps):
        if gold in free_gold and number in free:
            del free_gold[gold]
            pairs.append((gold, free.pop(number)))
    pairs += [*zip_longest(free_gold, ()), *zip_longest((), free.values())]
    return sorted(pairs, key=lambda pair: min(key[1] for key in pair if key))


def _name_error(gold: SpanKey | None, predicted: SpanKey | None) -> str:
    """Return "missed", "spurious", "type", "boundary" or "type and boundary"."""
    if predicted is None or gold is None:
        return "spurious" if predicted else "missed"
    wrong = {"type": gold[0] != predicted[0], "boundary": gold[1:] != predicted[1:]}
    return " and ".join(name for name, is_wrong in wrong.items() if is_wrong)


def _mark(
    window: Span, keys: Iterable[SpanKey], error: SpanKey | None
) -> list[dict[str, Any]]:
    return [
        {
            "start": span.start_char - window.start_char,
            "end": span.end_char - window.start_char,
            "label": label,
            "is_error": (label, start, end) == error,
        }
        for label, start, end in keys
        if window.start <= start < end <= window.end
        for span in [window.doc[start:end]]
    ]


# Formatting of errors.


def quote_error(confusion: Mapping[str, Any]) -> str:
    """Quote the first error in brackets, with context, or the start of the document."""
    example = confusion["examples"][0]
    marks = example["gold" if confusion["gold"] else "predicted"]
    pieces = _split(example["text"], marks if "error" in confusion else ())
    text = "".join(f"[{t}]" if mark and mark["is_error"] else t for t, mark in pieces)
    start = max(0, text.find("[") - 8)
    return " ".join(text[start : start + 36].split())


def list_errors(confusions: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List confusions, with each example as lines: a heading, and pieces of text, each
    with its entity or None.
    """

    def make_lines(example: Mapping[str, Any], is_entity: bool) -> Iterator[Any]:
        text = example["text"]
        if not is_entity:
            yield f"Document {example['document']}", [(text, None)]
        for side in ("gold", "predicted"):
            labels = [(f"{label} ", None) for label in example[side]]
            yield side.title(), _split(text, example[side]) if is_entity else labels

    return [
        {**kind, "examples": [make_lines(x, "error" in kind) for x in kind["examples"]]}
        for kind in confusions
    ]


def _split(text: str, marks: Iterable[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    last = 0
    for mark in sorted(marks, key=lambda m: (m["start"], not m["is_error"])):
        if mark["start"] >= last:  # entities aligned with the same gold token overlap
            yield text[last : mark["start"]], None
            last = mark["end"]
            yield text[mark["start"] : last], mark
    yield text[last:], None
