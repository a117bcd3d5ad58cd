"""Insert an embedder and related settings into a config."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from ...architectures.descriptions import get_description, get_descriptions
from ...arguments import (
    MAX_DEPTH,
    SPANS,
    check_features,
    check_integers,
    list_extensions,
)
from ...training.readers import JOINED_READER
from . import embedders, presets
from .edits import Edits, find_name
from .embedders import Progress, TrainingCorpus
from .presets import Preset
from .pretraining import insert_counting, insert_pretraining


def configure(
    base: str | Path,
    *,
    embedder: str | None = None,
    train: str | Path | None = None,
    raw: str | Path | None = None,
    output: str | Path = "config.cfg",
    vectors: str | Path | None = None,
    features: Sequence[str] = (),
    depth: int | None = None,
    scorer: bool = False,
    progress: Progress = lambda docs: docs,
) -> Edits:
    """Replace the embedders in any config by ours. The arguments are the options of
    `spacy hashembeds config`.

    output (str | Path): The config to save. Files of symbols and weights are named
        after it.
    progress (Progress): Wraps the iterator over the corpus.
    RETURNS (Edits): The new config, as `config` and `text`, with `changes`, `warnings`
        and `symbols`.
    RAISES (OSError, TypeError, ValueError): If an argument does not fit the config.
    """
    new = presets.EMBEDDER if embedder is None else get_description(embedder)
    features = [*dict.fromkeys(check_features(features=features))]
    edits = Edits(base)
    if raw is not None:  # pretraining replaces existing weights
        edits.config["initialize"]["init_tok2vec"] = None
    embedders.write_out_models(edits)
    existing = embedders.read_embedders(edits, new, features)
    if not existing:
        is_needed = any([embedder, raw, vectors, features])
        _insert_classifiers(edits, is_embedder_needed=is_needed)
    corpus = (
        embedders.read_corpus(edits, train, existing, progress)
        if train and existing
        else None
    )
    places = embedders.insert_embedders(edits, existing, corpus)
    if vectors is not None:
        _insert_vectors(edits, vectors, places)
    _insert_depth(edits, places, depth, is_recommended=embedder is None)
    if embedder is None and existing:
        _insert_recommended(edits, places, corpus)
    _insert_features(edits, features, corpus.stored if corpus else {})
    _insert_paths(edits, train)
    if raw is not None:
        insert_pretraining(edits, raw, existing, output, progress)
    if existing:
        insert_counting(edits, existing, corpus)
    _insert_faster(edits)
    if scorer:
        _insert_scorer(edits)
    edits.write()
    return edits


def _insert_classifiers(edits: Edits, *, is_embedder_needed: bool) -> None:
    """Replace bags of words by our classifier, if no other component is trained."""
    blocks = embedders.find_blocks(edits)
    names = [b["@architectures"] for p, b in blocks.items() if p.count(".") == 2]
    over = presets.CLASSIFIER.replaces
    are_bags = bool(names) and all(re.fullmatch(over, name) for name in names)
    frozen = edits.plain["training"]["frozen_components"]
    if is_embedder_needed or not are_bags or not edits.kept <= {*frozen}:
        ours = (description.architecture for description in get_descriptions())
        known = ", ".join([*embedders.REPLACED, *ours])
        found = "; ".join(f"{p}: {b['@architectures']}" for p, b in blocks.items())
        raise ValueError(
            f"'{edits.base}' should have an embedder to replace ({known}), but has "
            f"{found[:500] or 'no model'}. Bags of words are replaced only if trained "
            "alone, and without --embedder, --feature, --raw or --vectors."
        )
    for place in blocks:
        edits.apply(presets.CLASSIFIER, place)
    for preset in presets.OF_CLASSIFIER:
        edits.apply(preset)


def _insert_vectors(edits: Edits, vectors: str | Path, places: Collection[str]) -> None:
    """Set word vectors, and use them in embedders without pretrained weights."""
    if not places:
        raise ValueError(
            "--vectors can't be used: [initialize] init_tok2vec was pretrained without "
            "vectors. Set it to null, or pretrain anew (--raw)."
        )
    edits.set_path("vectors", vectors, "The word vectors of --vectors.")
    for place in places:
        why = "Mixes in the word vectors of --vectors (documentation: vectors)."
        edits.set(place, "include_static_vectors", True, why)


def _insert_depth(
    edits: Edits, places: Collection[str], depth: int | None, *, is_recommended: bool
) -> None:
    """Set the depth of encoders, by default only if just entities are learned."""
    blocks = embedders.find_blocks(edits)
    trained = edits.running & {place.split(".")[1] for place in blocks}
    factories = {edits.resolve(f"components.{name}.factory") for name in trained}
    factories -= {"tok2vec"}
    is_default = is_recommended and factories and factories <= {*presets.RECOGNIZERS}
    beside = {f"{place.rpartition('.')[0]}.encode" for place in places} & blocks.keys()
    over = f"{presets.DEPTH.replaces}|{presets.OUR_ENCODER}"
    encoders = [p for p in sorted(beside) if re.fullmatch(over, find_name(blocks[p]))]
    if depth is not None and not encoders:
        raise ValueError(
            f"'depth' is {depth}, but no MaxoutWindowEncoder.v2 follows an embedder "
            "without pretrained weights. Omit 'depth'."
        )
    for place in encoders:
        if depth is not None:
            check_integers(1, MAX_DEPTH, depth=depth)
            edits.set(place, "depth", depth, "The layers of --depth.")
        elif is_default and blocks[place].get("depth") == presets.USUAL_DEPTH:
            edits.apply(presets.DEPTH, place)


def _insert_recommended(
    edits: Edits, places: list[str], corpus: TrainingCorpus | None
) -> None:
    """Insert recommendations. `places`: embedders without pretrained weights."""
    for place in places:
        if not edits.get(place).get("subwords"):
            why = "Embeds character n-grams of words (documentation: ner)."
            edits.set(place, "subwords", presets.SUBWORDS, why)
    edits.apply(presets.AVERAGES)
    for name in edits.find_components("ner"):
        _insert_token_ner(edits, name, places)
    edits.refresh()
    if not edits.running.isdisjoint(edits.find_components("token_ner", is_any=True)):
        edits.apply(presets.CALIBRATION)
    if edits.find_components(*presets.RECOGNIZERS):
        _insert_joined(edits, corpus)


def _insert_token_ner(edits: Edits, name: str, places: Collection[str]) -> None:
    """Replace an `ner` with one of these embedders, or a Tok2Vec, by `token_ner`."""
    place = f"components.{name}"
    model = edits.resolve(f"{place}.model") or {}
    if not str(find_name(model)).startswith("spacy.TransitionBasedParser."):
        return
    listens = str(find_name(model["tok2vec"])).startswith("spacy.Tok2VecListener.")
    if not (listens or any(p.startswith(f"{place}.") for p in places)):
        return
    for own in (f"initialize.{place}", f"{place}.incorrect_spans_key"):
        if edits.resolve(own):
            edits.warnings.append(
                f"[{place}] keeps spaCy's ner: token_ner has no [{own}]. Remove it."
            )
            return
    keys = [each.get("spans_key") for each in edits.config["components"].values()]
    block = {
        "factory": "token_ner",
        "spans_key": name if "ents" in keys else "ents",
        **{k: v for k, v in edits.get(place).items() if k == "scorer"},
        "model": {
            "@architectures": presets.TOKEN_CLASSIFIER,
            "tok2vec": edits.get(f"{place}.model.tok2vec") or model["tok2vec"],
        },
    }
    why = "Tags all tokens at once, with scores of entities (documentation: ner)."
    edits.set_block(place, block, {"factory": why})


def _insert_joined(edits: Edits, corpus: TrainingCorpus | None) -> None:
    """Join sentences in training, if any Doc has sentence boundaries."""
    place = edits.resolve("training.train_corpus")
    is_known = re.fullmatch(presets.KEPT.replaces, str(find_name(edits.resolve(place))))
    if corpus and corpus.n_whole and is_known:
        edits.warnings.append(
            f"[{place}]: {corpus.n_whole:,} of {corpus.n_docs:,} Docs of the training "
            "corpus have no sentence boundaries, so they are not joined. If each is a "
            "sentence, create it with `sent_starts` (documentation: whole-texts)."
        )
        if corpus.n_whole >= corpus.n_docs:
            return
    edits.apply(presets.JOINED, place)


def _insert_features(
    edits: Edits, features: Sequence[str], stored: Collection[str]
) -> None:
    """Keep features stored in the training corpus, and warn about others."""
    edits.refresh()
    if kept := [attr for attr in features if attr in stored]:
        for split in ("train", "dev"):
            place = edits.resolve(f"training.{split}_corpus")
            _extend(edits, presets.KEPT, place, "keep", kept)
    if names := list_extensions(kept):
        hook = presets.EXTENSIONS.section
        current = str(find_name(edits.resolve(hook)))
        if not re.fullmatch(presets.EXTENSIONS.replaces, current):
            hook = "nlp.after_creation"
        _extend(edits, presets.EXTENSIONS, hook, "names", names)
    ready = {*stored}
    for name in edits.resolve("training.annotating_components") or ():
        component = edits.resolve(f"components.{name}") or {}
        ready.add(f"{SPANS}{component.get('spans_key')}")
    if others := ", ".join(attr for attr in features if attr not in ready):
        edits.warnings.append(
            f"{others} are not stored as categories in the corpus of --train (which "
            f"stores: {', '.join(stored) or 'none'}). Define a getter, or list an "
            "earlier component that sets them in [training] annotating_components."
        )


def _extend(edits: Edits, preset: Preset, place: str, key: str, new: list[str]) -> None:
    """Insert a preset, and extend one of its lists. Keep a reader that joins."""
    current = edits.resolve(f"{place}.{key}") or ()
    values = {**preset.values, key: [*dict.fromkeys([*current, *new])]}
    if find_name(edits.resolve(place)) == JOINED_READER:
        values["@readers"] = JOINED_READER
    edits.apply(replace(preset, values=values), place)


def _insert_faster(edits: Edits) -> None:
    """Insert faster layers and settings with the output of spaCy's."""
    for place in embedders.find_blocks(edits):
        edits.apply(presets.ENCODER, place)
    if find_name(edits.resolve("nlp.before_creation")) != presets.BLAS:
        edits.apply(presets.FASTEST_BLAS)
    edits.apply(presets.FASTER_ADAM)


