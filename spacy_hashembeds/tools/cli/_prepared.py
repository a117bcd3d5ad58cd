"""Summary that `spacy hashembeds prepare` shows of what it has written."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab
from wasabi import msg

from ...training.docbin import read_docs
from ...training.joined import get_document, is_sentence
from ..display import Table, show
from ..prepare.labelled import has_one_label
from ._output import show_progress

#: The most labels that are shown, words of a sentence or text, and characters of each.
_N_SHOWN = 30

#: The tokens of a split that is hardly a single sentence, or document.
_MANY_TOKENS = 500


def show_documents(documents: Iterator[Any], split: str) -> Iterable[Any]:
    """Show how many documents of a split have been converted."""
    return show_progress(documents, f"Converting {split}", unit="documents")


def show_prepared(paths: dict[str, Path]) -> str | None:
    """Count what was written, and show some of it: a wrong column is seen at once.
    Return the component of spaCy that can learn it, or None if none can.
    """
    labels: dict[str, Counter[str]] = {split: Counter() for split in paths}
    sizes: dict[str, Counter[str]] = {split: Counter() for split in paths}
    for split, path in paths.items():
        docs = read_docs(path, Vocab())
        for doc in show_progress(docs, f"Counting {split}", unit="docs"):
            # of what is neither 1 nor 0, a half or more
            chosen = {label: value >= 0.5 for label, value in doc.cats.items()}
            labels[split].update(chosen)
            labels[split].update(ent.label_ for ent in doc.ents)
            sizes[split].update(_measure(doc))
    names = sorted(set(chain(*labels.values())))
    rows = [(x[:_N_SHOWN], *(labels[s][x] for s in paths)) for x in names[:_N_SHOWN]]
    rows += [(x, *(sizes[s][x] for s in paths)) for x in ("Docs", "Tokens")]
    cells = [(name, *(f"{n:,}" for n in counts)) for name, *counts in rows]
    show([Table(None, None, ("Label", *paths), cells)], msg)
    if len(names) > _N_SHOWN:
        msg.info(f"{len(names) - _N_SHOWN:,} more labels are not shown.")
    first = next(read_docs(paths["train"], Vocab()))
    if first.cats:
        _show_text(paths["train"], first)
        return _choose_classifier(names, labels["train"], sizes)
    _show_sentence(paths["train"], first)
    _advise(is_sentence(first), sizes)
    return "ner"


def _measure(doc: Doc) -> dict[str, int]:
    # not `is_space`, which a vocab without a language does not know
    ends = [(ent[0].orth_, ent[-1].orth_) for ent in doc.ents]
    return {
        "Docs": 1,
        "Tokens": len(doc),
        "of one label": has_one_label(doc.cats),
        "bare": not any(doc.cats.values()),
        "graded": not {*doc.cats.values()} <= {0.0, 1.0},
        "named": get_document(doc) is not None,
        "blank": sum(any(map(str.isspace, pair)) for pair in ends),
    }


def _choose_classifier(
    names: list[str], counts: Counter[str], sizes: dict[str, Counter[str]]
) -> str | None:
    """Choose the classifier for texts, and say what can't be learned."""
    total: Counter[str] = sum(sizes.values(), Counter())
    if total["bare"] and not total["graded"]:
        places = ", ".join(f"{n['bare']:,} in {split}" for split, n in sizes.items())
        msg.info(
            f"{total['bare']:,} texts without a label ({places}) teach that none "
            "is right: leave out those that nobody annotated."
        )
    n_train = sizes["train"]["Docs"]
    alike = [x for x in names if counts[x] in (0, n_train) and not total["graded"]]
    if alike:
        msg.warn(
            "No text for training has these labels, or each has, so that nothing can "
            "learn them:",
            ", ".join(label[:_N_SHOWN] for label in alike[:_N_SHOWN]),
        )
    if alike == names:
        return None
    if total["of one label"] == total["Docs"] and len(names) > 1:
        return "textcat"
    msg.info(
        "spaCy's textcat needs two labels or more, and exactly one for each text. Use "
        "textcat_multilabel for these texts."
    )
    return "textcat_multilabel"


def _advise(has_sentences: bool, sizes: dict[str, Counter[str]]) -> None:
    """Warn of what is hardly meant of entities."""
    if has_sentences and not any(counts["named"] for counts in sizes.values()):
        msg.info(
            "No -DOCSTART- line says which sentences are of one document: `config` "
            "has those that follow each other joined in training. If they are not of "
            "one text, set lengths = [1] in its [corpora.train]."
        )
    for split, counts in sizes.items():
        if counts["blank"]:
            msg.warn(
                f"{counts['blank']:,} entities of {split} begin or end with white "
                "space, which spaCy's NER does not learn: correct the file."
            )
        if counts["Docs"] == 1 and counts["Tokens"] > _MANY_TOKENS:
            msg.warn(
                f"All {counts['Tokens']:,} tokens of {split} became one document. Its "
                "sentences should be told apart, by blank lines or --sentence-column."
            )


def _show_text(path: Path, doc: Doc) -> None:
    labels = [
        label[:_N_SHOWN] + ("" if value == 1 else f" {value:.2f}")
        for label, value in doc.cats.items()
        if value
    ]
    shown = f"[{', '.join(labels[:_N_SHOWN])}] {_join(doc[:_N_SHOWN])}"
    msg.info(f"The first text in {path}:", shown + " …" * (len(doc) > _N_SHOWN))


def _show_sentence(path: Path, first: Doc) -> None:
    doc = next((doc for doc in read_docs(path, Vocab()) if doc.ents), first)
    place = doc.ents[0].start if doc.ents else 0
    has_sentences = doc.has_annotation("SENT_START")
    sentence = doc[place].sent if has_sentences and len(doc) else doc[:]
    start = sentence.start if place < sentence.start + _N_SHOWN else place
    end = min(sentence.end, start + _N_SHOWN)
    shown = _join(doc[start:end]) + " …" * (end < sentence.end)
    shown = "… " * (start > sentence.start) + shown
    if doc.ents:
        msg.info(f"The first sentence with an entity in {path}:", shown)
    else:
        msg.warn(f"No entity in {path}. Its first sentence:", shown)


def _join(span: Span) -> str:
    """Join words, with brackets around entities."""
    opens = {ent.start: "[" for ent in span.doc.ents}
    closes = {ent.end - 1: f" {ent.label_[:_N_SHOWN]}]" for ent in span.doc.ents}
    words = (
        opens.get(token.i, "") + token.text[:_N_SHOWN] + closes.get(token.i, "")
        for token in span
    )
    return " ".join(" ".join(words).split())
