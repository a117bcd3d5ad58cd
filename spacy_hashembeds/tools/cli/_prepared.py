"""Summary that `spacy hashembeds prepare` shows of what it has written."""

from collections import Counter
from functools import partial
from itertools import chain
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab
from wasabi import msg

from ...training.docbin import read_docs
from ...training.joined import get_document, is_sentence
from ..display import Table, show
from ..prepare.labelled import has_one_label
from ._output import show_split

#: The most labels that are shown, and characters of each.
_N_SHOWN = 30

#: The tokens of a split that is hardly a single sentence, or document.
_MANY_TOKENS = 500


#: Show how many documents of a split have been converted.
show_documents = partial(show_split, "Converting")


def show_prepared(paths: dict[str, Path]) -> str | None:
    """Count what was written, and show some of it: a wrong column is seen at once.
    Return the component of spaCy that can learn it, or None if none can.
    """
    labels: dict[str, Counter[str]] = {split: Counter() for split in paths}
    sizes: dict[str, Counter[str]] = {split: Counter() for split in paths}
    shown: Doc | None = None
    for split, path in paths.items():
        docs = read_docs(path, Vocab())
        for doc in show_split("Counting", docs, split):
            # of what is neither 1 nor 0, a half or more
            labels[split].update({name: x >= 0.5 for name, x in doc.cats.items()})
            labels[split].update(ent.label_ for ent in doc.ents)
            sizes[split].update(_measure(doc))
            if shown is None or not (shown.cats or shown.ents):
                shown = doc
    assert shown is not None  # no split is empty
    names = sorted(set(chain(*labels.values())))
    rows = [(x[:_N_SHOWN], *(labels[s][x] for s in paths)) for x in names[:_N_SHOWN]]
    rows += [(x, *(sizes[s][x] for s in paths)) for x in ("Docs", "Tokens")]
    cells = [(name, *(f"{n:,}" for n in counts)) for name, *counts in rows]
    show([Table(None, None, ("Label", *paths), cells)], msg)
    if len(names) > _N_SHOWN:
        msg.info(f"{len(names) - _N_SHOWN:,} more labels are not shown.")
    msg.info("The first that is annotated:", _write(shown))
    if shown.cats:
        return _choose_classifier(names, labels["train"], sizes)
    _warn(shown, labels["train"], sizes)
    return "ner"


def _measure(doc: Doc) -> dict[str, int]:
    # not `is_space`, which a vocab without a language does not know
    ends = [(ent[0].orth_, ent[-1].orth_) for ent in doc.ents]
    return {
        "Docs": 1,
        "Tokens": len(doc),
        "of one label": has_one_label(doc.cats),
        "named": get_document(doc) is not None,
        "blank": sum(any(map(str.isspace, pair)) for pair in ends),
    }


def _choose_classifier(
    names: list[str], counts: Counter[str], sizes: dict[str, Counter[str]]
) -> str | None:
    """Choose the classifier for texts, and warn of what can't be learned."""
    alike = [x for x in names if counts[x] in (0, sizes["train"]["Docs"])]
    if alike:
        msg.warn(
            "No text for training has these labels, or each has, so that nothing can "
            "learn them:",
            ", ".join(label[:_N_SHOWN] for label in alike[:_N_SHOWN]),
        )
    if alike == names:
        return None
    is_single = all(n["of one label"] == n["Docs"] for n in sizes.values())
    return "textcat" if is_single and len(names) > 1 else "textcat_multilabel"


def _warn(shown: Doc, labels: Counter[str], sizes: dict[str, Counter[str]]) -> None:
    """Warn of what is hardly meant of entities."""
    if not labels:
        msg.warn("There is no entity in train.")
    if is_sentence(shown) and not any(counts["named"] for counts in sizes.values()):
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


def _write(doc: Doc) -> str:
    """Write the start of a Doc, and its first entities or labels."""
    named = [f"{ent.text[:_N_SHOWN]} {ent.label_[:_N_SHOWN]}" for ent in doc.ents]
    named += [name[:_N_SHOWN] for name, value in doc.cats.items() if value]
    return " ".join(f"{doc.text[:200]} [{', '.join(named[:_N_SHOWN])}]".split())
