"""Putting an embedder, and what belongs to it, into any config."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

from spacy.language import DEFAULT_CONFIG, Language
from spacy.tokens import Doc
from spacy.util import load_model_from_config
from thinc.api import Config

from ..analysis.advice import Advice, advise
from ..analysis.features import collect_vocabulary
from ..analysis.recommendation import EMBEDDER
from ..annotation import find_settable
from ..architectures.embedders.descriptions import (
    EmbedderDescription,
    get_description,
    get_descriptions,
)
from ..corpora.docbin import read_examples
from ..corpora.rawtexts import create_raw_texts_reader
from ..files import quote
from ..inputs import check_attributes
from ..loading import find_architectures
from ..symbols import SymbolTables, count_values
from .base import Base, read_base
from .classifier import find_bags_of_words, put_in_classifiers
from .counting import put_in_counting
from .draft import Change, Draft, check_block
from .embedders import REPLACED, Tables, read_tables, write_embedder
from .models import (
    find_embedders,
    find_pretrained,
    put_in_encoders,
    write_out_models,
    write_out_variables,
)
from .pretraining import name_symbols, name_weights, put_in_pretraining, put_in_symbols
from .recommended import (
    put_in_averages,
    put_in_joined,
    put_in_subwords,
    put_in_token_ner,
    put_in_vectors,
)
from .surroundings import (
    complete_training,
    put_in_adam,
    put_in_blas,
    put_in_paths,
    put_in_scorer,
    warn_of_recognizers,
    warn_of_vectors,
)
from .text import edit_text

#: Takes the docs of the corpus, and hands them on.
Progress = Callable[[Iterator[Doc]], Iterable[Doc]]


@dataclass(frozen=True)
class Configured:
    """A config with our functions in it."""

    base: Base
    config: Config  #: With variables.
    text: str  #: The same: that of the base, with a comment at each change.
    changes: list[Change]
    warnings: list[str]  #: A sentence or two each.
    #: Whether an embedder shall mix in vectors where the config names none.
    needs_vectors: bool = False
    #: Whether its weights are pretrained first, by `spacy pretrain`.
    is_pretrained: bool = False
    #: Those of the texts to pretrain on, to be saved beside the config as .npz.
    symbols: SymbolTables | None = None


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
) -> Configured:
    """Put an embedder into any config in place of those that stand there.

    base (str | Path): The config: a `.cfg` file, or the folder or package of a saved
        pipeline. Components that are sourced or frozen keep their models.
    embedder (str, optional): The embedder to put in, by the name of its description. By
        default the one that is recommended, with the training and the NER that are.
    train (str | Path, optional): The training corpus, a `.spacy` file or a folder of
        them, by which `analyze` advises attributes, hashes, `min_freq` and a lower
        limit for rows. Without it these stay as they are, or are the defaults.
    raw (str | Path, optional): Texts to pretrain on, as `RawTexts.v1` reads them.
    output (str | Path): Where the config will be saved, by which files for these texts
        are named: the symbols, to be saved beside it, and the weights.
    vectors (str | Path, optional): Word vectors to mix in: a folder or package.
    encoder (bool): Whether to put our encoder in the place of spaCy's.
    blas (bool): Whether the pipeline is to choose the fastest BLAS.
    scorer (bool): Whether to score seen and unseen entities apart.
    progress (Progress, optional): Wraps the docs of the corpus as they are read.
    RAISES (OSError, ValueError): If a config or corpus is not there, can't be used, or
        has no place for what is asked for.
    """
    _check_no_variables(train=train, raw=raw, output=raw and output, vectors=vectors)
    chosen = EMBEDDER if embedder is None else get_description(embedder)
    read = read_base(base)
    draft = Draft(read.config)
    write_out_variables(draft)
    write_out_models(draft)
    is_asked_for = (embedder, raw, vectors) != (None, None, None)
    bags = [] if is_asked_for or find_embedders(draft) else find_bags_of_words(draft)
    if bags:
        _check_corpus(draft, train)
        put_in_classifiers(draft, bags)
        _complete(draft, train, blas=blas, scorer=scorer)
        return _finish(read, draft)
    tables = _find_tables(draft, read, chosen, is_anew=raw is not None)
    places = [each.place for each in tables]
    advice = _read_corpus(draft, tables, train, progress)
    _put_in_embedders(draft, tables, advice)
    if encoder:
        put_in_encoders(draft)
    if vectors is not None:
        put_in_vectors(draft, str(vectors), tables)
    if embedder is None:
        put_in_subwords(draft, tables)
        put_in_averages(draft)
        put_in_token_ner(draft, places)
    symbols = None
    if raw is not None:
        put_in_pretraining(draft, str(raw), places, name_weights(output))
        put_in_adam(draft, "pretraining.optimizer", {})
        symbols = _put_in_symbols(draft, tables, raw, output, progress)
    put_in_counting(draft, tables, advice)
    _complete(draft, train, blas=blas, scorer=scorer)
    if embedder is None:
        put_in_joined(draft)
    needs_vectors = warn_of_vectors(draft, places)
    return _finish(
        read,
        draft,
        needs_vectors=needs_vectors,
        is_pretrained=raw is not None,
        symbols=symbols,
    )


def _complete(
    draft: Draft, train: str | Path | None, *, blas: bool, scorer: bool
) -> None:
    """Put in what is not of models."""
    if blas:
        put_in_blas(draft)
    put_in_adam(draft, "training.optimizer", DEFAULT_CONFIG["training"]["optimizer"])
    complete_training(draft)
    put_in_paths(draft, train)
    if scorer:
        put_in_scorer(draft, train)


def _finish(base: Base, draft: Draft, **more: Any) -> Configured:
    comments = {(change.section, change.key): change.why for change in draft.changes}
    try:
        text = edit_text(base.text, base.config, draft.config, comments)
    except ValueError as error:
        raise ValueError(f"'{base.path}' can't be changed: {error}.") from error
    return Configured(base, draft.config, text, draft.changes, draft.warnings, **more)


def _check_no_variables(**arguments: str | Path | None) -> None:
    """Check what is written into a config, which has no way to escape a variable."""
    for name, value in arguments.items():
        if "${" in str(value):
            raise ValueError(
                f"'{name}' should be a name that a config can hold, but is "
                f"{quote(str(value))}: to a config, '${{' begins a variable. Rename "
                "it, or make a link to it under another name."
            )


def _find_tables(
    draft: Draft, base: Base, embedder: EmbedderDescription, *, is_anew: bool
) -> list[Tables]:
    """Find the tables of embedders to replace. `is_anew`: none has weights to keep."""
    found = find_embedders(draft)
    if not found:
        raise ValueError(_describe_models(base))
    pretrained = [] if is_anew else find_pretrained(draft, found, embedder)
    for place, block in found.items():
        check_block(place, block)
    pipeline = draft.resolve("nlp.pipeline") or []
    return [
        read_tables(
            place,
            block,
            embedder,
            is_pretrained=place in pretrained,
            settable=find_settable(pipeline, place.split(".")[1]),
        )
        for place, block in found.items()
    ]


def _put_in_embedders(
    draft: Draft, tables: Sequence[Tables], advice: Mapping[str, Advice]
) -> None:
    for each in tables:
        before, advised = draft.get(each.place), advice.get(each.place)
        draft.replace(each.place, *write_embedder(before, each, advised))
    for each in tables:
        check_block(each.place, draft.resolve(each.place))


def _put_in_symbols(
    draft: Draft,
    tables: Sequence[Tables],
    raw: str | Path,
    output: str | Path,
    progress: Progress,
) -> SymbolTables | None:
    """Have the symbols of raw texts read from a file, if the embedder needs any."""
    (each,) = tables
    if each.embedder.symbol_width is None:
        return None
    attrs = check_attributes(draft.resolve(each.place)["attrs"])
    # the norms of raw texts are there, whoever may change them
    if set_later := [a for a in attrs if a in each.settable and a != "NORM"]:
        raise ValueError(
            f"[{each.place}] embeds {', '.join(set_later)}, which components ahead of "
            "it may set, but in the texts of --raw, whose symbols are counted, it is "
            "not set. Take it out of 'attrs', leave out --raw, or put in an embedder "
            "without symbols, such as multi_fewer_hash_embed (--embedder)."
        )
    examples = create_raw_texts_reader(path=Path(raw))(_make_tokenizer(draft))
    docs = progress(example.predicted for example in examples)
    counts = count_values(docs, attrs)
    return put_in_symbols(draft, each, counts, name_symbols(output))


def _describe_models(base: Base) -> str:
    models = find_architectures(base.config)
    found = "; ".join(f"{p}: {b['@architectures']}" for p, b in models.items())
    known = ", ".join([*REPLACED, *(d.architecture for d in get_descriptions())])
    is_bag = any("spacy.TextCatBOW" in b["@architectures"] for b in models.values())
    remedy = (
        " A bag of words is replaced without --embedder, --raw and --vectors, by a "
        "classifier of texts of ours."
    )
    return (
        f"'{base.path}' should have an embedder that ours can take the place of "
        f"({known}), but has none ({found[:500] or 'no model at all'})."
        f"{remedy if is_bag else ''}"
    )


def _read_corpus(
    draft: Draft,
    tables: Sequence[Tables],
    train: str | Path | None,
    progress: Progress,
) -> dict[str, Advice]:
    """Advise on embedders without weights, by their places, if there is a corpus."""
    if train is None:
        return {}
    nlp = _make_tokenizer(draft)
    n_entities = 0

    def read() -> Iterator[Doc]:
        nonlocal n_entities
        for example in read_examples(train, nlp):
            n_entities += len(example.reference.ents)
            yield example.predicted

    together = list(dict.fromkeys(attr for each in tables for attr in each.attrs))
    vocabulary = collect_vocabulary(progress(read()), together)
    if not len(vocabulary.words):
        raise ValueError(f"There is not a token in the corpus '{train}'.")
    if not n_entities:
        warn_of_recognizers(draft, train)
    return {
        each.place: advise(
            {"train": vocabulary},
            list(dict.fromkeys(each.attrs)),
            width=each.plain["width"],
            rows=list(zip(each.attrs, each.rows, strict=True)),
            settable=each.settable,
        )
        for each in tables
        if not each.is_pretrained
    }


def _check_corpus(draft: Draft, train: str | Path | None) -> None:
    """Check that there is a text in the corpus, if there is one."""
    if train is not None:
        first = next(iter(read_examples(train, _make_tokenizer(draft))), None)
        if first is None:
            raise ValueError(f"There is not a text in the corpus '{train}'.")


def _make_tokenizer(draft: Draft) -> Language:
    """Make the pipeline of a config without components."""
    settings = {**draft.config.interpolate()["nlp"], "pipeline": [], "disabled": []}
    settings |= {key: None for key in settings if key.endswith("creation")}
    try:
        return load_model_from_config({"nlp": settings}, auto_fill=True)
    except (TypeError, AttributeError) as error:
        raise ValueError(
            f"[nlp] should have what can be made, but {shorten(str(error), 200)}"
        ) from error
