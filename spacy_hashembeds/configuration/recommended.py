"""Recommended settings beside the embedder, put into a config."""

from collections.abc import Collection, Iterable
from pathlib import Path
from textwrap import shorten
from typing import Any

from confection import VARIABLE_RE
from spacy.util import is_package, walk_dict
from spacy.vocab import Vocab

from ..analysis.recommendation import (
    AVERAGES,
    CALIBRATION,
    JOINED,
    SUBWORD_BLOCK,
    SUBWORDS,
    TOKEN_NER,
    VECTORS,
)
from ..corpora.joined import LENGTHS, READER
from .base import find_config
from .draft import Draft, get_name
from .embedders import Tables
from .surroundings import FACTORIES

_OPTIMIZER = "training.optimizer"
#: Those that can average weights.
_AVERAGING = ("Adam.v1", "RAdam.v1", "SGD.v1", "spacy-hashembeds.Adam.v1")
_TRAIN = "corpora.train"
_CORPUS = "spacy.Corpus.v1"
_BEFORE_SAVING = "training.before_to_disk"
_CALIBRATE = "spacy-hashembeds.calibrate_ner.v1"
_CLASSIFIER = "spacy-hashembeds.TokenClassifier.v1"
_PARSER = "spacy.TransitionBasedParser."
_LISTENER = "spacy.Tok2VecListener."


def put_in_averages(draft: Draft) -> None:
    """Have averaged weights evaluated and saved."""
    raw = draft.get(_OPTIMIZER) or {"@optimizers": "Adam.v1"}
    name = get_name(raw, "@optimizers")
    if name in _AVERAGING:
        block = {**raw, "use_averages": True}
        draft.replace(_OPTIMIZER, block, {"use_averages": AVERAGES})
    else:
        draft.warnings.append(
            f"[{_OPTIMIZER}] stays as it is, {name}: set use_averages = true "
            "there, if it has that."
        )


def put_in_joined(draft: Draft) -> None:
    """Have sentences joined in training, and texts cut, where entities are learned."""
    names = draft.resolve("components").keys() - draft.left.keys()
    factories = {draft.resolve(f"components.{name}.factory") for name in names}
    place = draft.resolve("training.train_corpus") or _TRAIN
    raw = draft.get(place)
    if raw is None and place == _TRAIN and "train" in (draft.get("paths") or {}):
        raw = {"@readers": _CORPUS, "path": "${paths.train}"}
    if not factories.intersection(FACTORIES) or raw is None:
        return
    name = get_name(raw, "@readers")
    if name == _CORPUS:
        block = {**raw, "@readers": READER, "lengths": [*LENGTHS]}
        has_seed = draft.resolve("training.seed") is not None
        block["seed"] = "${training.seed}" if has_seed else 0
        draft.replace(place, block, {"@readers": JOINED})
    elif name != READER:
        draft.warnings.append(
            f"[{place}] stays as it is, {name}. Write .spacy files (`spacy hashembeds "
            f"prepare`, `spacy convert`) to have {READER} join their sentences."
        )


def put_in_token_ner(draft: Draft, places: Collection[str]) -> None:
    """Put `token_ner` in the place of spaCy's `ner`, and have its scores calibrated.

    places: Those of embedders. What reads nothing of them, such as transformers, stays.
    """
    components = draft.resolve("components")
    for name, component in components.items():
        model = component.get("model") or {}
        is_ner = component.get("factory") == "ner" and name not in draft.left
        if is_ner and get_name(model, "@architectures").startswith(_PARSER):
            tok2vec = model["tok2vec"]
            listens = get_name(tok2vec, "@architectures").startswith(_LISTENER)
            if listens or any(p.startswith(f"components.{name}.") for p in places):
                _replace_ner(draft, name, tok2vec)
    if "token_ner" in _find_factories(draft):
        _put_in_calibration(draft)


def _find_factories(draft: Draft) -> set[str | None]:
    """Find the factories of the components that annotate."""
    nlp, components = draft.resolve("nlp"), draft.resolve("components")
    active = set(nlp.get("pipeline", [])) - set(nlp.get("disabled", []))
    return {components[n].get("factory") for n in active & components.keys()}


