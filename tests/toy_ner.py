"""A small entity corpus, copies of it as in the report, and pipelines for it."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.pipeline import EntityRuler
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

SCORER = "spacy-hashembeds.seen_unseen_ner_scorer.v1"

# Entities as word|TYPE, with + between words.
TRAIN = (
    "Anna|PER lives in Paris|LOC today",
    "Ben|PER works in Rome|LOC today",
    "Carl+Brown|PER lives in New+York|LOC",
    "Rome|LOC is far from Paris|LOC",
    "we met Anna|PER and Ben|PER in Rome|LOC",
    "Paris|LOC",
    "nobody lives there today",
)
TEST = (
    "Anna|PER lives in Lisbon|LOC today",
    "Dora|PER works in Rome|LOC today",
    "Carl+Brown|PER lives in New+Orleans|LOC",
    "paris|LOC is far from Paris|LOC",
    "we met Emil|PER Ben|PER Dora+Brown|PER in Oslo|LOC",
    "Rome|LOC",
    "Oslo|LOC",
    "Bergen lives in silence today",
)


def make_doc(text: str, *, spaces: bool = True, vocab: Vocab | None = None) -> Doc:
    """Make a gold doc. Spaces can be unknown, as in files of `convert`."""
    words: list[str] = []
    tags: list[str] = []
    for chunk in text.split():
        name, _, label = chunk.partition("|")
        parts = name.split("+")
        words += parts
        tags += (
            ["O"] if not label else [f"B-{label}"] + [f"I-{label}"] * (len(parts) - 1)
        )
    known = [True] * len(words) if spaces else None
    return Doc(vocab or Vocab(), words=words, spaces=known, ents=tags)


def make_test_docs() -> list[Doc]:
    """Make the test corpus, with all special cases of spaCy's scorer."""
    docs = [make_doc(text) for text in TEST]
    docs += [make_doc(text, spaces=False) for text in TEST[:3]]
    # Annotation is missing on an entity-like word, and on a whole doc.
    partly = make_doc("Anna lives in Oslo|LOC")
    partly.set_ents([], missing=[partly[0:1]], default="unmodified")
    docs += [partly, Doc(Vocab(), words=["Anna", "lives", "in", "Rome"])]
    # The tokenizer splits these texts differently.
    for words, tags in (
        (["Anna", "lives", "in", "Rome."], ["B-PER", "O", "O", "B-LOC"]),
        (["Do", "ra", "'s", "Rome"], ["B-PER", "I-PER", "O", "B-LOC"]),
    ):
        glued = [word not in ("Do", "ra", "Rome.") for word in words]
        docs.append(Doc(Vocab(), words=words, spaces=glued, ents=tags))
    return docs


def write(path: Path, docs: Iterable[Doc]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=docs).to_disk(path)
    return path


def write_train(path: Path) -> Path:
    return write(path, [make_doc(text) for text in TRAIN])


def read(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def hide(doc: Doc, train_texts: Collection[str], *, seen: bool) -> Doc:
    """Mark seen or unseen gold entities as missing, as in the report's copies."""
    hidden = [ent for ent in doc.ents if (ent.text in train_texts) is seen]
    doc = doc.copy()
    spans = [doc[ent.start : ent.end] for ent in hidden]
    doc.set_ents([], missing=spans, default="unmodified")
    return doc


def without_support(scores: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return the scores with a prefix under spaCy's keys."""
    result = {f"ents_{key}": scores[f"{prefix}_{key}"] for key in "prf"}
    per_type = scores[f"{prefix}_per_type"]
    result["ents_per_type"] = per_type and {
        label: {key: score[key] for key in "prf"} for label, score in per_type.items()
    }
    return result


def scorer_config(train: Path | str | None) -> dict[str, Any]:
    return {"@scorers": SCORER, "train": None if train is None else str(train)}


def make_ruler(patterns: dict[str, str], train: Path | None) -> Language:
    """Make a pipeline that predicts these types for these texts."""
    nlp = spacy.blank("en")
    config = {"scorer": scorer_config(train)}
    ruler = nlp.add_pipe("entity_ruler", config=config)
    ruler.add_patterns([{"label": v, "pattern": k} for k, v in patterns.items()])
    return nlp


def record_calls(monkeypatch) -> list[tuple[str, Doc]]:
    """Record the docs that entity rulers annotate, with the rulers' names."""
    calls = []
    annotate = EntityRuler.__call__

    def annotate_and_note(self, doc: Doc) -> Doc:
        calls.append((self.name, doc))
        return annotate(self, doc)

    monkeypatch.setattr(EntityRuler, "__call__", annotate_and_note)
    return calls
