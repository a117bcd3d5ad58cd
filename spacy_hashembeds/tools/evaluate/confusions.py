"""Confusions of entities, or of the labels of documents, and where they are."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from spacy.tokens import Doc, Span

from ...training.scorer import Matches, SpanKey

Labels = frozenset[str]

#: Tokens on each side of an error that are shown of a doc without sentences, or of a
#: sentence with more than so many.
_MARGIN, _LONGEST = 30, 200

#: Characters shown of a document with a wrong label, and examples of each kind.
_SHOWN, _N_EXAMPLES = 600, 5


class ErrorCounter:
    """Counts errors doc by doc, and keeps the first examples of each kind."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str | None, ...]] = Counter()
        self._examples: defaultdict[Any, list[dict[str, Any]]] = defaultdict(list)

    def _is_to_show(self, *kind: str | None) -> bool:
        self._counts[kind] += 1
        return self._counts[kind] <= _N_EXAMPLES

    def add_labels(
        self, number: int, doc: Doc, gold: Labels, predicted: Labels, exclusive: bool
    ) -> None:
        """Count wrong labels of a document, in pairs where they exclude each other."""
        missed, wrong = sorted(gold - predicted), sorted(predicted - gold)
        pairs = [*zip_longest(missed, wrong)]
        if not exclusive:
            pairs = [*zip_longest(missed, ()), *zip_longest((), wrong)]
        text = doc.text if len(doc.text) <= _SHOWN else f"{doc.text[:_SHOWN]}…"
        labels = {"gold": sorted(gold), "predicted": sorted(predicted)}
        for kind in pairs:
            if self._is_to_show(*kind):
                example = {"document": number, "text": text, **labels}
                self._examples[kind].append(example)

    def add_entities(self, number: int, gold: Doc, matches: Matches) -> None:
        """Count wrong entities of a doc, shown with what else is in their sentence:
        "start" and "end" are characters of that.
        """
        golds = [(ent.label_, ent.start, ent.end) for ent in gold.ents]
        predicted = [*matches.correct, *matches.spurious, *matches.ignored]
        predicted.sort(key=lambda key: key[1:])
        for wanted, got in pair_errors(matches.missed, matches.spurious):
            kind = (wanted and wanted[0], got and got[0], name_error(wanted, got))
            if self._is_to_show(*kind):
                keys = [key for key in (wanted, got) if key]
                start, end = min(key[1] for key in keys), max(key[2] for key in keys)
                window = gold[max(0, start - _MARGIN) : end + _MARGIN]
                if gold.has_annotation("SENT_START"):
                    sents = gold[gold[start].sent.start : gold[end - 1].sent.end]
                    window = sents if len(sents) <= _LONGEST else window
                example = {
                    "document": number,
                    "text": window.text,
                    "gold": _mark(window, golds, wanted),
                    "predicted": _mark(window, predicted, got),
                }
                self._examples[kind].append(example)

    def rank(self) -> list[dict[str, Any]]:
        """List the kinds, the most frequent first, and by name where equal."""
        ranked = sorted(self._counts, key=lambda kind: [name or "" for name in kind])
        ranked.sort(key=self._counts.__getitem__, reverse=True)
        names = ("gold", "predicted", "error")
        return [
            dict(zip(names, kind, strict=False))
            | {"count": self._counts[kind], "examples": self._examples[kind]}
            for kind in ranked
        ]


def pair_errors(
    missed: Sequence[SpanKey], spurious: Sequence[SpanKey]
) -> list[tuple[SpanKey | None, SpanKey | None]]:
    """Pair what was missed with what was predicted in its place, as the text stands:
    those that share most tokens first, then those of one type; each at most once.
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


def name_error(gold: SpanKey | None, predicted: SpanKey | None) -> str:
    """Name the kind of an error; "type" has the right bounds, "boundary" the type."""
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


# What is shown of them.


def quote_error(confusion: Mapping[str, Any]) -> str:
    """Quote what is around the first error, in brackets, or how its document begins."""
    example = confusion["examples"][0]
    marks = example["gold" if confusion["gold"] else "predicted"]
    pieces = _split(example["text"], marks if "error" in confusion else ())
    text = "".join(f"[{t}]" if mark and mark["is_error"] else t for t, mark in pieces)
    start = max(0, text.find("[") - 8)
    return " ".join(text[start : start + 36].split())


def list_errors(confusions: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List confusions with their examples as lines: a heading, and pieces of text, each
    with the entity that is marked there, if any.
    """

    def write(example: Mapping[str, Any], is_of_entity: bool) -> Iterator[Any]:
        text = example["text"]
        if not is_of_entity:
            yield f"Document {example['document']}", [(text, None)]
        for side in ("gold", "predicted"):
            labels = [(f"{label} ", None) for label in example[side]]
            yield side.title(), _split(text, example[side]) if is_of_entity else labels

    return [
        {
            **kind,
            "examples": [write(each, "error" in kind) for each in kind["examples"]],
        }
        for kind in confusions
    ]


def _split(text: str, marks: Iterable[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    last = 0
    for mark in sorted(marks, key=lambda m: (m["start"], not m["is_error"])):
        if mark["start"] >= last:  # two that are aligned with one gold token overlap
            yield text[last : mark["start"]], None
            last = mark["end"]
            yield text[mark["start"] : last], mark
    yield text[last:], None
