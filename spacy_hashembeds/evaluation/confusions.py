"""Confusions of entities, or of the labels of documents, and where they are."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import Any

from spacy.tokens import Doc, Span

from .scorer import Matches, SpanKey

# A gold and a predicted entity; one of them may be missing.
Pair = tuple[SpanKey | None, SpanKey | None]

# The gold type or label, the predicted one, and of entities the kind of the error.
Kind = tuple[str | None, ...]

# A kind, and what shows the error.
Errors = Iterable[tuple[Kind, Callable[[], dict[str, Any]]]]

#: Tokens on each side of an error that are shown of a doc without sentences, or of a
#: sentence with more than so many.
_MARGIN, _LONGEST = 30, 200

#: Characters shown of a document with a wrong label, and examples of each kind.
_SHOWN, _N_EXAMPLES = 600, 5


class ErrorCounter:
    """Counts errors doc by doc, and keeps the first examples of each kind."""

    def __init__(self) -> None:
        self._counts: Counter[Kind] = Counter()
        self._examples: defaultdict[Kind, list[dict[str, Any]]] = defaultdict(list)

    def add(self, errors: Errors) -> None:
        """Count the errors of one doc."""
        for kind, show in errors:
            self._counts[kind] += 1
            if len(self._examples[kind]) < _N_EXAMPLES:
                self._examples[kind].append(show())

    def rank(self) -> list[dict[str, Any]]:
        """List the kinds, the most frequent first, and by name where equal."""
        ranked = sorted(
            self._counts.items(),
            key=lambda item: (-item[1], [name or "" for name in item[0]]),
        )
        return [
            {
                **dict(zip(("gold", "predicted", "error"), kind, strict=False)),
                "count": count,
                "examples": self._examples[kind],
            }
            for kind, count in ranked
        ]


def find_wrong_labels(
    document: int,
    doc: Doc,
    gold: frozenset[str],
    predicted: frozenset[str],
    *,
    exclusive: bool,
) -> Errors:
    """Find the wrong labels of one document, paired where they exclude each other."""
    missed, wrong = sorted(gold - predicted), sorted(predicted - gold)
    text = doc.text if len(doc.text) <= _SHOWN else f"{doc.text[:_SHOWN]}…"
    labels = {"gold": sorted(gold), "predicted": sorted(predicted)}
    pairs: Iterable[Kind] = zip_longest(missed, wrong)
    if not exclusive:
        pairs = chain(zip_longest(missed, ()), zip_longest((), wrong))
    for pair in pairs:
        yield pair, lambda: {"document": document, "text": text, **labels}


def find_wrong_entities(document: int, gold: Doc, matches: Matches) -> Errors:
    """Find the wrong entities of one doc, shown with what else is in their sentence:
    "start" and "end" are characters of that.
    """
    golds = [(ent.label_, ent.start, ent.end) for ent in gold.ents]
    predicted = [*matches.correct, *matches.spurious, *matches.ignored]
    predicted.sort(key=lambda key: key[1:])

    def show(wanted: SpanKey | None, got: SpanKey | None) -> dict[str, Any]:
        keys = [key for key in (wanted, got) if key is not None]
        window = _find_window(gold, min(k[1] for k in keys), max(k[2] for k in keys))
        return {
            "document": document,
            "text": window.text,
            "gold": _mark(window, golds, wanted),
            "predicted": _mark(window, predicted, got),
        }

    for wanted, got in pair_errors(matches.missed, matches.spurious):
        kind = (wanted and wanted[0], got and got[0], name_error(wanted, got))
        yield kind, partial(show, wanted, got)


def pair_errors(missed: Sequence[SpanKey], spurious: Sequence[SpanKey]) -> list[Pair]:
    """Pair what was missed with what was predicted in its place, as the text stands:
    those that share most tokens first, then those of one type; each at most once.
    """
    owners = {i: gold for gold in missed for i in range(gold[1], gold[2])}
    overlaps = []
    for number, (label, start, end) in enumerate(spurious):
        shared = Counter(owners[i] for i in range(start, end) if i in owners)
        for gold, n_tokens in shared.items():
            rank = (-n_tokens, gold[0] != label, gold[1], start, number)
            overlaps.append((rank, gold, number))
    pairs: list[Pair] = []
    free_gold = dict.fromkeys(missed)
    free_predicted = dict.fromkeys(range(len(spurious)))
    for _, gold, i in sorted(overlaps):
        if gold in free_gold and i in free_predicted:
            pairs.append((gold, spurious[i]))
            del free_gold[gold], free_predicted[i]
    pairs += [(gold, None) for gold in free_gold]
    pairs += [(None, spurious[i]) for i in free_predicted]
    return sorted(pairs, key=lambda pair: min(key[1] for key in pair if key))


def name_error(gold: SpanKey | None, predicted: SpanKey | None) -> str:
    """Name the kind of an error; "type" has the right bounds, "boundary" the type."""
    if predicted is None:
        return "missed"
    if gold is None:
        return "spurious"
    wrong = {"type": gold[0] != predicted[0], "boundary": gold[1:] != predicted[1:]}
    return " and ".join(name for name, is_wrong in wrong.items() if is_wrong)


def _find_window(doc: Doc, start: int, end: int) -> Span:
    if doc.has_annotation("SENT_START"):
        sentences = doc[doc[start].sent.start : doc[end - 1].sent.end]
        if len(sentences) <= _LONGEST:
            return sentences
    return doc[max(0, start - _MARGIN) : end + _MARGIN]


def _mark(
    window: Span, keys: Sequence[SpanKey], error: SpanKey | None
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
