"""Putting an embedder, and what belongs to it, into any config."""

import re
from collections.abc import Collection
from pathlib import Path
from shlex import join

from ...architectures.descriptions import get_description, get_descriptions
from ...files import find_descriptor, quote
from ...loading import find_architectures
from . import embedders, presets, training
from .base_config import find_config, read_base
from .edits import Edits, find_name


def configure(
    base: str | Path,
    *,
    embedder: str | None = None,
    train: str | Path | None = None,
    raw: str | Path | None = None,
    output: str | Path = "config.cfg",
    vectors: str | Path | None = None,
    encoder: bool = True,
    blas: bool = True,
    scorer: bool = False,
    progress: training.Progress = lambda docs: docs,
) -> Edits:
    """Put an embedder into any config in place of those that stand there.

    base (str | Path): A `.cfg` file, or the folder or package of a saved pipeline.
        Components that are sourced or frozen keep their models.
    embedder (str, optional): The name of the embedder to put in. By default what is
        recommended, with the training and the NER that are.
    train (str | Path, optional): The training corpus, a `.spacy` file or a folder of
        them, by which settings are chosen. Without it they stay, or are the defaults.
    raw (str | Path, optional): Texts to pretrain on, as `RawTexts.v1` reads them.
    output (str | Path): Where the config will be saved, by which the files of symbols
        and weights for these texts are named.
    vectors (str | Path, optional): Word vectors to mix in: a folder or package.
    encoder (bool): Whether to put our encoder in the place of spaCy's.
    blas (bool): Whether the pipeline is to choose the fastest BLAS.
    scorer (bool): Whether to score seen and unseen entities apart.
    progress (Progress, optional): Wraps the docs of the corpus as they are read.
    RETURNS (Edits): The new config, as `config` and `text`, with `changes`, `warnings`
        and `symbols`.
    RAISES (OSError, ValueError): If a config or corpus is not there, can't be used, or
        has no place for what is asked for.
    """
    _check_names(train=train, raw=raw, output=raw and output, vectors=vectors)
    new = presets.EMBEDDER if embedder is None else get_description(embedder)
    edits = read_base(base)
    embedders.write_out_models(edits)
    olds = embedders.read_embedders(edits, new, is_anew=raw is not None)
    if not olds:
        _put_in_classifiers(edits, is_other=bool(embedder or raw or vectors))
    corpus = (
        None if train is None else training.read_corpus(edits, train, olds, progress)
    )
    embedders.put_in_embedders(edits, olds, corpus.vocabulary if corpus else None)
    free = [old.place for old in olds if not old.is_pretrained]
    if vectors is not None:
        put_in_vectors(edits, vectors, free)
    if embedder is None and olds:
        _put_in_recommended(edits, free)
        training.put_in_joined(edits, corpus)
    if raw is not None:
        training.put_in_pretraining(edits, raw, olds, output, progress)
    training.put_in_counting(edits, olds, corpus)
    put_in_faster(edits, encoder=encoder, blas=blas)
    training.put_in_paths(edits, train)
    if scorer:
        put_in_scorer(edits)
    edits.write()
    return edits


def _check_names(**arguments: str | Path | None) -> None:
    """Check what is written into a config, which has no way to escape a variable."""
    for name, value in arguments.items():
        if "${" in str(value):
            raise ValueError(
                f"'{name}' should be a name that a config can hold, but is "
                f"{quote(str(value))}: '${{' begins a variable. Rename it."
            )


