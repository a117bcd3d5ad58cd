"""What products of fewer bits change in the annotation of texts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc, Span

from ..display import Part, Sentence
from ..evaluation.bootstrap import Difference, Draws, compare_scores
from ..evaluation.counts import score_counts

#: What is predicted of a token.
ATTRIBUTES: list[int | str] = [
    *("NORM", "LEMMA", "TAG", "POS", "MORPH", "HEAD", "DEP", "SENT_START", "ENT_IOB"),
    *("ENT_TYPE", "ENT_ID", "ENT_KB_ID"),
]

_DRAWS = Draws(samples=5000, seed=0)


@dataclass(frozen=True)
class Changes:
    """How many of the tokens, entities (and other spans) and categorised texts are
    annotated otherwise: (how many, of how many). An entity that is moved counts twice.
    """

    tokens: tuple[int, int]
    entities: tuple[int, int]
    texts: tuple[int, int]
    #: F1 of the entities of Docs that have some, 0 to 1, before and after ...
    f1: tuple[float, float] | None
    #: ... and after minus before, with a paired bootstrap interval over Docs.
    f1_difference: Difference | None

    @property
    def percent(self) -> float:
        """The larger of the shares of tokens and of texts, in percent."""
        return max(100 * n / max(1, of) for n, of in (self.tokens, self.texts))

    def get_parts(self) -> Iterator[Part]:
        """Say how many there are of each, where there are any."""
        names = {
            "tokens": self.tokens,
            "entities and spans": self.entities,
            "texts' categories": self.texts,
        }
        for name, (n, of) in names.items():
            if n or of:
                share = f" ({100 * n / of:.3g} percent)" if of else ""
                yield Sentence(f"Changed: {n:,} of {of:,} {name}{share}", "info")
        if self.f1 is not None and self.f1_difference is not None:
            old, new = (100 * score for score in self.f1)
            difference, interval, _ = self.f1_difference
            bounds = [f"{100 * bound:+.2f}" for bound in interval or ()]
            between = f", 95 percent interval {' to '.join(bounds)}" if bounds else ""
            yield Sentence(
                f"F1 of entities: {old:.2f} before, {new:.2f} after "
                f"({100 * difference:+.2f}{between})",
                "info",
            )


class ChangeCounter:
    """Counts what differs in one batch of texts after the other."""

    def __init__(self) -> None:
        self._counts = {"tokens": (0, 0), "entities": (0, 0), "texts": (0, 0)}
        self._outcomes: list[tuple[list[int], list[int]]] = []

    def count(
        self, golds: Sequence[str | Doc], befores: Sequence[Doc], afters: Sequence[Doc]
    ) -> None:
        """Count what differs in texts, of which Docs may have entities of their own."""
        for gold, before, after in zip(golds, befores, afters, strict=True):
            old, new = _find_spans(before), _find_spans(after)
            changed = before.to_array(ATTRIBUTES) != after.to_array(ATTRIBUTES)
            is_changed = changed.any(axis=1)
            for _, start, end, *_ in old ^ new:
                is_changed[start:end] = True
            self._add("tokens", int(is_changed.sum()), len(before))
            self._add("entities", len(old ^ new), len(old))
            if before.cats:
                is_other = _choose(before.cats) != _choose(after.cats)
                self._add("texts", int(is_other), 1)
            if isinstance(gold, Doc) and gold.has_annotation("ENT_IOB"):
                self._outcomes.append((_score(before, gold), _score(after, gold)))

    def _add(self, name: str, n: int, of: int) -> None:
        counted = self._counts[name]
        self._counts[name] = counted[0] + n, counted[1] + of

    def summarize(self) -> Changes:
        """Sum up what was counted."""
        outcomes = np.array(self._outcomes, dtype="int64").reshape(-1, 2, 1, 3)
        before, after = outcomes[:, 0], outcomes[:, 1]
        compared = compare_scores(after, before, _DRAWS)[0] if len(outcomes) else None
        if compared is None:
            return Changes(**self._counts, f1=None, f1_difference=None)
        old, new = np.nan_to_num(score_counts(outcomes.sum(axis=0)))[:, 0, 2].tolist()
        return Changes(**self._counts, f1=(old, new), f1_difference=compared.f)


def _find_spans(doc: Doc) -> set[tuple[str, int, int, str, str]]:
    """Find entities, and spans of all groups, with these as keys."""
    groups: dict[str, Iterable[Span]] = {"": doc.ents, **doc.spans}
    return {
        (key, span.start, span.end, span.label_, span.kb_id_)
        for key, spans in groups.items()
        for span in spans
    }


def _choose(cats: Mapping[str, float]) -> tuple[str, set[str]]:
    """Choose the best category, and those that are more likely than not."""
    best = max(cats, key=lambda name: cats[name])
    return best, {name for name, score in cats.items() if score >= 0.5}


def _score(doc: Doc, gold: Doc) -> list[int]:
    """Count true positives, false positives and false negatives."""
    found, wanted = (
        {(ent.start, ent.end, ent.label_) for ent in one.ents} for one in (doc, gold)
    )
    return [len(found & wanted), len(found - wanted), len(wanted - found)]
