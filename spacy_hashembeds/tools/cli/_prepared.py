"""The summary of files that `spacy hashembeds prepare` has written."""

from collections import Counter
from functools import partial
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab
from wasabi import msg

from ...arguments import is_feature
from ...training.docbin import read_docs
from ...training.features import read_stored
from ...training.joined import get_document, is_sentence
from ..display import Table, format_percent, show
from ..prepare.labelled import has_one_label
from ._output import show_split

#: Maximum number of labels shown, and of their characters.
_N_SHOWN = 30

#: A split with a single Doc of more tokens probably lacks sentence boundaries.
_MANY_TOKENS = 500

#: Show progress of converting a split.
show_documents = partial(show_split, "Converting")

#: Counts of each split.
_Counts = dict[str, Counter[str]]


def show_prepared(paths: dict[str, Path]) -> str | None:
    """Show counts and an example. Return the component to train, or None."""
    labels: _Counts = {split: Counter() for split in paths}
    sizes: _Counts = {split: Counter() for split in paths}
    shown: Doc | None = None
    for split, path in paths.items():
        for doc in show_split("Counting", read_docs(path, Vocab()), split):
            labels[split].update({name: int(x) for name, x in doc.cats.items()})
            labels[split].update(ent.label_ for ent in doc.ents)
            sizes[split].update(_measure(doc))
            sizes[split].update(attr for attr, _ in read_stored(doc))
            if shown is None or not (shown.cats or shown.ents):
                shown = doc
    assert shown is not None  # no split is empty
    names = sorted(set[str]().union(*labels.values()))
    rows = [(x[:_N_SHOWN], [labels[s][x] for s in paths]) for x in names[:_N_SHOWN]]
    rows += [(x, [sizes[s][x] for s in paths]) for x in ("Docs", "Tokens")]
    cells = [(name, *(f"{n:,}" for n in counts)) for name, counts in rows]
    for attr in sorted(filter(is_feature, set[str]().union(*sizes.values()))):
        shares = (format_percent(n[attr] / n["Tokens"]) for n in sizes.values())
        cells.append((f"Tokens with {attr}", *shares))
    show([Table(None, None, ("Label", *paths), cells)], msg)
    if len(names) > _N_SHOWN:
        msg.info(f"{len(names) - _N_SHOWN:,} more labels are not shown.")
    named = [f"{ent.text[:_N_SHOWN]} {ent.label_[:_N_SHOWN]}" for ent in shown.ents]
    named += [name[:_N_SHOWN] for name, value in shown.cats.items() if value]
    start = f"{shown.text[:200]} [{', '.join(named[:_N_SHOWN])}]"
    msg.info("First annotated Doc:", " ".join(start.split()))
    if shown.cats:
        return _choose_classifier(names, labels["train"], sizes)
    _warn_of_entities(labels["train"], sizes, is_whole=not is_sentence(shown))
    return "ner"


def _measure(doc: Doc) -> dict[str, int]:
    return {
        **{"Docs": 1, "Tokens": len(doc), "of one label": has_one_label(doc.cats)},
        "named": get_document(doc) is not None,
    }


def _choose_classifier(
    names: list[str], counts: Counter[str], sizes: _Counts
) -> str | None:
    """Choose a text classifier, and warn about labels that can't be learned."""
    constant = [x for x in names if counts[x] in (0, sizes["train"]["Docs"])]
    if constant:
        title = "Can't be learned, since all texts of train have these labels, or none:"
        msg.warn(title, ", ".join(label[:_N_SHOWN] for label in constant[:_N_SHOWN]))
    if constant == names:
        return None
    is_single = all(n["of one label"] == n["Docs"] for n in sizes.values())
    return "textcat" if is_single else "textcat_multilabel"


def _warn_of_entities(labels: Counter[str], sizes: _Counts, *, is_whole: bool) -> None:
    """Warn about probable mistakes in entities and sizes."""
    if not labels:
        msg.warn("There is no entity in train.")
    if not is_whole and not any(n["named"] for n in sizes.values()):
        msg.info(
            "No -DOCSTART- line separates documents, so training joins consecutive "
            "sentences. If they are unrelated, set lengths = [1] in [corpora.train]."
        )
    for split, n in sizes.items():
        if n["Docs"] == 1 and n["Tokens"] > _MANY_TOKENS:
            what = f"All {n['Tokens']:,} tokens of {split} are one document"
            msg.warn(f"{what}. Insert blank lines, or use --sentence-column.")
