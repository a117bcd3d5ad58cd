"""Insert an embedder and related settings into any config."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import join
from typing import Any

import numpy as np
from spacy.language import DEFAULT_CONFIG_PRETRAIN_PATH
from spacy.util import load_config, set_dot_to_object

from ...architectures.descriptions import get_description, get_descriptions
from ...arguments import (
    MAX_DEPTH,
    SPANS,
    check_features,
    check_integers,
    list_extensions,
)
from ...files import find_descriptor
from ...loading import find_architectures
from ...training.counting import count_values, cut_symbols
from ...training.rawtexts import create_raw_texts_reader
from ...training.readers import JOINED_READER
from . import embedders, presets
from .edits import Edits, find_config, find_name
from .embedders import EXPLAIN_DEFAULT, EXPLAIN_SMALL, Corpus, Embedder, Progress
from .presets import Preset


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
    encoder: bool = True,
    blas: bool = True,
    scorer: bool = False,
    progress: Progress = lambda docs: docs,
) -> Edits:
    """Replace the embedders in any config by one of ours. The arguments are the options
    of `spacy hashembeds config`.

    output (str | Path): The config to save. Files of symbols and weights are named
        after it.
    progress (Progress): Wraps the docs of the corpus as they are read.
    RETURNS (Edits): The new config, as `config` and `text`, with `changes`, `warnings`
        and `symbols`.
    RAISES (OSError, ValueError): If an argument can't be used with this config.
    """
    new = presets.EMBEDDER if embedder is None else get_description(embedder)
    features = [*dict.fromkeys(check_features(features=features))]
    edits = Edits(base)
    if raw is not None:  # pretraining replaces existing weights
        edits.config["initialize"]["init_tok2vec"] = None
    embedders.write_out_models(edits)
    olds = embedders.read_embedders(edits, new, features)
    if not olds:
        _put_in_classifiers(edits, is_other=any([embedder, raw, vectors, features]))
    corpus = embedders.read_corpus(edits, train, olds, progress) if train else None
    places = embedders.put_in_embedders(edits, olds, corpus)
    if vectors is not None:
        _put_in_vectors(edits, vectors, places)
    _put_in_depth(edits, places, depth, is_recommended=embedder is None)
    if embedder is None and olds:
        _put_in_recommended(edits, places, corpus)
    _put_in_features(edits, features, corpus.stored if corpus else {})
    if raw is not None:
        _put_in_pretraining(edits, raw, olds, output, progress)
    if olds:
        _put_in_counting(edits, olds, corpus)
    _put_in_faster(edits, encoder=encoder, blas=blas)
    _put_in_paths(edits, train)
    if scorer:
        _put_in_scorer(edits)
    edits.write()
    return edits


def _put_in_classifiers(edits: Edits, *, is_other: bool) -> None:
    """Replace spaCy's bag-of-words classifiers by ours, with the [training] settings of
    our measurements. Refuse if another component learns, which shares [training].

    is_other (bool): Whether options are given that do not apply to classifiers.
    """
    blocks = embedders.find_blocks(edits)
    names = [b["@architectures"] for p, b in blocks.items() if p.count(".") == 2]
    over = presets.CLASSIFIER.over
    are_bags = bool(names) and all(re.fullmatch(over, name) for name in names)
    frozen = edits.plain["training"]["frozen_components"]
    if is_other or not are_bags or not edits.left <= {*frozen}:
        ours = (description.architecture for description in get_descriptions())
        known = ", ".join([*embedders.REPLACED, *ours])
        found = "; ".join(f"{p}: {b['@architectures']}" for p, b in blocks.items())
        raise ValueError(
            f"'{edits.base}' should have an embedder to replace ({known}), but has "
            f"{found[:500] or 'no model of its own'}. Bags of words are replaced if "
            "nothing else learns, without --embedder, --feature, --raw and --vectors. "
            "Of sourced components, give the pipeline itself."
        )
    for place in blocks:
        edits.put_in(presets.CLASSIFIER, place)
    for preset in presets.OF_CLASSIFIER:
        edits.put_in(preset)


def _put_in_vectors(edits: Edits, vectors: str | Path, places: Collection[str]) -> None:
    """Set word vectors, and let embedders without weights mix them in."""
    # check the file: the pipeline with the vectors need not be loaded
    if not (find_config(vectors).parent / "vocab" / "vectors").is_file():
        raise ValueError(
            f"'{vectors}' should hold vectors, but has none. Name a folder by `spacy "
            "init vectors`, or a pipeline with vectors."
        )
    if not places:
        raise ValueError(
            "--vectors can't be mixed in: [initialize] init_tok2vec names weights that "
            "were trained without. Set it to null, or pretrain anew (--raw)."
        )
    edits.set_path("vectors", vectors, "Those that --vectors names.")
    for place in places:
        why = "Mixes in the vectors that --vectors names: docs/vectors.md."
        edits.set(place, "include_static_vectors", True, why)


def _put_in_depth(
    edits: Edits, places: Collection[str], depth: int | None, *, is_recommended: bool
) -> None:
    """Set the depth of the window encoders beside embedders without weights. By
    default, replace spaCy's default depth if recommended and only entities are learned.
    """
    blocks = embedders.find_blocks(edits)
    learning = edits.running & {place.split(".")[1] for place in blocks}
    factories = {edits.resolve(f"components.{name}.factory") for name in learning}
    recognizers = factories & {*presets.RECOGNIZERS}
    is_default = (
        is_recommended and recognizers and factories <= recognizers | {"tok2vec"}
    )
    beside = {f"{place.rpartition('.')[0]}.encode" for place in places} & blocks.keys()
    over = f"{presets.DEPTH.over}|{presets.OUR_ENCODER}"
    encoders = [p for p in sorted(beside) if re.fullmatch(over, find_name(blocks[p]))]
    if depth is not None and not encoders:
        raise ValueError(
            f"'depth' is {depth}, but no MaxoutWindowEncoder.v2 stands beside an "
            "embedder that may change. Leave it out."
        )
    for place in encoders:
        if depth is not None:
            check_integers(1, MAX_DEPTH, depth=depth)
            edits.set(place, "depth", depth, "The number of layers that --depth names.")
        elif is_default and blocks[place].get("depth") == presets.USUAL_DEPTH:
            edits.put_in(presets.DEPTH, place)


def _put_in_recommended(
    edits: Edits, places: Collection[str], corpus: Corpus | None
) -> None:
    """Insert recommendations beside embedders. `places`: embedders without weights."""
    for place in places:
        if not edits.get(place).get("subwords"):
            why = "Character n-grams of words, half a megabyte: docs/whole-texts.md."
            edits.set(place, "subwords", presets.SUBWORDS, why)
    edits.put_in(presets.AVERAGES)
    for name in edits.find_components("ner"):
        _put_in_token_ner(edits, name, places)
    edits.refresh()
    if not edits.running.isdisjoint(edits.find_components("token_ner", is_any=True)):
        edits.put_in(presets.CALIBRATION)
    if edits.find_components(*presets.RECOGNIZERS):
        _put_in_joined(edits, corpus)


def _put_in_token_ner(edits: Edits, name: str, places: Collection[str]) -> None:
    """Replace an `ner` that reads one of these embedders by `token_ner`. An `ner` that
    listens to a transformer is kept.
    """
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
                f"[{place}] stays spaCy's: token_ner has no [{own}]. Take it out to "
                "get token_ner."
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
    why = "A tag for each token, faster, and with scores of entities: docs/ner.md."
    edits.put(place, block, {"factory": why})


def _put_in_joined(edits: Edits, corpus: Corpus | None) -> None:
    """Join sentences and cut texts in training, if any Doc has sentence boundaries."""
    place = edits.resolve("training.train_corpus")
    is_known = re.fullmatch(presets.KEPT.over, str(find_name(edits.resolve(place))))
    if corpus and corpus.n_whole and is_known:
        edits.warnings.append(
            f"[{place}]: {corpus.n_whole:,} of {corpus.n_docs:,} Docs of the training "
            "corpus with more than one token have no sentence boundaries, and are "
            "neither joined nor cut. If each is a sentence, make them with "
            "`sent_starts` (docs/whole-texts.md)."
        )
        if corpus.n_whole >= corpus.n_docs:
            return
    edits.put_in(presets.JOINED, place)


def _put_in_features(
    edits: Edits, features: Sequence[str], stored: Collection[str]
) -> None:
    """Let training keep features that its corpus stores. Warn about those that a
    component has to set.
    """
    edits.refresh()
    if kept := [attr for attr in features if attr in stored]:
        for split in ("train", "dev"):
            place = edits.resolve(f"training.{split}_corpus")
            _extend(edits, presets.KEPT, place, "keep", kept)
    if names := list_extensions(kept):
        hook = presets.EXTENSIONS.section
        there = str(find_name(edits.resolve(hook)))
        if not re.fullmatch(presets.EXTENSIONS.over, there):
            hook = "nlp.after_creation"
        _extend(edits, presets.EXTENSIONS, hook, "names", names)
    ready = {*stored}
    for name in edits.resolve("training.annotating_components") or ():
        component = edits.resolve(f"components.{name}") or {}
        ready.add(f"{SPANS}{component.get('spans_key')}")
    if others := ", ".join(attr for attr in features if attr not in ready):
        edits.warnings.append(
            f"A getter has to compute {others}, or a component ahead, in [training] "
            "annotating_components, to set them: --train names no corpus that stores "
            f"them as categories (it stores: {', '.join(stored) or 'none'})."
        )


def _extend(
    edits: Edits, preset: Preset, place: str, key: str, items: Sequence[str]
) -> None:
    """Insert a preset, and add items to a list of it. A reader that joins stays."""
    there = edits.resolve(f"{place}.{key}") or ()
    values = {**preset.values, key: [*dict.fromkeys([*there, *items])]}
    if find_name(edits.resolve(place)) == JOINED_READER:
        values["@readers"] = JOINED_READER
    edits.put_in(replace(preset, values=values), place)


def _put_in_pretraining(
    edits: Edits,
    raw: str | Path,
    olds: Sequence[Embedder],
    output: str | Path,
    progress: Progress,
) -> None:
    """Insert the settings of `spacy pretrain` to pretrain an embedder's tok2vec."""
    old = olds[0]
    _, component, _, *parts = old.place.split(".")
    layer = [part for part in parts if part != "embed"]
    if len(olds) > 1 or len(layer) > 1:
        raise ValueError(
            "--raw pretrains one tok2vec, which is a component or a layer 'tok2vec' of "
            f"one, but embedders stand in {', '.join(each.place for each in olds)}."
        )
    if groups := ", ".join(x for x in old.block["attrs"] if str(x).startswith(SPANS)):
        raise ValueError(
            f"[{old.place}] embeds {groups}, which the texts of --raw don't have. "
            "Leave out --raw, or take it out of 'attrs' or --feature."
        )
    edits.set_path("raw_text", raw, "The texts that --raw names.")
    edits.put_in(presets.RAW_TEXTS)
    block = edits.get("pretraining") or {}
    if find_name(block.get("objective")) != presets.OBJECTIVE:
        config = load_config(DEFAULT_CONFIG_PRETRAIN_PATH)
        for key, value in presets.PRETRAINING.items():
            set_dot_to_object(config, f"pretraining.{key}", value)
        block = config["pretraining"]
    block = {**block, "component": component, "layer": ".".join(layer)}
    why = "Learns which words of texts were replaced: docs/pretraining.md."
    edits.put("pretraining", block, {None: why, "max_epochs": why})
    if old.new.symbol_width:
        tables = str(Path(output).with_suffix(".npz"))
        _put_in_symbols(edits, old, raw, tables, progress)
    why = "What `spacy pretrain` will have learned."
    edits.set_path("init_tok2vec", name_weights(output), why)


