"""Count the annotations that a lower precision changes, by kind."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.pipeline import TextCategorizer
from spacy.pipeline.textcat_multilabel import MultiLabel_TextCategorizer
from spacy.tokens import Doc
from spacy.training import Example

from ..training.scorer import ALL, Matches, match_entities

#: Kinds of token annotation, and their attributes.
ANNOTATIONS = {
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
ATTRS = [*chain(*ANNOTATIONS.values())]
#: Kinds without token attributes: entities and other spans; categories of texts.
ENTITIES, CATEGORIES = "entities", "categories"
#: Assumed design effect if nothing changed. For heads of en_core_web_sm in int8, 3.6
#: (5,276 texts) and 4.3 (528 longer texts) were measured.
DESIGN_EFFECT = 4.0
#: Normal quantile for two-sided 95 percent intervals.
_Z = NormalDist().inv_cdf(0.975)


class Share(NamedTuple):
    """Number of changed annotations, number of all, and the 95 percent interval of the
    ratio (0 to 1) over texts that have this kind of annotation.
    """

    changed: int
    of: int
    interval: tuple[float, float]

    def __str__(self) -> str:
        low, high = (f"{100 * bound:.2g}" for bound in self.interval)
        percent = 100 * self.changed / max(1, self.of)
        return f"{percent:.3g} percent ({low} to {high})"


class F1(NamedTuple):
    """F1 before and after, and the 95 percent interval of the difference over Docs. Its
    width is 0 for a single Doc.
    """

    before: float
    after: float
    interval: tuple[float, float]

    def __str__(self) -> str:
        low, high = (f"{100 * bound:+.2f}" for bound in self.interval)
        return f"{100 * (self.after - self.before):+.2f} points ({low} to {high})"


def estimate_share(counts: np.ndarray) -> Share:
    """Estimate the changed share from counts per text, `(n, 2)`: changed, all.

    The interval is Wilson's (1927), with the number of trials divided by the design
    effect (Kish 1965, chapter 8), because annotations of one text are correlated. If
    nothing changed, the design effect is `DESIGN_EFFECT`.
    """
    changed, of = map(int, counts.sum(axis=0))
    if not of:  # all annotations of this kind are new
        return Share(changed, of, (0.0, float(changed > 0)))
    n_texts, share = int((counts[:, 1] > 0).sum()), min(1.0, changed / of)
    effect = min(DESIGN_EFFECT, of) if changed == 0 else 1.0
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
    """Compare F1 scores by the variance of ratio estimators (Cochran 1977, §6.3).

    outcomes (ndarray): For each Doc, before and after: true positives, false positives
        and false negatives. *Shape:* `(n, 2, 3)`.
    """
    n = len(outcomes)
    found, of = 2.0 * outcomes[:, :, 0], outcomes @ [2.0, 1.0, 1.0]
    scores = found.sum(axis=0) / of.sum(axis=0)
    before, after = map(float, scores)
    residuals = ((found - scores * of) / of.sum(axis=0)) @ [-1.0, 1.0]
    variance = n / (n - 1) * float((residuals**2).sum()) if n > 1 else 0.0
    diff, spread = after - before, _Z * variance**0.5
    return F1(before, after, (diff - spread, diff + spread))


@dataclass(frozen=True)
class Changes:
    """Counts of changed annotations by kind. A moved entity counts twice."""

    #: Number of tokens with any changed annotation, and of all tokens.
    tokens: tuple[int, int]
    kinds: dict[str, Share]
    #: F1 of entities, or None without gold entities.
    f1: F1 | None

    def check(self, most: float) -> None:
        """Raise ValueError if `describe_excess` finds anything."""
        if found := self.describe_excess(most):
            raise ValueError(
                f"The lower precision may change too much: {found}. The 95 percent "
                f"intervals (in brackets) should stay within {most:g} percent of each "
                f"kind of annotation, {10 * most:g} percent of entities, and a loss of "
                f"{most:g} points of F1. Pass more texts (--text, 'texts' in Python), "
                "choose another precision, or raise the limit (--max-changed, "
                "'max_changed' in Python)."
            )

    def describe_excess(self, most: float) -> str:
        """Describe what exceeds the limits: intervals above `most` percent of a kind
        (ten times as much for entities, which are few), or below `-most` points of F1.
        """
        found = []
        for kind, share in self.kinds.items():
            limit = 10 * most if kind == ENTITIES else most
            if share.changed and 100 * share.interval[1] > limit:
                found.append(f"{share} of {kind}")
        if self.f1 is not None and -100 * self.f1.interval[0] > most:
            found.append(f"F1 by {self.f1}")
        n_tokens = self.tokens[1]
        if 100 * estimate_share(np.array([[0, n_tokens]])).interval[1] > most:
            found.append(f"{n_tokens:,} tokens are too few for this limit")
        return ", ".join(found)

    def describe(self) -> Iterator[tuple[str, str]]:
        """Yield the name of a printer method and the text to show."""
        n, of = self.tokens
        intervals = "95 percent intervals in brackets"
        yield "info", f"Changed by the precision: {n:,} of {of:,} tokens ({intervals})"
        for kind, share in self.kinds.items():
            if share.changed:
                yield "text", f"{share.changed:,} of {share.of:,} {kind}: {share}"
        if self.f1 is not None:
            old, new = 100 * self.f1.before, 100 * self.f1.after
            yield "info", f"F1 of entities: {old:.2f} to {new:.2f}: {self.f1}"


def count_changes(
    nlp: Language,
    texts: Iterable[str | Doc],
    befores: Iterable[Doc],
    afters: Iterable[Doc],
) -> Changes:
    """Count changes between Docs of equal texts. Texts may be Docs with gold NER."""
    classifiers = [p for _, p in nlp.pipeline if isinstance(p, TextCategorizer)]
    names = (*ANNOTATIONS, ENTITIES, CATEGORIES)
    counts, outcomes = [], []  # per text and kind (last: tokens): changed, all
    for text, before, after in zip(texts, befores, afters, strict=True):
        n, old, new = len(before), _find_spans(before), _find_spans(after)
        columns: Any = (before.to_array([*ATTRS]) != after.to_array([*ATTRS])).T
        by_attr = dict(zip(ATTRS, columns, strict=True))
        by_kind = ([by_attr[attr] for attr in attrs] for attrs in ANNOTATIONS.values())
        differ = np.array([np.any(each, axis=0) for each in by_kind])
        is_changed = np.logical_or.reduce(differ)
        for start, end, *_ in old ^ new:
            is_changed[start:end] = True
        is_other = any(_choose(p, before) != _choose(p, after) for p in classifiers)
        of_kinds = [(changed, n) for changed in differ.sum(axis=1)]
        of_kinds += [(len(old ^ new), len(old)), (is_other, len(before.cats) > 0)]
        counts.append([*of_kinds, (is_changed.sum(), n)])
        if isinstance(text, Doc) and text.has_annotation("ENT_IOB"):
            outcomes.append((_score(before, text), _score(after, text)))
    table = np.array(counts, dtype="int64").reshape(-1, len(names) + 1, 2)
    changed, of = map(int, table[:, -1].sum(axis=0))
    scores = np.array(outcomes, dtype="int64").reshape(-1, 2, 3)
    return Changes(
        tokens=(changed, of),
        kinds={name: estimate_share(table[:, i]) for i, name in enumerate(names)},
        f1=compare_f1(scores) if scores[:, 0, ::2].any() else None,
    )


def _choose(pipe: TextCategorizer, doc: Doc) -> set[str]:
    """Return the best label or, if multilabel, all labels from the threshold on."""
    scores = {label: doc.cats.get(label, 0.0) for label in pipe.labels}
    least = pipe.cfg["threshold"]
    if not isinstance(pipe, MultiLabel_TextCategorizer):
        least = max(scores.values(), default=0.0)
    return {label for label, score in scores.items() if score >= least}


def _find_spans(doc: Doc) -> set[tuple[int, int, str, str, str]]:
    """Return the entities and the spans of all groups."""
    return {
        (span.start, span.end, span.label_, span.kb_id_, span.id_)
        for spans in (doc.ents, *doc.spans.values())
        for span in spans
    }


def _score(doc: Doc, gold: Doc) -> list[int]:
    """Count true positives, false positives and false negatives."""
    matches = match_entities(Example(doc, gold), None).get(ALL, Matches())
    return [len(matches.correct), len(matches.spurious), len(matches.missed)]