def _replace_ner(draft: Draft, name: str, tok2vec: Any) -> None:
    """Replace one `ner`, unless something is there that is for that alone."""
    place = f"components.{name}"
    reason = _find_reason_to_stay(draft, place)
    if reason is not None:
        draft.warnings.append(f"[{place}] stays spaCy's, for which {reason} is.")
        return
    components = draft.resolve("components").values()
    is_taken = any(other.get("spans_key") == "ents" for other in components)
    raw = draft.get(place)
    if isinstance(raw["model"], dict):
        tok2vec = raw["model"]["tok2vec"]  # with variables
    model = {"@architectures": _CLASSIFIER, "tok2vec": tok2vec}
    block = {"factory": "token_ner", "spans_key": name if is_taken else "ents"}
    block |= {"scorer": raw["scorer"]} if "scorer" in raw else {}
    draft.replace(place, {**block, "model": model}, {"factory": TOKEN_NER})


def _find_reason_to_stay(draft: Draft, place: str) -> str | None:
    """Find what only spaCy's `ner` would understand."""
    name = place.partition(".")[2]
    for each in (f"initialize.components.{name}", f"{place}.incorrect_spans_key"):
        if draft.resolve(each):
            return f"[{each}]"
    weights = draft.get_initialize("init_tok2vec")
    # those of its layer "tok2vec" have a projection that `token_ner` has not
    if weights and draft.resolve("pretraining.component") == name:
        return f"'{weights}', with which it begins,"
    for keys, value in walk_dict(draft.config):
        inside = ".".join(keys).startswith(f"{place}.")
        for target in _find_targets(value) if not inside else ():
            is_kept = target.startswith(f"{place}.model.tok2vec")
            if f"{target}.".startswith(f"{place}.") and not is_kept:
                return f"the variable {value} in [{'.'.join(keys[:-1])}]"
    return None


def _find_targets(value: Any) -> list[str]:
    """Find what the variables in a value stand for."""
    found = VARIABLE_RE.findall(value) if isinstance(value, str) else []
    return [variable[2:-1].replace(":", ".") for variable in found]


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
        block = {"@callbacks": _CALIBRATE, "corpus": corpus, "balance": True}
        draft.replace(_BEFORE_SAVING, block, {None: CALIBRATION})


def put_in_subwords(draft: Draft, tables: Iterable[Tables]) -> None:
    """Have embedders embed character n-grams too, unless they begin with weights."""
    for each in tables:
        if not each.is_pretrained and not draft.resolve(f"{each.place}.subwords"):
            draft.set(each.place, "subwords", SUBWORD_BLOCK, SUBWORDS)


def put_in_vectors(draft: Draft, vectors: str, tables: Iterable[Tables]) -> None:
    """Name word vectors, and have embedders mix them in."""
    _check_vectors(vectors)
    places = [each.place for each in tables if not each.is_pretrained]
    if not places:
        weights = draft.get_initialize("init_tok2vec")
        raise ValueError(
            f"--vectors can't be mixed in: '{weights}', with which training begins, "
            "was trained without. Set [initialize] init_tok2vec to null, or "
            "pretrain anew (--raw)."
        )
    draft.set_initialize("vectors", vectors, "Those that --vectors names.")
    for place in places:
        draft.set(place, "include_static_vectors", True, VECTORS)


def _check_vectors(vectors: str) -> None:
    remedy = (
        "Name a folder that `spacy init vectors` made, or an installed pipeline with "
        "vectors."
    )
    if not (Path(vectors).is_dir() or is_package(vectors)):
        raise FileNotFoundError(f"There are no vectors '{vectors}'. {remedy}")
    try:
        folder = find_config(vectors).parent  # the pipeline in it need not be loaded
        vocab = Vocab().from_disk(folder / "vocab", exclude=["lookups"])
    except Exception as error:  # damaged bytes fail in many ways
        raise ValueError(
            f"'{vectors}' should hold vectors, but can't be loaded "
            f"({shorten(str(error), 200)}). {remedy}"
        ) from error
    if not len(vocab.vectors):
        raise ValueError(f"'{vectors}' should hold vectors, but has none. {remedy}")
