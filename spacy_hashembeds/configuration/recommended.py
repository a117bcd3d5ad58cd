"""What is recommended beside the embedder, put into a config."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spacy.language import DEFAULT_CONFIG, DEFAULT_CONFIG_PRETRAIN_PATH
from spacy.util import is_package, load_config

from ..analysis.recommendation import AVERAGES, PRETRAINING, TOKEN_NER, VECTORS
from .counting import PRETRAIN_CORPUS
from .draft import Draft

_OPTIMIZER = "training.optimizer"
#: Those that can average weights.
_AVERAGING = ("Adam.v1", "RAdam.v1", "SGD.v1", "spacy-hashembeds.Adam.v1")
#: The most: what is held out ends it when nothing more is learned.
_EPOCHS = 20
_OBJECTIVE = "spacy-hashembeds.PretrainShuffleRandom.v1"
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
    """Put `token_ner` in the place of spaCy's `ner`, with the tok2vec that this has."""
    for name, component in draft.resolve("components").items():
        place = f"components.{name}"
        raw, model = draft.get(place), component.get("model", {})
        is_ner = component.get("factory") == "ner" and name not in draft.left
        if not is_ner or not model.get("@architectures", "").startswith(_PARSER):
            continue
        if draft.resolve(f"initialize.components.{name}"):
            draft.warnings.append(
                f"[{place}] stays spaCy's: [initialize.components.{name}] is for that."
            )
            continue
        block: dict[str, Any] = {"factory": "token_ner", "spans_key": "ents"}
        block |= {key: raw[key] for key in ("scorer",) if key in raw}
        block["model"] = {
            "@architectures": "spacy-hashembeds.TokenClassifier.v1",
            "tok2vec": raw["model"]["tok2vec"],
        }
        draft.replace(place, block, {"factory": TOKEN_NER})


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
    draft.replace(PRETRAIN_CORPUS, reader, {None: "Read by `spacy pretrain`."})
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