def _put_in_classifiers(edits: Edits, *, is_other: bool) -> None:
    """Put ours in the place of spaCy's bags of words, and train as it was measured.

    If nothing else of the pipeline learns: [training] is of all components. `is_other`:
    what is asked for has no place there.
    """
    blocks, frozen = (
        embedders.find_blocks(edits),
        edits.plain["training"]["frozen_components"],
    )
    models = [place for place in blocks if place.count(".") == 2]
    over = presets.CLASSIFIER.over
    bags = [p for p in models if re.fullmatch(over, blocks[p]["@architectures"])]
    components = edits.plain["components"].items()
    sourced = [n for n, c in components if "source" in c and n not in frozen]
    if is_other or sourced or not bags or models != bags:
        known = ", ".join(
            [*embedders.REPLACED, *(d.architecture for d in get_descriptions())]
        )
        found = "; ".join(f"{place}: {find_name(b)}" for place, b in blocks.items())
        raise ValueError(
            f"'{edits.base}' should have an embedder that ours can take the place of "
            f"({known}), but has none ({found[:500] or 'no model of its own'}). Bags "
            "of words are replaced where nothing else learns, without --embedder, "
            "--raw and --vectors. Of sourced components, give the pipeline itself."
        )
    for place in bags:
        edits.put_in(presets.CLASSIFIER, place)
    for preset in presets.OF_CLASSIFIER:
        edits.put_in(preset)


def put_in_faster(edits: Edits, *, encoder: bool, blas: bool) -> None:
    """Put in what computes the same numbers as spaCy's, faster."""
    for place in embedders.find_blocks(edits) if encoder else ():
        edits.put_in(presets.ENCODER, place)
    if blas and find_name(edits.resolve("nlp.before_creation")) != presets.BLAS:
        edits.put_in(presets.FASTEST_BLAS)
    edits.put_in(presets.FASTER_ADAM)


def _put_in_recommended(edits: Edits, places: Collection[str]) -> None:
    """Put in what is recommended beside embedders. `places`: those without weights."""
    for place in places:
        if not edits.get(place).get("subwords"):
            edits.set(place, "subwords", presets.SUBWORDS, presets.WHY_SUBWORDS)
    edits.put_in(presets.AVERAGES)
    for name in edits.find_learning("ner"):
        _put_in_token_ner(edits, name, places)
    edits.refresh()
    nlp, components = edits.plain["nlp"], edits.plain["components"]
    active = {*nlp["pipeline"]} - {*nlp["disabled"]} & components.keys()
    if "token_ner" in [components[name].get("factory") for name in active]:
        edits.put_in(presets.CALIBRATION)


def _put_in_token_ner(edits: Edits, name: str, places: Collection[str]) -> None:
    """Put `token_ner` in the place of an `ner` that reads one of these embedders, as
    none does that listens to a transformer.
    """
    place = f"components.{name}"
    model = edits.resolve(f"{place}.model") or {}
    if not str(find_name(model)).startswith("spacy.TransitionBasedParser."):
        return
    listens = str(find_name(model["tok2vec"])).startswith("spacy.Tok2VecListener.")
    if not (listens or any(p.startswith(f"{place}.") for p in places)):
        return
    own = (f"initialize.{place}", f"{place}.incorrect_spans_key")
    if reason := next((each for each in own if edits.resolve(each)), None):
        edits.warnings.append(f"[{place}] stays spaCy's, for which [{reason}] is.")
        return
    keys = [each.get("spans_key") for each in edits.config["components"].values()]
    kept = {k: v for k, v in edits.get(place).items() if k == "scorer"}
    tok2vec = edits.get(f"{place}.model.tok2vec") or model["tok2vec"]
    block = {
        "factory": "token_ner",
        "spans_key": name if "ents" in keys else "ents",
        **kept,
        "model": {"@architectures": presets.TOKEN_CLASSIFIER, "tok2vec": tok2vec},
    }
    edits.put(place, block, {"factory": presets.TOKEN_NER})