def name_weights(output: str | Path) -> Path:
    """Return the path of the weights that `spacy pretrain` writes for a config."""
    return Path("pretrained", Path(output).stem, "model-last.bin")


def _put_in_symbols(
    edits: Edits, old: Embedder, raw: str | Path, tables: str, progress: Progress
) -> None:
    """Count the symbols of the texts, to be saved to a file, with the lowest `min_freq`
    that needs no more rows than before.

    `spacy train` then neither counts the texts, nor keeps the strings of all words.
    """
    attrs = old.block["attrs"]
    # raw texts have norms, even if a component may change them
    if later := [a for a in attrs if a in old.settable and a != "NORM"]:
        raise ValueError(
            f"[{old.place}] embeds {', '.join(later)}, which components ahead of it "
            "may set, but the texts of --raw don't have. Take it out of 'attrs', or "
            "put in multi_fewer_hash_embed (--embedder), which counts nothing."
        )
    old.block["tables"] = tables
    examples = create_raw_texts_reader(path=Path(raw))(edits.make_tokenizer())
    counts = count_values(progress(each.predicted for each in examples), attrs)
    most = sum(old.tables.values())
    seen = -np.sort(-np.concatenate([each.get_counts()[1] for each in counts.values()]))
    min_freq = int(max([2, *(seen[most : most + 1] + 1)]))
    why = f"The symbols that are {min_freq} times or more in the texts of --raw."
    edits.set(old.place, "tables", tables, why)
    lang = edits.resolve("nlp.lang")
    edits.symbols = cut_symbols(counts, min_freq=min_freq, lang=lang)


