"""Pretraining sections for `spacy pretrain`, put into a config."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from spacy.language import DEFAULT_CONFIG, DEFAULT_CONFIG_PRETRAIN_PATH
from spacy.util import load_config

from ..analysis.recommendation import PRETRAINING
from ..symbols import Counts, SymbolTables, cut_symbols
from .draft import Draft, get_name
from .embedders import Tables

#: The most: what is held out ends it when nothing more is learned.
_EPOCHS = 100
_CORPUS = "corpora.pretrain"
_READER = "spacy-hashembeds.RawTexts.v1"
_OBJECTIVE = "spacy-hashembeds.PretrainShuffleRandom.v1"


def name_weights(output: str | Path) -> Path:
    """Name the file with the weights for a config: `spacy pretrain` writes it."""
    return Path("pretrained", Path(output).stem, "model-last.bin")


def name_symbols(output: str | Path) -> Path:
    """Name the file with the symbols for a config: what stands beside it."""
    return Path(output).with_suffix(".npz")


def put_in_pretraining(
    draft: Draft, raw: str, places: Iterable[str], weights: Path
) -> None:
    """Have `spacy pretrain` train an embedder's tok2vec, and training begin with it."""
    _fill_in(draft)
    place, *others = places
    _, component, _, *layer = [part for part in place.split(".") if part != "embed"]
    if others or len(layer) > 1:
        raise ValueError(
            "--raw pretrains one tok2vec, which is a component or a layer 'tok2vec' of "
            f"one, but embedders stand in {', '.join([place, *others])}."
        )
    draft.set("paths", "raw_text", raw, "The texts that --raw names.")
    reader = {"@readers": _READER, "path": "${paths.raw_text}"}
    known = draft.get(_CORPUS) or {}
    if known.get("@readers") == _READER:
        reader = {**known, **reader}
    draft.replace(_CORPUS, reader, {None: "Read by `spacy pretrain`."})
    known = draft.get("pretraining") or {}
    if get_name(known.get("objective"), "@architectures") != _OBJECTIVE:
        known = load_config(DEFAULT_CONFIG_PRETRAIN_PATH)["pretraining"]
        known |= {"dropout": 0.1, "max_epochs": _EPOCHS, "n_save_epoch": _EPOCHS}
        known["objective"] = {"@architectures": _OBJECTIVE}
        known["batcher"]["size"] = 1500
        known["optimizer"]["learn_rate"] = 0.003
    block = {**known, "component": component, "layer": ".".join(layer)}
    draft.replace("pretraining", block, {None: PRETRAINING})
    why = "What `spacy pretrain` will have learned."
    draft.set_initialize("init_tok2vec", str(weights), why)


def put_in_symbols(
    draft: Draft, tables: Tables, counts: Counts, path: Path
) -> SymbolTables:
    """Choose the symbols of the texts to pretrain on, and name the file for them.

    The lowest `min_freq` is taken with no more rows than stood there before. `spacy
    train` need not count the texts then, nor keep the strings of all their words.
    """
    most = sum(tables.rows)
    seen = -np.sort(-np.concatenate([each.get_counts()[1] for each in counts.values()]))
    min_freq = int(max([2, *(seen[most : most + 1] + 1)]))
    n_symbols = (seen >= min_freq).sum()
    why = (
        f"The {n_symbols:,} symbols that are there {min_freq} times or more in the "
        f"texts of --raw: no more than {most:,}, the rows that stood here, or spaCy's."
    )
    draft.set(tables.place, "tables", str(path), why)
    return cut_symbols(counts, min_freq=min_freq, lang=draft.resolve("nlp.lang"))


def _fill_in(draft: Draft) -> None:
    """Write out spaCy's defaults: `spacy pretrain` fills in none."""
    default = DEFAULT_CONFIG.interpolate()
    if "vectors" in (draft.get("paths") or {}):
        default["initialize"]["vectors"] = "${paths.vectors}"
    default["training"] = {"optimizer": {"@optimizers": "Adam.v1"}}
    for section in ("nlp", "initialize", "training"):
        known = draft.get(section) or {}
        missing = sorted(default[section].keys() - known.keys())
        block = {key: default[section][key] for key in missing}
        why = "This and what follows are spaCy's: `spacy pretrain` does not fill it in."
        draft.replace(section, {**known, **block}, dict.fromkeys(missing[:1], why))
