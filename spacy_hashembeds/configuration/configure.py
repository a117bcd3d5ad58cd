"""Putting an embedder, and what belongs to it, into any config."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy.util import dot_to_object
from thinc.api import Config

from ..acceleration.conversion import find_architectures
from ..analysis.advice import Advice, advise
from ..architectures.embedders.descriptions import (
    EmbedderDescription,
    get_description,
    get_descriptions,
)
from .base import Base, read_base
from .draft import Change, Draft, check_block
from .embedders import EXPLAIN_DEFAULT, EXPLAIN_SMALL, write_embedder
from .models import (
    find_embedders,
    find_left,
    put_in_encoders,
    write_out_models,
    write_out_variables,
)
from .pretrained import check_pretrained, find_pretrained
from .replaced import REPLACED, find_attributes
from .scorer import put_in_scorer
from .surroundings import (
    complete_training,
    put_in_blas,
    put_in_ngram_counting,
    put_in_path,
    put_in_symbol_counting,
    warn_of_vectors,
)
from .text import edit_text
from .vocabulary import Progress, read_vocabulary


@dataclass(frozen=True)
class Configured:
    """A config with our functions in it."""

    #: Where it came from.
    base: Base
    #: The new config, with variables.
    config: Config
    #: The same as text: that of the base, with a comment at each change.
    text: str
    changes: list[Change]
    #: What the user should know of, a sentence or two each.
    warnings: list[str]
    #: Whether an embedder shall mix in vectors where the config names none.
    needs_vectors: bool


def configure(
    base: str | Path,
    *,
    embedder: str = "multi_fewer_hash_embed",
    train: str | Path | None = None,
    encoder: bool = True,
    blas: bool = True,
    scorer: bool = False,
    progress: Progress | None = None,
) -> Configured:
    """Put an embedder into any config in place of those that stand there.

    base (str | Path): The config: a `.cfg` file, or the folder or package of a saved
        pipeline. Components that are sourced or frozen keep their
        models.
    embedder (str): The embedder to put in, by the name of its description.
    train (str | Path, optional): The training corpus, a `.spacy` file or a folder of
        them, by which `analyze` advises attributes, hashes, `min_freq` and a lower
        limit for rows. Without it these stay as they are, or are the defaults.
    encoder (bool): Whether to put our encoder in the place of spaCy's.
    blas (bool): Whether the pipeline is to choose the fastest BLAS.
    scorer (bool): Whether to score seen and unseen entities apart.
    progress (Progress, optional): Wraps the docs of the corpus as they are read.
    RAISES (OSError): If there is no such config or corpus.
    RAISES (ValueError): If one can't be used, or what is asked for has no place in the
        config.
    RETURNS (Configured): The new config, and what was changed in it.
    """
    chosen = get_description(embedder)
    read = read_base(base)
    draft = Draft(read.config)
    for name, why in find_left(read.config).items():
        draft.warnings.append(f"[components.{name}] keeps its model: {why}.")
    write_out_variables(draft)
    write_out_models(draft)
    found = find_embedders(draft)
    if not found:
        raise ValueError(_describe_models(read))
    pretrained = find_pretrained(draft, found)
    check_pretrained(draft, {place: found[place] for place in pretrained}, chosen)
    advised = _advise(draft, found, chosen, train, progress)
    advice = {place: a for place, a in advised.items() if place not in pretrained}
    _put_in_embedders(draft, found, chosen, advice, pretrained)
    if encoder:
        put_in_encoders(draft)
    _put_in_counting(draft, found, chosen, advice)
    if blas:
        put_in_blas(draft)
    complete_training(draft)
    if train is not None:
        put_in_path(draft, train)
    if scorer:
        put_in_scorer(draft, train)
    needs_vectors = warn_of_vectors(draft, list(found))
    return Configured(
        base=read,
        config=draft.config,
        text=_edit_text(read, draft),
        changes=draft.changes,
        warnings=draft.warnings,
        needs_vectors=needs_vectors,
    )


def _edit_text(base: Base, draft: Draft) -> str:
    comments = {(change.section, change.key): change.why for change in draft.changes}
    try:
        return edit_text(base.text, base.config, draft.config, comments)
    except ValueError as error:
        raise ValueError(f"'{base.path}' can't be changed: {error}.") from error


def _describe_models(base: Base) -> str:
    models = find_architectures(base.config)
    found = "; ".join(f"{p}: {b['@architectures']}" for p, b in models.items())
    known = ", ".join([*REPLACED, *(d.architecture for d in get_descriptions())])
    return (
        f"'{base.path}' should have an embedder that ours can take the place of "
        f"({known}), but has none ({found or 'no model at all'})."
    )


def _advise(
    draft: Draft,
    found: Mapping[str, Mapping[str, Any]],
    embedder: EmbedderDescription,
    train: str | Path | None,
    progress: Progress | None,
) -> dict[str, Advice]:
    """Advise on each embedder, by its place, if there is a corpus to advise by."""
    for path, block in found.items():
        check_block(path, block)
    if train is None:
        return {}
    attrs = {
        path: find_attributes(path, block, embedder) for path, block in found.items()
    }
    together = list(dict.fromkeys(name for names in attrs.values() for name in names))
    vocabulary = read_vocabulary(train, draft.interpolate(), together, progress)
    return {
        path: advise({"train": vocabulary}, attrs[path], width=block["width"])
        for path, block in found.items()
    }


def _put_in_embedders(
    draft: Draft,
    found: Mapping[str, Mapping[str, Any]],
    embedder: EmbedderDescription,
    advice: Mapping[str, Advice],
    pretrained: Collection[str],
) -> None:
    for path, plain in found.items():
        raw, is_pretrained = draft.get(path), path in pretrained
        block, why = write_embedder(
            path, raw, plain, embedder, advice.get(path), is_pretrained=is_pretrained
        )
        draft.replace(path, block, why)
    config = draft.interpolate()
    for path in found:
        check_block(path, dot_to_object(config, path))


def _put_in_counting(
    draft: Draft,
    found: Mapping[str, Mapping[str, Any]],
    embedder: EmbedderDescription,
    advice: Mapping[str, Advice],
) -> None:
    """Have the training corpus counted for the embedder that was put in, if need be."""
    places = list(found)
    if embedder.symbol_width is not None:
        widths = {p: embedder.symbol_width(draft.resolve(p)) for p in places}
        waiting = [
            p for p in places if widths[p] and not draft.resolve(p).get("tables")
        ]
        put_in_symbol_counting(draft, waiting, *_choose_min_freq(advice, widths))
    else:
        known = [p for p, b in found.items() if embedder.is_named(b["@architectures"])]
        put_in_ngram_counting(draft, places, known)


def _choose_min_freq(
    advice: Mapping[str, Advice], widths: Mapping[str, int]
) -> tuple[int | None, str]:
    """Choose one `min_freq` for all embedders, and say why.

    advice (Mapping[str, Advice]): What is advised for the tables in some places.
    widths (Mapping[str, int]): For each place how many parameters a symbol has.
    """
    if not advice:
        return None, EXPLAIN_DEFAULT
    chosen = [a.lookup.min_freq for a in advice.values() if a.lookup is not None]
    if not chosen:
        return None, EXPLAIN_SMALL
    # the largest trains the rows for unknown symbols of all of them
    min_freq = max(chosen)
    sizes = [
        sum(option.rows) * widths[place]
        for place, found in advice.items()
        for option in found.lookup_options
        if option.min_freq == min_freq
    ]
    return min_freq, (
        "Advised for the training corpus: so most of its tokens have rows of their "
        "own, and some are left to train what all others have. The rows of symbols "
        f"have some {sum(sizes):,} parameters: a higher number gives fewer."
    )
