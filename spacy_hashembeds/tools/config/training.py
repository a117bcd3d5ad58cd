"""Corpora, counted symbols, and texts to pretrain on."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import DEFAULT_CONFIG_PRETRAIN_PATH, Language
from spacy.tokens import Doc
from spacy.util import load_config, load_model_from_config, set_dot_to_object

from ...files import quote
from ...training.counting import count_values, cut_symbols
from ...training.docbin import read_examples
from ...training.rawtexts import create_raw_texts_reader
from ..analyze.corpus import collect_vocabulary
from ..prepare.labelled import has_one_label
from . import presets
from .edits import Edits, find_name
from .embedders import EXPLAIN_DEFAULT, EXPLAIN_SMALL, Embedder

#: Takes the docs of a corpus, and hands them on.
Progress = Callable[[Iterator[Doc]], Iterable[Doc]]


class Corpus:
    """A training corpus, read once, as far as a config depends on it.

    attrs (Iterable[str]): The attributes of its words in `vocabulary`.
    """

    def __init__(
        self, path: str | Path, nlp: Language, attrs: Iterable[str], progress: Progress
    ) -> None:
        self.path = path
        self.n_docs = 0  #: With more than one token: spaCy says others are a sentence.
        self.n_whole = 0  #: Without sentence boundaries.
        self.n_entities = 0
        self.n_unclear = 0  #: Texts of no label or several.
        self.cats: list[dict[str, float]] = []  #: Up to two that differ.
        docs = progress(self._read(nlp))
        self.vocabulary = collect_vocabulary(docs, [*dict.fromkeys(attrs)])
        if not len(self.vocabulary.words):
            raise ValueError(f"There is not a token in the corpus '{path}'.")

    def _read(self, nlp: Language) -> Iterator[Doc]:
        for example in read_examples(self.path, nlp):
            doc = example.reference
            self.n_docs += len(doc) > 1
            self.n_whole += not doc.has_annotation("SENT_START")
            self.n_entities += len(doc.ents)
            self.n_unclear += not has_one_label(doc.cats)
            if len(self.cats) < 2 and doc.cats not in self.cats:
                self.cats.append(doc.cats)
            yield example.predicted


def read_corpus(
    edits: Edits, path: str | Path, olds: Sequence[Embedder], progress: Progress
) -> Corpus:
    """Read a training corpus, and warn of components that can't learn what it has."""
    attrs = [attr for old in olds for attr in old.tables] or ["NORM"]
    corpus = Corpus(path, make_tokenizer(edits), attrs, progress)
    wrong = {}
    if not corpus.n_entities:
        wrong = dict.fromkeys(edits.find_learning(*presets.RECOGNIZERS), "no entities")
    if len(corpus.cats) == 1:
        what = f"the same labels for all texts ({quote(corpus.cats[0])})"
        wrong |= dict.fromkeys(edits.find_learning(*presets.CLASSIFIERS), what)
    elif corpus.n_unclear:
        what = f"{corpus.n_unclear:,} texts of no label or several (textcat_multilabel)"
        wrong |= dict.fromkeys(edits.find_learning("textcat"), what)
    edits.warnings += [
        f"'{name}' has nothing to learn from '{path}', or can't: it has {what}."
        for name, what in wrong.items()
    ]
    return corpus


def make_tokenizer(edits: Edits) -> Language:
    """Make the pipeline of a config without components."""
    settings = {**edits.resolve("nlp"), "pipeline": [], "disabled": []}
    settings |= {key: None for key in settings if key.endswith("creation")}
    return load_model_from_config({"nlp": settings}, auto_fill=True)


def put_in_joined(edits: Edits, corpus: Corpus | None) -> None:
    """Join sentences in training, and cut texts, where entities are learned."""
    place = edits.resolve("training.train_corpus")
    if not edits.find_learning(*presets.RECOGNIZERS):
        return
    names = ("spacy.Corpus.v1", find_name(presets.JOINED.values))
    is_read = corpus is not None and find_name(edits.resolve(place)) in names
    n_docs, n_whole = (corpus.n_docs, corpus.n_whole) if corpus and is_read else (0, 0)
    said = f"{n_whole:,} of {n_docs:,} Docs of the training corpus with more than one "
    said += "token have no sentence boundaries, and are neither joined nor cut"
    if 0 < n_docs == n_whole:
        edits.notes.append(f"[{place}] stays: {said} (docs/whole-texts.md).")
        return
    edits.put_in(presets.JOINED, place)
    if n_whole:
        edits.warnings.append(
            f"[{place}]: {said}. If each is a sentence, make them with `sent_starts` "
            "(docs/whole-texts.md)."
        )


def find_beside(corpus: str | Path, split: str) -> Path:
    """Find where `spacy hashembeds prepare` writes a split beside a corpus."""
    return Path(corpus).with_name(f"{split}.spacy")


def put_in_paths(edits: Edits, train: str | Path | None) -> None:
    """Name the training corpus in [paths], and the development corpus beside it, if
    none is named or that of another training corpus.
    """
    if train is None or edits.resolve("paths.train") == str(train):
        return
    is_other = edits.resolve("paths.train") is not None
    edits.set("paths", "train", str(train), "The corpus that --train names.")
    dev = find_beside(train, "dev")
    if dev.exists() and (is_other or edits.resolve("paths.dev") is None):
        edits.set("paths", "dev", str(dev), "It stands beside the training corpus.")


