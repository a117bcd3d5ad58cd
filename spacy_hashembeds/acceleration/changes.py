"""Changes of annotation by products of fewer bits, counted by kind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from spacy.language import Language
from spacy.pipeline import TextCategorizer
from spacy.pipeline.textcat_multilabel import MultiLabel_TextCategorizer
from spacy.tokens import Doc
from spacy.training import Example

from ..training.scorer import ALL, Matches, match_entities

#: Kinds of annotation that are told apart, and the attributes of tokens that have them.
KINDS = {
    "words": ("ORTH", "SPACY"),
    "norms": ("NORM",),
    "lemmas": ("LEMMA",),
    "tags": ("TAG",),
    "parts of speech": ("POS",),
    "morphology": ("MORPH",),
    "heads": ("HEAD",),
    "dependencies": ("DEP",),
    "sentences": ("SENT_START",),
    "tokens of entities": ("ENT_IOB", "ENT_TYPE", "ENT_ID", "ENT_KB_ID"),
}
ATTRIBUTES = [*chain(*KINDS.values())]
ENTITIES, CATEGORIES = "entities", "categories"
#: Factors of what may change of a kind: entities are few, and a moved one counts
#: twice.
ALLOWANCES = {ENTITIES: 10}

#: Index in these at which each kind begins.
_STARTS = [ATTRIBUTES.index(names[0]) for names in KINDS.values()]
#: Deviations that hold 95 percent of a normal distribution.
_Z = NormalDist().inv_cdf(0.975)


class Share(NamedTuple):
    """The number that changed, of how many, and the interval of 95 percent of the
    share, 0 to 1, over texts of this kind.
    """

    changed: int
    of: int
    interval: tuple[float, float]

    def __str__(self) -> str:
        low, high = (f"{100 * bound:.2g}" for bound in self.interval)
        percent = 100 * self.changed / max(1, self.of)
        return f"{percent:.3g} percent ({low} to {high})"


class F1(NamedTuple):
    """F1 before and after, and the interval of 95 percent of the difference, over Docs:
    of a single Doc, or of Docs that all change alike, the difference itself.
    """

    before: float
    after: float
    interval: tuple[float, float]

    def __str__(self) -> str:
        low, high = (f"{100 * bound:+.2f}" for bound in self.interval)
        return f"{100 * (self.after - self.before):+.2f} points ({low} to {high})"


def estimate_share(counts: np.ndarray) -> Share:
    """Estimate the changed share from the changed and all of each text, `(n, 2)`.

    By Wilson (1927), with as many trials as are informative: those of one text are
    alike, and count for fewer (Kish 1965, chapter 8, the design effect).
    """
    changed, of = map(int, counts.sum(axis=0))
    if not of:  # what is new where there was nothing
        return Share(changed, of, (0.0, float(changed > 0)))
    n_texts, share = int((counts[:, 1] > 0).sum()), min(1.0, changed / of)
    effect = 1.0
    if n_texts > 1 and 0 < share < 1:
        residuals = counts[:, 0] - share * counts[:, 1]
        variance = n_texts / (n_texts - 1) * float((residuals**2).sum()) / of**2
        effect = max(1.0, variance / (share * (1 - share) / of))
    trials = of / effect
    middle = share + _Z**2 / (2 * trials)
    spread = _Z * (share * (1 - share) / trials + _Z**2 / (4 * trials**2)) ** 0.5
    scale = 1 + _Z**2 / trials
    low, high = max(0.0, middle - spread), min(scale, middle + spread)
    return Share(changed, of, (low / scale, high / scale))


def compare_f1(outcomes: np.ndarray) -> F1:
    """Compare F1, by the variance of ratios of sums (Cochran 1977, section 6.3).

    outcomes (ndarray): True positives, false positives and false negatives of each
        Doc, before and after. *Shape:* `(n, 2, 3)`.
    """
    n, weights = len(outcomes), np.array([2.0, 1.0, 1.0])
    found, of = 2.0 * outcomes[:, :, 0], outcomes @ weights
    scores = found.sum(axis=0) / of.sum(axis=0)
    before, after = map(float, scores)
    residuals = ((found - scores * of) / of.sum(axis=0)) @ [-1.0, 1.0]
    spread = _Z * (n / max(1, n - 1) * float((residuals**2).sum())) ** 0.5
    spread = spread if n > 1 else 0.0
    return F1(before, after, (after - before - spread, after - before + spread))


@dataclass(frozen=True)
class Changes:
    """Counts of what is annotated otherwise, by kind of annotation, of tokens, entities
    (and other spans) and texts with categories. A moved entity counts twice.
    """

    #: The number of tokens that have any of it, and of all.
    tokens: tuple[int, int]
    kinds: dict[str, Share]
    #: F1 of the entities of Docs that have some, or None without such Docs.
    f1: F1 | None

    def check(self, most: float) -> None:
        """Raise ValueError if more may be changed: see `describe_excess`."""
        if found := self.describe_excess(most):
            raise ValueError(
                f"The new pipeline may change too much: {found}. Up to {most:g} "
                "percent of each kind of annotation may change, of entities ten times "
                "as much, and F1 may fall by as many points, each to the end of its "
                "interval of 95 percent (in brackets). Give more texts (--text, or "
                "'texts' in Python), choose another precision, or let more be changed "
                "(--max-changed, or 'max_changed' in Python)."
            )

    def describe_excess(self, most: float) -> str:
        """Describe the kinds of which more than this percentage may be changed, to the
        end of the interval, and F1 if it may fall by more points.
        """
        found = [
            f"{share} of {kind}"
            for kind, share in self.kinds.items()
            if share.changed
            and 100 * share.interval[1] > most * ALLOWANCES.get(kind, 1)
        ]
        if self.f1 is not None and -100 * self.f1.interval[0] > most:
            found.append(f"F1 by {self.f1}")
        n_tokens = self.tokens[1]
        if 100 * estimate_share(np.array([[0, n_tokens]])).interval[1] > most:
            found.append(f"{n_tokens:,} tokens are too few to tell")
        return ", ".join(found)

    def describe(self) -> Iterator[tuple[str, str]]:
        """Yield texts, each after the method of wasabi's printer that shows it."""
        n, of = self.tokens
        yield "info", f"Changed: {n:,} of {of:,} tokens"
        for kind, share in self.kinds.items():
            if share.changed:
                yield "text", f"{share.changed:,} of {share.of:,} {kind}: {share}"
        if self.f1 is not None:
            old, new = 100 * self.f1.before, 100 * self.f1.after
            said = f"F1 of entities: {old:.2f} before, {new:.2f} after; {self.f1}"
            yield "info", said