def _put_in_counting(
    edits: Edits, olds: Sequence[Embedder], corpus: Corpus | None
) -> None:
    """Insert the callback that counts the training corpus, if an embedder needs it."""
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
        if chosen:  # the largest, so that no embedder gets more rows
            why = (
                "The smallest with no more rows than before: chosen by size, not by F1."
            )
        if new.symbol_width and (chosen or there != name):
            # lookup: the value of our measurements; others: that of the report
            min_freq = chosen or (2 if new == presets.EMBEDDER else 10)
            edits.set(preset.section, "min_freq", min_freq, why)
    elif not all(old.is_ours for old in olds):  # the callback may count for our own
        raise ValueError(
            f"[initialize] before_init is {there}, so that {name} can't count for "
            f"{new.architecture}. Take it out, or put in multi_fewer_hash_embed "
            "(--embedder), for which nothing is counted."
        )


def _has_ngrams(block: Mapping[str, Any]) -> bool:
    """Return True if a hasher of an embedder uses only counted n-grams."""
    hashers = block.get("hashers", {}).values()
    lsh = [hasher for hasher in hashers if find_name(hasher) == presets.HASHER]
    return any(hasher.get("max_ngrams", 1) is not None for hasher in lsh)


def _put_in_faster(edits: Edits, *, encoder: bool, blas: bool) -> None:
    """Insert faster layers and settings that compute the same as spaCy's."""
    for place in embedders.find_blocks(edits) if encoder else ():
        edits.put_in(presets.ENCODER, place)
    if blas and find_name(edits.resolve("nlp.before_creation")) != presets.BLAS:
        edits.put_in(presets.FASTEST_BLAS)
    edits.put_in(presets.FASTER_ADAM)


