"""What is recommended beside the embedder, put into a config."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from spacy.language import DEFAULT_CONFIG, DEFAULT_CONFIG_PRETRAIN_PATH
from spacy.util import is_package, load_config

from ..analysis.recommendation import (
    AVERAGES,
    CALIBRATION,
    PRETRAINING,
    TOKEN_NER,
    VECTORS,
)
from ..symbols import Counts, SymbolTables, cut_symbols
from .counting import get_name
from .draft import Draft
from .embedders import Tables

_OPTIMIZER = "training.optimizer"
#: Those that can average weights.
_AVERAGING = ("Adam.v1", "RAdam.v1", "SGD.v1", "spacy-hashembeds.Adam.v1")
#: The most: what is held out ends it when nothing more is learned.
_EPOCHS = 100
_OBJECTIVE = "spacy-hashembeds.PretrainShuffleRandom.v1"
_BEFORE_SAVING = "training.before_to_disk"
_PRETRAIN_CORPUS = "corpora.pretrain"
_CALIBRATE = "spacy-hashembeds.calibrate_ner.v1"
_CLASSIFIER = "spacy-hashembeds.TokenClassifier.v1"
_READER = "spacy-hashembeds.RawTexts.v1"
#: Where the command that pretrains writes what training begins with.
WEIGHTS = "pretrained/model-last.bin"

_PARSER = "spacy.TransitionBasedParser."


def put_in_averages(draft: Draft) -> None:
    """Have averaged weights evaluated and saved."""
    raw = draft.get(_OPTIMIZER) or {"@optimizers": "Adam.v1"}
    name = raw.get("@optimizers") if isinstance(raw, dict) else raw
    if name in _AVERAGING:
        block = {**raw, "use_averages": True}
        draft.replace(_OPTIMIZER, block, {"use_averages": AVERAGES})
    else:
        draft.warnings.append(
            f"[{_OPTIMIZER}] stays as it is, {name}: set use_averages = true "
            "there, if it has that."
        )


def put_in_token_ner(draft: Draft) -> None:
    """Put `token_ner` in the place of spaCy's `ner`, and have its scores calibrated."""
    components = draft.resolve("components")
    for name, component in components.items():
        model = component.get("model", {})
        is_ner = component.get("factory") == "ner" and name not in draft.left
        if is_ner and model.get("@architectures", "").startswith(_PARSER):
            _replace_ner(draft, name, model["tok2vec"])
    components = draft.resolve("components")
    if any(
        component.get("factory") == "token_ner" for component in components.values()
    ):
        _put_in_calibration(draft)


def _replace_ner(draft: Draft, name: str, tok2vec: Any) -> None:
    """Replace one `ner`, unless something is there that is for that alone."""
    place = f"components.{name}"
    raw, before = draft.get(place), draft.config.copy()
    if isinstance(raw["model"], dict):
        tok2vec = raw["model"]["tok2vec"]  # with variables
    model = {"@architectures": _CLASSIFIER, "tok2vec": tok2vec}
    block = {"factory": "token_ner", "spans_key": "ents", "model": model}
    block |= {"scorer": raw["scorer"]} if "scorer" in raw else {}
    for_ner_alone = (f"initialize.components.{name}", f"{place}.incorrect_spans_key")
    reason = next((each for each in for_ner_alone if draft.resolve(each)), None)
    draft.config["components"][name] = block
    try:
        draft.config.interpolate()
    except ValueError:
        reason = f"a variable for something in [{place}]"
    draft.config = before
    if reason is None:
        draft.replace(place, block, {"factory": TOKEN_NER})
    else:
        draft.warnings.append(f"[{place}] stays spaCy's, for which {reason} is.")


def _put_in_calibration(draft: Draft) -> None:
    """Have scores of entities calibrated, unless another callback is there."""
    there = draft.resolve(_BEFORE_SAVING)
    if there and get_name(there) != _CALIBRATE:
        draft.warnings.append(
            f"[{_BEFORE_SAVING}] stays as it is, {get_name(there)}. It holds one "
            f"callback, so that {_CALIBRATE} is not put in: entities will seem surer "
            "than they are."
        )
    elif not there:
        has_corpus = "dev_corpus" in (draft.get("training") or {})
        corpus = "${training.dev_corpus}" if has_corpus else "corpora.dev"
        block = {"@callbacks": _CALIBRATE, "corpus": corpus}
        draft.replace(_BEFORE_SAVING, block, {None: CALIBRATION})


