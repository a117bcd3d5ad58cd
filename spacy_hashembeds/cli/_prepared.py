"""Summary that `spacy hashembeds prepare` shows of what it has written."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab
from wasabi import msg

from ..analysis.statistics import StatisticsCounter, warn_of_whitespace
from ..corpora.docbin import read_docs
from ..corpora.joined import get_document, is_sentence
from ..display import Table, format_fields, show
from ._output import show_progress

#: The most labels that are shown, words of a sentence or text, and characters of each.
_N_SHOWN = 30

#: The tokens of a split that is hardly a single sentence, or document.
_MANY_TOKENS = 500

_COLUMNS = {
    "documents": "Documents",
    "tokens": "Tokens",
    "vocabulary": "Vocabulary",
    "classes": "Classes",
    "entities_per_document": "Entities/doc",
    "seen": "Seen",
    "unseen": "Unseen",
}


def show_documents(documents: Iterator[Any], split: str) -> Iterable[Any]:
    """Show how many documents of a split have been converted."""
    return show_progress(documents, f"Converting {split}", unit="documents")


def show_prepared(paths: dict[str, Path]) -> None:
    """Count what was written, and show some of it: a wrong column is seen at once."""
    first = next(read_docs(paths["train"], Vocab()))
    if first.cats:
        _print_labels(paths)
        _print_text(paths["train"], first)
    else:
        documents = _print_statistics(paths)
        _print_sentence(paths["train"], first)
        if is_sentence(first) and not documents:
            msg.info(
                "No -DOCSTART- line says which sentences are of one document: those "
                "that follow each other may be joined in training."
            )


def _read_split(path: Path, split: str) -> Iterable[Doc]:
    return show_progress(read_docs(path, Vocab()), f"Counting {split}", unit="docs")


def _print_labels(paths: dict[str, Path]) -> None:
    counts: dict[str, Counter[str]] = {split: Counter() for split in paths}
    totals = {"All texts": Counter[str](), "Their tokens": Counter[str]()}
    values: set[float] = set()
    bare = Counter[str]()
    for split, path in paths.items():
        for doc in _read_split(path, split):
            # of what is neither 1 nor 0, a half or more
            counts[split].update({key: value >= 0.5 for key, value in doc.cats.items()})
            values.update(doc.cats.values())
            totals["All texts"][split] += 1
            bare[split] += not any(doc.cats.values())
            totals["Their tokens"][split] += len(doc)
    labels = sorted(set().union(*counts.values()))
    rows = [
        (x[:_N_SHOWN], *(f"{counts[split][x]:,}" for split in paths))
        for x in labels[:_N_SHOWN]
    ]
    rows += [(name, *format_fields(total, *paths)) for name, total in totals.items()]
    has_parts = not values <= {0.0, 1.0}
    header = (f"Texts with the label{' at 0.5 or more' * has_parts}", *paths)
    show([Table(None, None, header, rows)], msg)
    if len(labels) > _N_SHOWN:
        msg.info(f"{len(labels) - _N_SHOWN:,} more labels are not shown.")
    if bare.total() and not has_parts:
        places = ", ".join(f"{bare[split]:,} in {split}" for split in paths)
        msg.info(
            f"{bare.total():,} texts without a label ({places}), which no label is "
            "right for: leave out those that nobody annotated."
        )
    unknown = [x[:_N_SHOWN] for x in labels if not counts["train"][x]]
    if unknown:
        msg.warn(
            "No text for training has these labels, so that nothing can learn them:",
            ", ".join(unknown[:_N_SHOWN]),
        )


def _print_text(path: Path, doc: Doc) -> None:
    labels = [
        label[:_N_SHOWN] + ("" if value == 1 else f" {value:.2f}")
        for label, value in doc.cats.items()
        if value
    ]
    words = " ".join(token.text[:_N_SHOWN] for token in doc[:_N_SHOWN]).split()
    more = " …" if len(doc) > _N_SHOWN else ""
    shown = f"[{', '.join(labels[:_N_SHOWN])}] {' '.join(words)}{more}"
    msg.info(f"The first text in {path}:", shown)


def _print_statistics(paths: dict[str, Path]) -> set[str]:
    """Print what is counted, and give the names of documents that sentences are of."""
    splits = {}
    documents: set[str | None] = set()
    train_texts: set[str] = set()
    for split, path in paths.items():
        counter = StatisticsCounter()
        for doc in _read_split(path, split):
            counter.add(doc)
            documents.add(get_document(doc))
        if split == "train":
            train_texts = counter.entity_texts
        splits[split] = counter.get_statistics() | counter.count_seen(train_texts)
    rows = [
        (split, *format_fields(counts, *_COLUMNS)) for split, counts in splits.items()
    ]
    legend = "Seen: entities whose text is one in train too."
    show([Table(None, legend, ("Split", *_COLUMNS.values()), rows)], msg)
    if warning := warn_of_whitespace(splits):
        msg.warn(warning)
    for split, counts in splits.items():
        if counts["documents"] == 1 and counts["tokens"] > _MANY_TOKENS:
            msg.warn(
                f"All {counts['tokens']:,} tokens of {split} became one document. Its "
                "sentences should be told apart, by blank lines or --sentence-column."
            )
    return {name for name in documents if name is not None}


def _print_sentence(path: Path, first: Doc) -> None:
    doc = next((doc for doc in read_docs(path, Vocab()) if doc.ents), first)
    place = doc.ents[0].start if doc.ents else 0
    sentence = doc[place].sent
    start = sentence.start if place < sentence.start + _N_SHOWN else place
    end = min(sentence.end, start + _N_SHOWN)
    opens = {ent.start: "[" for ent in doc.ents}
    closes = {ent.end - 1: f" {ent.label_[:_N_SHOWN]}]" for ent in doc.ents}
    words = [
        opens.get(token.i, "") + token.text[:_N_SHOWN] + closes.get(token.i, "")
        for token in doc[start:end]
    ]
    before = "… " if start > sentence.start else ""
    after = " …" if end < sentence.end else ""
    shown = before + " ".join(words) + after
    if doc.ents:
        msg.info(f"The first sentence with an entity in {path}:", shown)
    else:
        msg.warn(f"No entity in {path}. Its first sentence:", shown)