def put_in_vectors(edits: Edits, vectors: str | Path, places: Collection[str]) -> None:
    """Name word vectors, and have embedders mix them in. `places`: those without
    weights.
    """
    # the pipeline in it need not be loaded
    if not (find_config(vectors).parent / "vocab" / "vectors").is_file():
        raise ValueError(
            f"'{vectors}' should hold vectors, but has none. Name a folder by `spacy "
            "init vectors`, or a pipeline with vectors."
        )
    if not places:
        raise ValueError(
            "--vectors can't be mixed in: the weights with which training begins were "
            "trained without. Set [initialize] init_tok2vec to null, or pretrain anew "
            "(--raw)."
        )
    edits.set_path("vectors", vectors, "Those that --vectors names.")
    for place in places:
        edits.set(place, "include_static_vectors", True, presets.VECTORS)


def put_in_scorer(edits: Edits) -> None:
    """Score seen and unseen entities apart, and select checkpoints by both F-scores."""
    edits.refresh()
    components = edits.plain["components"].items()
    names = [n for n, c in components if c.get("factory") in presets.RECOGNIZERS]
    if not names:
        raise ValueError(
            "--scorer scores entities, but no component has the factory 'ner', "
            f"'beam_ner' or 'token_ner' (there are: {', '.join(dict(components))}). "
            "Leave out --scorer."
        )
    for name in names:
        block = {**presets.SCORER, "train": "${paths.train}"}
        why = {"@scorers": presets.WHY_SCORER}
        edits.put(f"components.{name}.scorer", block, why)
    weights = edits.plain["training"]["score_weights"]
    if "ents_unseen_f" not in weights:
        # what is not there gets spaCy's weight
        weight = weights.get("ents_f", 1.0)
        half = round((weight or 0.0) / 2, 4)
        new = {"ents_f": half if weight else weight, "ents_seen_f": 0.0}
        block = edits.get("training.score_weights") | new | {"ents_unseen_f": half}
        edits.put("training.score_weights", block, {"ents_f": presets.WHY_WEIGHTS})


def list_commands(
    made: Edits,
    output: str | Path,
    *,
    train: str | Path | None,
    raw: str | Path | None = None,
    code: str | Path | None = None,
) -> list[str]:
    """List the commands that pretrain, if there is pretraining, train and evaluate.
    Splits that are not known have names in capitals, such as DEV.spacy.
    """
    paths = made.plain["paths"]
    corpus = str(train or paths["train"] or "TRAIN.spacy")
    beside = {split: training.find_beside(corpus, split) for split in ("dev", "test")}
    found = {split: str(path) for split, path in beside.items() if path.exists()}
    # beside the corpus of --train, even if the config has that of another corpus
    is_beside = train is not None and "dev" in found
    dev = (not is_beside and paths["dev"]) or found.get("dev", "DEV.spacy")
    name = "config.cfg" if find_descriptor(Path(output)) is not None else str(output)
    folder = Path("training", Path(name).stem)
    train_command = ["spacy", "train", name, "--output", str(folder)]
    train_command += ["--paths.train", corpus, "--paths.dev", str(dev)]
    blocks = find_architectures(made.plain).values()
    if not made.plain["initialize"]["vectors"]:
        train_command += ["--paths.vectors", "VECTORS"] * any(
            block.get("include_static_vectors") for block in blocks
        )
    evaluation = ["evaluate", str(folder / "model-best")]
    evaluation.append(found.get("test", "TEST.spacy"))
    factories = [c.get("factory") for c in made.plain["components"].values()]
    is_recognizer = any(factory in presets.RECOGNIZERS for factory in factories)
    if is_recognizer or any(factory in presets.CLASSIFIERS for factory in factories):
        evaluation.insert(0, "hashembeds")
    evaluation += ["--train", corpus] * is_recognizer
    commands = [train_command, ["spacy", *evaluation]]
    if raw is not None:
        pretraining = [
            "spacy",
            "pretrain",
            name,
            str(training.name_weights(name).parent),
        ]
        if made.plain["initialize"]["before_init"]:
            pretraining += ["--paths.train", corpus]  # which is counted
        commands.insert(0, pretraining)
    imported = [] if code is None else ["--code", str(code)]
    return [join([*command, *imported]) for command in commands]
