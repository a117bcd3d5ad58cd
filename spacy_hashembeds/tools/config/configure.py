"""Putting an embedder, and what belongs to it, into any config."""

import re
from collections.abc import Sequence
from pathlib import Path

from ...architectures.descriptions import get_description, get_descriptions
from ...files import quote
from ...loading import find_architectures
from . import presets
from .base_config import read_base
from .components import put_in_scorer, put_in_token_ner, put_in_vectors, warn_of_vectors
from .corpus import (
    Progress,
    make_tokenizer,
    put_in_joined,
    put_in_paths,
    read_corpus,
    warn_of_labels,
)
from .edits import Edits, find_name
from .embedders import (
    REPLACED,
    advise,
    check_block,
    put_in_embedder,
    put_in_encoders,
    read_embedders,
    write_out_models,
)
from .pretraining import put_in_counting, put_in_pretraining


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
    progress: Progress = lambda docs: docs,
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
    _check_no_variables(train=train, raw=raw, output=raw and output, vectors=vectors)
    new = presets.EMBEDDER if embedder is None else get_description(embedder)
    edits = read_base(base)
    edits.put_in(presets.COMPLETE)
    write_out_models(edits)
    olds = read_embedders(edits, new, is_anew=raw is not None)
    is_other = bool(embedder or raw or vectors)
    bags = [] if olds else _find_bags_of_words(edits, is_other=is_other)
    corpus = None
    if train is not None:
        attrs = [attr for each in olds for attr, _ in each.tables] or ["NORM"]
        corpus = read_corpus(train, make_tokenizer(edits), attrs, progress)
        warn_of_labels(edits, corpus)
    _put_in_classifiers(edits, bags)
    free = [old for old in olds if not old.is_pretrained]
    advice = {old.place: advise(corpus, old) for old in free if corpus}
    blocks = {o.place: put_in_embedder(edits, o, advice.get(o.place)) for o in olds}
    if encoder:
        put_in_encoders(edits)
    places = [old.place for old in free]
    put_in_vectors(edits, vectors, places)
    if embedder is None and olds:
        _put_in_recommended(edits, [*blocks], places)
        put_in_joined(edits, corpus)
    if raw is not None:
        put_in_pretraining(edits, raw, olds[0], blocks, output, progress)
    put_in_counting(edits, olds, blocks, advice)
    if blas and find_name(edits.resolve("nlp.before_creation")) != presets.BLAS:
        edits.put_in(presets.FASTEST_BLAS)
    edits.put_in(presets.FASTER_ADAM)
    put_in_paths(edits, train)
    if scorer:
        put_in_scorer(edits, train)
    edits.plain = edits.config.interpolate()
    for place in blocks:
        check_block(place, edits.resolve(place))
    warn_of_vectors(edits, [*blocks])
    edits.write()
    return edits


def _put_in_classifiers(edits: Edits, places: Sequence[str]) -> None:
    """Put ours in the place of bags of words, and train as it was measured."""
    for place in places:
        check_block(place, edits.resolve(place))
        edits.put_in(presets.CLASSIFIER, place)
    for preset in presets.OF_CLASSIFIER if places else ():
        edits.put_in(preset)


def _put_in_recommended(
    edits: Edits, places: Sequence[str], free: Sequence[str]
) -> None:
    """Put in what is recommended beside embedders. `free`: those without weights."""
    for place in free:
        if not edits.get_block(place).get("subwords"):
            edits.set(place, "subwords", *presets.SUBWORDS)
    edits.put_in(presets.AVERAGES)
    put_in_token_ner(edits, places)


def _check_no_variables(**arguments: str | Path | None) -> None:
    """Check what is written into a config, which has no way to escape a variable."""
    for name, value in arguments.items():
        if "${" in str(value):
            raise ValueError(
                f"'{name}' should be a name that a config can hold, but is "
                f"{quote(str(value))}: '${{' begins a variable. Rename it."
            )


def _find_bags_of_words(edits: Edits, *, is_other: bool) -> list[str]:
    """Find the places of spaCy's bags of words, if nothing else of the pipeline learns:
    `[training]` is of all components. `is_other`: what is asked for has no place there.
    """
    bags, others = [], []
    frozen = edits.resolve("training.frozen_components") or []
    for name in edits.plain["components"].keys() - frozen:
        component = edits.plain["components"][name]
        block = component.get("model") or {}
        is_bag = re.fullmatch(presets.CLASSIFIER.over, str(find_name(block)))
        if is_bag and name not in edits.left and not block.get("no_output_layer"):
            bags.append(f"components.{name}.model")
        elif block or "source" in component:
            others.append(name)
    if bags and not (others or is_other):
        return sorted(bags)
    models = find_architectures(edits.plain)
    found = "; ".join(f"{p}: {b['@architectures']}" for p, b in models.items())
    known = ", ".join([*REPLACED, *(d.architecture for d in get_descriptions())])
    remedy = ""
    if bags:
        remedy = " A bag of words is replaced without --embedder, --raw and --vectors."
    components = edits.plain["components"].values()
    if sources := sorted({c["source"] for c in components if "source" in c}):
        remedy += (
            " Sourced components keep their models: to have new ones, give the "
            f"pipeline that they are taken from, {' or '.join(sources)}."
        )
    raise ValueError(
        f"'{edits.base}' should have an embedder that ours can take the place of "
        f"({known}), but has none ({found[:500] or 'no model of its own'}).{remedy}"
    )
