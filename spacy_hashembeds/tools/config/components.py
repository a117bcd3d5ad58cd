"""Recognizers of entities, their scorer and word vectors, put into a config."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from confection import VARIABLE_RE
from spacy.util import walk_dict
from spacy.vocab import Vocab

from . import presets
from .base_config import find_config
from .edits import Edits, find_name


def put_in_token_ner(edits: Edits, places: Collection[str]) -> None:
    """Put `token_ner` in the place of spaCy's `ner`, and have its scores calibrated.

    places: Those of embedders. What reads nothing of them, such as transformers, stays.
    """
    edits.plain = edits.config.interpolate()
    for name in edits.find_learning("ner"):
        model = edits.resolve(f"components.{name}.model") or {}
        if not str(find_name(model)).startswith("spacy.TransitionBasedParser."):
            continue
        tok2vec = model["tok2vec"]
        listens = str(find_name(tok2vec)).startswith("spacy.Tok2VecListener.")
        if listens or any(p.startswith(f"components.{name}.") for p in places):
            _replace_ner(edits, name, tok2vec)
    edits.plain = edits.config.interpolate()
    nlp, components = edits.plain["nlp"], edits.plain["components"]
    active = {*nlp.get("pipeline", [])} - {*nlp.get("disabled", [])}
    factories = {components[n].get("factory") for n in active & components.keys()}
    if "token_ner" in factories:
        edits.put_in(presets.CALIBRATION)


def _replace_ner(edits: Edits, name: str, tok2vec: Any) -> None:
    """Replace one `ner`, unless something is there that is for that alone."""
    place = f"components.{name}"
    if reason := _find_reason_to_stay(edits, name):
        edits.warnings.append(f"[{place}] stays spaCy's, for which {reason} is.")
        return
    components = edits.config.interpolate()["components"].values()
    is_taken = any(other.get("spans_key") == "ents" for other in components)
    old = edits.get(place)
    if isinstance(old["model"], dict):
        tok2vec = old["model"]["tok2vec"]  # with variables
    block = {"factory": "token_ner", "spans_key": name if is_taken else "ents"}
    block |= {"scorer": old["scorer"]} if "scorer" in old else {}
    model = {"@architectures": presets.TOKEN_CLASSIFIER, "tok2vec": tok2vec}
    edits.put(place, {**block, "model": model}, {"factory": presets.TOKEN_NER})


def _find_reason_to_stay(edits: Edits, name: str) -> str | None:
    """Find what only spaCy's `ner` would understand."""
    place = f"components.{name}"
    for each in (f"initialize.{place}", f"{place}.incorrect_spans_key"):
        if edits.resolve(each):
            return f"[{each}]"
    weights = edits.get_initialize("init_tok2vec")
    # those of its layer "tok2vec" have a projection that `token_ner` has not
    if weights and edits.resolve("pretraining.component") == name:
        return f"'{weights}', with which it begins,"
    for keys, value in walk_dict(edits.config):
        inside = ".".join(keys).startswith(f"{place}.")
        variables = VARIABLE_RE.findall(value) if isinstance(value, str) else []
        for variable in variables if not inside else ():
            target = variable[2:-1].replace(":", ".")
            is_kept = target.startswith(f"{place}.model.tok2vec")
            if f"{target}.".startswith(f"{place}.") and not is_kept:
                return f"the variable {value} in [{'.'.join(keys[:-1])}]"
    return None


def put_in_vectors(
    edits: Edits, vectors: str | Path | None, places: Collection[str]
) -> None:
    """Name word vectors, and have embedders without weights mix them in."""
    if vectors is None:
        return
    try:
        folder = find_config(vectors).parent  # the pipeline in it need not be loaded
        vocab = Vocab().from_disk(folder / "vocab", exclude=["lookups"])
        reason = "" if len(vocab.vectors) else "there are none"
    except Exception as error:  # damaged bytes fail in many ways
        reason = str(error)[:300]
    if reason:
        raise ValueError(
            f"'{vectors}' should hold vectors, but can't be used: {reason} Name a "
            "folder by `spacy init vectors`, or a pipeline with vectors."
        )
    if not places:
        raise ValueError(
            "--vectors can't be mixed in: the weights with which training begins were "
            "trained without. Set [initialize] init_tok2vec to null, or pretrain anew "
            "(--raw)."
        )
    why = "Those that --vectors names."
    edits.set_initialize("vectors", str(vectors), why)
    for place in places:
        edits.set(place, "include_static_vectors", True, presets.VECTORS)


def warn_of_vectors(edits: Edits, places: Collection[str]) -> None:
    """Warn of embedders that shall mix in vectors where the config names none."""
    if edits.get_initialize("vectors"):
        return
    waiting = [p for p in places if edits.resolve(p).get("include_static_vectors")]
    edits.warnings += [
        f"[{place}] include_static_vectors is true, but [initialize] vectors names "
        "none, and without them training stops. Name some (--paths.vectors), or set "
        "include_static_vectors to false."
        for place in waiting
    ]
    edits.needs_vectors = bool(waiting)


def put_in_scorer(edits: Edits, train: str | Path | None) -> None:
    """Score seen and unseen entities apart, and select checkpoints by both F-scores."""
    edits.plain = edits.config.interpolate()
    components = edits.plain["components"]
    names = [
        name
        for name, component in components.items()
        if component.get("factory") in presets.RECOGNIZERS
        and isinstance(edits.config["components"][name], dict)
    ]
    if not names:
        raise ValueError(
            "--scorer scores entities, but no component has the factory 'ner', "
            f"'beam_ner' or 'token_ner' (there are: {', '.join(components)}). Leave "
            "out --scorer."
        )
    block = {**presets.SCORER, "train": _find_train(edits, train)}
    for name in names:
        why = {"@scorers": presets.WHY_SCORER}
        edits.put(f"components.{name}.scorer", block, why)
    weights = edits.get_block("training.score_weights")
    plain = edits.resolve("training.score_weights") or {}
    if "ents_unseen_f" not in plain:
        # what is not there gets spaCy's weight
        weight = plain.get("ents_f", 1.0)
        half = round((weight or 0.0) / 2, 4)
        new = {"ents_f": half if weight else weight, "ents_seen_f": 0.0}
        new = {**weights, **new, "ents_unseen_f": half}
        edits.put("training.score_weights", new, {"ents_f": presets.WHY_WEIGHTS})


def _find_train(edits: Edits, train: str | Path | None) -> str:
    """Find where the config says what the training corpus is, or else name `train`."""
    for section, key in (("paths", "train"), ("corpora.train", "path")):
        known = edits.get(section)
        if isinstance(known, dict) and key in known:
            return f"${{{section}.{key}}}"
    # no variable can reach into a section that is one itself
    path = train or edits.resolve("corpora.train.path")
    if path is None:
        raise ValueError(
            "--scorer needs the training corpus, but the config has neither 'train' in "
            "[paths] nor 'path' in [corpora.train]. Name it with --train."
        )
    return str(path)