class ChangeCounter:
    """Counts what differs in one batch of texts after the other."""

    def __init__(self, nlp: Language) -> None:
        pipes = (pipe for _, pipe in nlp.pipeline)
        self._classifiers = [p for p in pipes if isinstance(p, TextCategorizer)]
        #: For each text and kind, changed and all; last the tokens.
        self._counts: list[list[tuple[int, int]]] = []
        self._outcomes: list[tuple[list[int], list[int]]] = []

    def count(
        self, golds: Sequence[str | Doc], befores: Sequence[Doc], afters: Sequence[Doc]
    ) -> None:
        """Count what differs in texts, of which Docs may have entities of their own."""
        for gold, before, after in zip(golds, befores, afters, strict=True):
            old, new, n = _find_spans(before), _find_spans(after), len(before)
            differ = before.to_array([*ATTRIBUTES]) != after.to_array([*ATTRIBUTES])
            is_changed = differ.any(axis=1)
            for start, end, *_ in old ^ new:
                is_changed[start:end] = True
            by_kind = np.logical_or.reduceat(differ, _STARTS, axis=1).sum(axis=0)
            is_other = self._choose(before) != self._choose(after)
            self._counts.append(
                [
                    *((changed, n) for changed in by_kind.tolist()),
                    (len(old ^ new), len(old)),
                    (int(is_other), int(len(before.cats) > 0)),
                    (int(is_changed.sum()), n),
                ]
            )
            if isinstance(gold, Doc) and gold.has_annotation("ENT_IOB"):
                self._outcomes.append((_score(before, gold), _score(after, gold)))

    def _choose(self, doc: Doc) -> list[set[str]]:
        """Choose the label of the highest score, or all from the threshold on."""
        chosen = []
        for pipe in self._classifiers:
            scores = {label: doc.cats.get(label, 0.0) for label in pipe.labels}
            least = pipe.cfg["threshold"]
            if not isinstance(pipe, MultiLabel_TextCategorizer):
                least = max(scores.values(), default=0.0)
            chosen.append({label for label, score in scores.items() if score >= least})
        return chosen

    def summarize(self) -> Changes:
        """Sum up what was counted."""
        names = (*KINDS, ENTITIES, CATEGORIES)
        counts = np.array(self._counts, dtype="int64").reshape(-1, len(names) + 1, 2)
        changed, of = map(int, counts[:, -1].sum(axis=0))
        outcomes = np.array(self._outcomes, dtype="int64").reshape(-1, 2, 3)
        return Changes(
            tokens=(changed, of),
            kinds={name: estimate_share(counts[:, i]) for i, name in enumerate(names)},
            f1=compare_f1(outcomes) if outcomes[:, 0, ::2].any() else None,
        )


def _find_spans(doc: Doc) -> set[tuple[int, int, str, str, str]]:
    """Find entities, and the spans of all groups."""
    return {
        (span.start, span.end, span.label_, span.kb_id_, span.id_)
        for spans in (doc.ents, *doc.spans.values())
        for span in spans
    }


def _score(doc: Doc, gold: Doc) -> list[int]:
    """Count true positives, false positives and false negatives."""
    matches = match_entities(Example(doc, gold), None).get(ALL, Matches())
    return [len(matches.correct), len(matches.spurious), len(matches.missed)]
