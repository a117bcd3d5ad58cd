"""What `spacy hashembeds prepare` shows of what it has written."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ._progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spacy.tokens import Doc

#: The most words of a sentence or text that are shown, and characters of each.
_N_SHOWN = 30

#: The most labels that are counted in a row of their own.
_N_LABELS = 30


def show_documents(documents: "Iterator[Any]", split: str) -> "Iterable[Any]":
    """Show how many documents of a split have been converted."""
    return show_progress(documents, f"Converting {split}", unit="documents")


def show_prepared(paths: dict[str, Path]) -> None:
    """Count what was written, rather than what was meant to be, and show some of it: a
    wrong column is seen at once.

    paths (dict[str, Path]): The file or folder of each split.
    """
    from spacy.vocab import Vocab

    from ..corpora.docbin import read_docs

    first = next(read_docs(paths["train"], Vocab()))
    if first.cats:
        _print_labels(paths)
        _print_text(paths["train"], first)
    else:
        _print_statistics(paths)
        _print_sentence(paths["train"])


def _print_labels(paths: dict[str, Path]) -> None:
    """Print how many texts of each split have each label."""
    from wasabi import msg

    from ..controls import show_controls

    counted = {split: _count_labels(path, split) for split, path in paths.items()}
    labels = sorted(set().union(*(c.labels.keys() for c in counted.values())))
    has_parts = any(c.has_parts for c in counted.values())
    names = [show_controls(label[:_N_SHOWN]) for label in labels]
    columns = [
        [*(c.labels[label] for label in labels[:_N_LABELS]), c.n_texts, c.n_tokens]
        for c in counted.values()
    ]
    rows = zip((*names[:_N_LABELS], "All texts", "Their tokens"), *columns, strict=True)
    msg.table(
        [(name, *(f"{count:,}" for count in counts)) for name, *counts in rows],
        header=(f"Texts with the label{' at 0.5 or more' * has_parts}", *paths),
        aligns=("l", *"r" * len(paths)),
        divider=True,
        spacing=2,
    )
    if len(labels) > _N_LABELS:
        msg.info(f"{len(labels) - _N_LABELS:,} more labels are not shown.")
    in_training = counted["train"].labels
    unknown = [
        name
        for label, name in zip(labels, names, strict=True)
        if not in_training[label]
    ]
    if unknown:
        msg.warn(
            "No text for training has these labels, so that nothing can learn them:",
            ", ".join(unknown[:_N_LABELS]),
        )


class _Counts(NamedTuple):
    """What is counted of the texts of a split.

    labels (Counter[str]): How many have each label, those of a half or more of it too.
    has_parts (bool): Whether a number is there that is neither 0 nor 1.
    """

    labels: Counter[str]
    has_parts: bool
    n_texts: int
    n_tokens: int


def _count_labels(path: Path, split: str) -> _Counts:
    from spacy.vocab import Vocab

    from ..corpora.docbin import read_docs

    labels: Counter[str] = Counter()
    has_parts = False
    n_texts = n_tokens = 0
    read = read_docs(path, Vocab())
    for doc in show_progress(read, f"Counting {split}", unit="docs"):
        labels.update({label: value >= 0.5 for label, value in doc.cats.items()})
        has_parts = has_parts or not set(doc.cats.values()) <= {0.0, 1.0}
        n_texts += 1
        n_tokens += len(doc)
    return _Counts(labels, has_parts, n_texts, n_tokens)


def _print_text(path: Path, doc: "Doc") -> None:
    from wasabi import msg

    from ..controls import show_controls

    labels = [_name_label(label, value) for label, value in doc.cats.items() if value]
    words = " ".join(token.text[:_N_SHOWN] for token in doc[:_N_SHOWN]).split()
    more = " …" if len(doc) > _N_SHOWN else ""
    shown = f"[{', '.join(labels[:_N_SHOWN])}] {' '.join(words)}{more}"
    msg.info(f"The first text in {path}:", show_controls(shown))


def _print_statistics(paths: dict[str, Path]) -> None:
    """Print how many documents, words and entities each split has."""
    from spacy.vocab import Vocab
    from wasabi import msg

    from ..analysis.statistics import StatisticsCounter
    from ..corpora.docbin import read_docs

    rows = []
    train_texts: set[str] = set()
    for split, path in paths.items():
        read = read_docs(path, Vocab())
        docs = show_progress(read, f"Counting {split}", unit="docs")
        counter = StatisticsCounter(docs)
        if split == "train":
            train_texts = counter.entity_texts
        counts = counter.get_statistics() | counter.count_seen(train_texts)
        rows.append(
            (
                split,
                f"{counts['documents']:,}",
                f"{counts['tokens']:,}",
                f"{counts['vocabulary']:,}",
                f"{counts['classes']:,}",
                f"{counts['entities_per_document']:.2f}",
                f"{counts['seen']:,}",
                f"{counts['unseen']:,}",
            )
        )
    header = (
        *("Split", "Documents", "Tokens", "Vocabulary", "Classes"),
        *("Entities/doc", "Seen", "Unseen"),
    )
    aligns = tuple("lrrrrrrr")
    msg.table(rows, header=header, aligns=aligns, divider=True, spacing=2)


def _print_sentence(path: Path) -> None:
    """Show a sentence as it was understood."""
    from spacy.vocab import Vocab
    from wasabi import msg

    from ..controls import show_controls
    from ..corpora.docbin import read_docs

    first = next(read_docs(path, Vocab()))
    doc = next((doc for doc in read_docs(path, Vocab()) if doc.ents), None)
    if doc is None:
        msg.warn(
            f"No entity in {path}. Its first sentence:",
            show_controls(_show_sentence(first, 0)),
        )
    else:
        text = _show_sentence(doc, doc.ents[0].start)
        msg.info(f"The first sentence with an entity in {path}:", show_controls(text))


def _show_sentence(doc: "Doc", place: int) -> str:
    """Write the sentence that a token stands in, with entities in brackets."""
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
    return before + " ".join(words) + (" …" if end < sentence.end else "")


def _name_label(label: str, value: float) -> str:
    """Name a label that a text has, with the number if it is a part of one."""
    name = label[:_N_SHOWN]
    return name if value == 1 else f"{name} {value:.2f}"