def _put_in_paths(edits: Edits, train: str | Path | None) -> None:
    """Set the training corpus in [paths], and the development corpus beside it, unless
    one that belongs to this training corpus is set.
    """
    paths = edits.plain["paths"]
    if train is not None and paths["train"] != str(train):
        edits.set_path("train", train, "The corpus that --train names.")
        dev = Path(train).with_name("dev.spacy")
        if dev.exists() and (paths["train"] or not paths["dev"]):
            edits.set_path("dev", dev, "Found beside the training corpus.")


def _put_in_scorer(edits: Edits) -> None:
    """Score seen and unseen entities, and select checkpoints by both F-scores."""
    edits.refresh()
    names = edits.find_components(*presets.RECOGNIZERS, is_any=True)
    if not names:
        raise ValueError(
            f"--scorer scores entities, but none of {', '.join(presets.RECOGNIZERS)} "
            f"is a factory of {', '.join(edits.config['components'])}. Leave it out."
        )
    for name in names:
        block = {"@scorers": presets.SCORER, "train": "${paths.train}"}
        why = "Scores entities that training has shown apart from others."
        edits.put(f"components.{name}.scorer", block, {"@scorers": why})
    weights = edits.plain["training"]["score_weights"]
    if "ents_unseen_f" not in weights:
        # a missing weight is spaCy's default
        weight = weights.get("ents_f", 1.0)
        half = round((weight or 0.0) / 2, 4)
        new = {"ents_f": half if weight else weight, "ents_seen_f": 0.0}
        block = edits.get("training.score_weights") | new | {"ents_unseen_f": half}
        why = "Half of it goes to ents_unseen_f: checkpoints are chosen by both."
        edits.put("training.score_weights", block, {"ents_f": why})


def list_commands(
    made: Edits,
    output: str | Path,
    *,
    train: str | Path | None,
    raw: str | Path | None = None,
    code: str | Path | None = None,
) -> list[str]:
    """List the commands to pretrain, if configured, to train and to evaluate. Unknown
    splits have names in capitals, such as DEV.spacy.
    """
    paths, initialize = made.plain["paths"], made.plain["initialize"]
    corpus = str(train or paths["train"] or "TRAIN.spacy")
    beside = {s: Path(corpus).with_name(f"{s}.spacy") for s in ("dev", "test")}
    dev, test = (p if p.exists() else f"{s.upper()}.spacy" for s, p in beside.items())
    name = "config.cfg" if find_descriptor(output) is not None else str(output)
    folder = Path("training", Path(name).stem)
    training = ["train", name, "--output", folder, "--paths.train", corpus]
    training += ["--paths.dev", paths["dev"] or dev]
    blocks = find_architectures(made.plain).values()
    has_vectors = any(block.get("include_static_vectors") for block in blocks)
    if has_vectors and not initialize["vectors"]:
        training += ["--paths.vectors", "VECTORS"]
    find = partial(made.find_components, is_any=True)
    evaluation = ["evaluate", folder / "model-best", test]
    if find(*presets.RECOGNIZERS, *presets.CLASSIFIERS):
        evaluation.insert(0, "hashembeds")
    if find(*presets.RECOGNIZERS):
        evaluation += ["--train", corpus]
    commands = [training, evaluation]
    if raw is not None:
        counted = ["--paths.train", corpus] if initialize["before_init"] else []
        commands.insert(0, ["pretrain", name, name_weights(name).parent, *counted])
    code_option = [] if code is None else ["--code", code]
    return [join(map(str, ["spacy", *each, *code_option])) for each in commands]