def put_in_vectors(draft: Draft, vectors: str, places: Iterable[str]) -> None:
    """Name word vectors, and have embedders mix them in."""
    if not (Path(vectors).is_dir() or is_package(vectors)):
        raise FileNotFoundError(
            f"There are no vectors '{vectors}'. Name a folder that `spacy init "
            "vectors` made, or an installed pipeline with vectors."
        )
    _name_file(draft, "vectors", vectors, "Those that --vectors names.")
    for place in places:
        draft.set(place, "include_static_vectors", True, VECTORS)


def put_in_pretraining(draft: Draft, raw: str, places: Iterable[str]) -> None:
    """Have `spacy pretrain` train an embedder's tok2vec, and training begin with it."""
    _fill_in(draft)
    place, *others = places
    _, component, _, *layer = place.split(".")[:-1]
    if others or len(layer) > 1:
        raise ValueError(
            "--raw pretrains one tok2vec, which is a component or a layer 'tok2vec' of "
            f"one, but embedders stand in {', '.join([place, *others])}."
        )
    draft.set("paths", "raw_text", raw, "The texts that --raw names.")
    reader = {"@readers": _READER, "path": "${paths.raw_text}"}
    draft.replace(_PRETRAIN_CORPUS, reader, {None: "Read by `spacy pretrain`."})
    block = load_config(DEFAULT_CONFIG_PRETRAIN_PATH)["pretraining"]
    block |= {"component": component, "layer": ".".join(layer), "dropout": 0.1}
    block |= {"max_epochs": _EPOCHS, "n_save_epoch": _EPOCHS}
    block["objective"] = {"@architectures": _OBJECTIVE}
    block["batcher"]["size"] = 1500
    block["optimizer"]["learn_rate"] = 0.003
    draft.replace("pretraining", block, {None: PRETRAINING})
    _name_file(
        draft, "init_tok2vec", WEIGHTS, "What `spacy pretrain` will have learned."
    )


def put_in_symbols(
    draft: Draft, tables: Sequence[Tables], counts: Counts, path: str | Path
) -> SymbolTables:
    """Choose the symbols of the texts to pretrain on, and name the file for them.

    The lowest `min_freq` is taken with no more rows than stood there before. `spacy
    train` need not count the texts then, nor keep the strings of all their words.
    """
    (each,) = tables
    most = sum(each.rows)
    seen = sorted((n for of in counts.values() for n in of.values()), reverse=True)
    min_freq = max([2, *(n + 1 for n in seen[most : most + 1])])
    n_symbols = sum(n >= min_freq for n in seen)
    why = (
        f"The {n_symbols:,} symbols that are there {min_freq} times or more in the "
        f"texts of --raw: no more than the {most:,} rows of the tables that stood here."
    )
    draft.set(each.place, "tables", str(path), why)
    return cut_symbols(counts, min_freq=min_freq, lang=draft.resolve("nlp.lang"))


def _name_file(draft: Draft, key: str, path: str, why: str) -> None:
    """Name a file in [initialize], or in [paths] if that is what it points to."""
    is_variable = (draft.get("initialize") or {}).get(key) == f"${{paths.{key}}}"
    section = "paths" if is_variable else "initialize"
    draft.set(section, key, path, why)


def _fill_in(draft: Draft) -> None:
    """Write out spaCy's defaults: `spacy pretrain` fills in none."""
    default = DEFAULT_CONFIG.interpolate()
    for section in ("nlp", "initialize"):
        known = draft.get(section) or {}
        missing = sorted(default[section].keys() - known.keys())
        block = {key: default[section][key] for key in missing}
        why = "This and what follows are spaCy's: `spacy pretrain` does not fill it in."
        draft.replace(section, {**known, **block}, dict.fromkeys(missing[:1], why))