def put_in_counting(
    edits: Edits, olds: Sequence[Embedder], corpus: Corpus | None
) -> None:
    """Count the training corpus, if an embedder that was put in needs it."""
    if not olds:
        return
    new = olds[0].new
    preset = presets.SYMBOLS if new.symbol_width else presets.NGRAMS
    there, name = find_name(edits.resolve(preset.section)), find_name(preset.values)
    is_free = re.fullmatch(preset.over, str(there))
    measure = new.symbol_width or _has_ngrams
    if not any(measure(o.block) and not o.block.get("tables") for o in olds):
        if there and is_free:
            edits.set("initialize", "before_init", None, "Nothing needs counting now.")
    elif is_free:
        edits.put_in(preset)
        chosen = max(old.min_freq for old in olds)
        why = EXPLAIN_SMALL if corpus else EXPLAIN_DEFAULT
        if chosen:  # the largest, which gives none of them more rows
            why = "By size, not scores: the lowest with no more rows than stood here."
        if new.symbol_width and (chosen or there != name):
            # of lookup what was measured, of others what the report used
            min_freq = chosen or (2 if new == presets.EMBEDDER else 10)
            edits.set(preset.section, "min_freq", min_freq, why)
    elif not all(old.is_ours for old in olds):  # for which it may count
        raise ValueError(
            f"[initialize] before_init is {there}, so that {name} can't count for "
            f"{new.architecture}. Take it out, or put in multi_fewer_hash_embed "
            "(--embedder), for which nothing is counted."
        )


def _has_ngrams(block: Mapping[str, Any]) -> bool:
    """True if a hasher of an embedder takes only n-grams that were counted."""
    hashers = [h for h in block.get("hashers", {}).values() if isinstance(h, Mapping)]
    lsh = [h for h in hashers if h["@architectures"] == presets.HASHER]
    return any(hasher.get("max_ngrams", 1) is not None for hasher in lsh)


def name_weights(output: str | Path) -> Path:
    """Name the file with the weights for a config: `spacy pretrain` writes it."""
    return Path("pretrained", Path(output).stem, "model-last.bin")


def name_symbols(output: str | Path) -> Path:
    """Name the file with the symbols for a config: what stands beside it."""
    return Path(output).with_suffix(".npz")


def put_in_pretraining(
    edits: Edits,
    raw: str | Path,
    olds: Sequence[Embedder],
    output: str | Path,
    progress: Progress,
) -> None:
    """Put in what `spacy pretrain` needs to train an embedder's tok2vec first."""
    old = olds[0]
    _, component, _, *layer = [p for p in old.place.split(".") if p != "embed"]
    if len(olds) > 1 or len(layer) > 1:
        raise ValueError(
            "--raw pretrains one tok2vec, which is a component or a layer 'tok2vec' of "
            f"one, but embedders stand in {', '.join(each.place for each in olds)}."
        )
    edits.set("paths", "raw_text", str(raw), "The texts that --raw names.")
    edits.put_in(presets.RAW_TEXTS)
    block = edits.get("pretraining") or {}
    if find_name(block.get("objective")) != presets.OBJECTIVE:
        config = load_config(DEFAULT_CONFIG_PRETRAIN_PATH)
        for key, value in presets.PRETRAINING.items():
            set_dot_to_object(config, f"pretraining.{key}", value)
        block = config["pretraining"]
    block = {**block, "component": component, "layer": ".".join(layer)}
    reasons = dict.fromkeys((None, "max_epochs"), presets.WHY_PRETRAINING)
    edits.put("pretraining", block, reasons)
    if old.new.symbol_width:
        _put_in_symbols(edits, old, raw, str(name_symbols(output)), progress)
    why = "What `spacy pretrain` will have learned."
    edits.set_path("init_tok2vec", name_weights(output), why)


def _put_in_symbols(
    edits: Edits, old: Embedder, raw: str | Path, tables: str, progress: Progress
) -> None:
    """Read the symbols of the texts from a file.

    The lowest `min_freq` is taken with no more rows than stood there before. `spacy
    train` need not count the texts then, nor keep the strings of all their words.
    """
    attrs = old.block["attrs"]
    # the norms of raw texts are there, whoever may change them
    if later := [a for a in attrs if a in old.settable and a != "NORM"]:
        raise ValueError(
            f"[{old.place}] embeds {', '.join(later)}, which components ahead of it "
            "may set, but the texts of --raw don't have. Take it out of 'attrs', or "
            "put in multi_fewer_hash_embed (--embedder), which counts nothing."
        )
    examples = create_raw_texts_reader(path=Path(raw))(make_tokenizer(edits))
    counts = count_values(progress(each.predicted for each in examples), attrs)
    most = sum(old.tables.values())
    seen = -np.sort(-np.concatenate([each.get_counts()[1] for each in counts.values()]))
    min_freq = int(max([2, *(seen[most : most + 1] + 1)]))
    why = f"The symbols that are {min_freq} times or more in the texts of --raw."
    old.block["tables"] = tables
    edits.set(old.place, "tables", tables, why)
    lang = edits.resolve("nlp.lang")
    edits.symbols = cut_symbols(counts, min_freq=min_freq, lang=lang)