def find_beside(train: str | Path, split: str) -> Path | None:
    """Return another split beside a training corpus, unless that is a folder."""
    path = Path(train).with_name(f"{split}.spacy")
    return path if path.exists() and not Path(train).is_dir() else None


def _insert_paths(edits: Edits, train: str | Path | None) -> None:
    """Set [paths] train, and dev beside it unless dev was set for it."""
    paths = edits.plain["paths"]
    if train is not None and not Path(train).exists():
        raise FileNotFoundError(f"The training corpus '{train}' does not exist.")
    if train is not None and paths["train"] != str(train):
        edits.set_path("train", train, "The corpus of --train.")
        dev = find_beside(train, "dev")
        if dev and (paths["train"] or not paths["dev"]):
            edits.set_path("dev", dev, "Found beside the training corpus.")


def _insert_scorer(edits: Edits) -> None:
    """Score seen and unseen entities, and select checkpoints by both F-scores."""
    edits.refresh()
    names = edits.find_components(*presets.RECOGNIZERS, is_any=True)
    if not names:
        raise ValueError(
            f"--scorer needs a component of {', '.join(presets.RECOGNIZERS)}, but the "
            f"components are {', '.join(edits.config['components'])}. Omit --scorer."
        )
    for name in names:
        block = {"@scorers": presets.SCORER, "train": "${paths.train}"}
        why = "Scores entities seen in training separately."
        edits.set_block(f"components.{name}.scorer", block, {"@scorers": why})
    weights = edits.plain["training"]["score_weights"]
    if "ents_unseen_f" not in weights:
        # spaCy's default is 1
        weight = weights.get("ents_f", 1.0)
        half = round((weight or 0.0) / 2, 4)
        new = {"ents_f": half if weight else weight, "ents_seen_f": 0.0}
        block = edits.get("training.score_weights") | new | {"ents_unseen_f": half}
        why = "Half of the weight moves to ents_unseen_f to select checkpoints by both."
        edits.set_block("training.score_weights", block, {"ents_f": why})
