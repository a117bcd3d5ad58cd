"""Conversion of a pipeline in memory to our layers and components, with its weights.

A new pipeline is made from the converted config, and loads the data that the components
of the old one save. They save it to a temporary folder, not to bytes, from which
spaCy's rulers would not load all of their patterns.
"""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from thinc.api import Config, get_current_ops, set_current_ops
from tqdm.auto import tqdm  # type: ignore[import-untyped]

from ..arguments import check_pipeline
from ..components.tokenizer import QuickTokenizer
from ..training.annotation import walk_layers
from .accelerate import MAX_CHANGED, Acceleration, convert
from .blas import keeping_ops, use_fastest_blas
from .conversion import BLAS
from .doctor import describe_missing_kernels
from .timing import TITLES

#: Attributes that a copy shares with the original, or gets from the new config.
_NOT_COPIED = ("vocab", "tokenizer", "meta", "config")


@dataclass(kw_only=True)
class Accelerated(Acceleration):
    """An acceleration, and the new pipeline."""

    nlp: Language = field(repr=False)


def accelerate(
    nlp: Language,
    texts: Iterable[str | Doc] | None = None,
    *,
    precision: str | None = None,
    max_changed: float = MAX_CHANGED,
    blas: bool = True,
    rounds: int = 7,
    show_progress: bool = True,
) -> Accelerated:
    """Make a faster copy of a pipeline in memory, check it and time it.

    Saving the new pipeline gives the folder that `spacy hashembeds accelerate` writes.
    The new pipeline is returned only if it annotates all texts as the old one does, and
    if each converted layer gives the same vectors up to rounding.

    The old pipeline is not changed. Both pipelines share the vocab, a custom tokenizer,
    and components without a `to_disk`. During the conversion, components are saved to a
    temporary folder, and are in memory twice.

    nlp (Language): The trained pipeline, on CPU or GPU, outside of any memory zone. It
        annotates the texts itself, with the components that are enabled.
    texts (Iterable[str | Doc], optional): The texts to annotate; of Docs, only words,
        spaces and the features that the pipeline may read are used. By default texts
        are generated from known words.
    precision (str, optional): The precision of the products of window encoders:
        "float32", or, faster if the processor has instructions for it, "bfloat16" or
        "int8". The last two change predictions. "auto" chooses for each component the
        fastest that respects `max_changed`. By default the precision is kept.
    max_changed (float): The largest percentage of each kind of annotation that may
        change, ten times as much for entities, and the most points by which F1 may fall
        if texts are Docs with entities: all at the end of the 95 percent interval.
    blas (bool): Whether the new pipeline chooses the fastest BLAS, now and whenever it
        is loaded.
    rounds (int): The most rounds in which both pipelines are timed, in turns.
    show_progress (bool): Whether to show progress in a notebook or a terminal.
    RETURNS (Accelerated): The new pipeline, as `nlp`, and the report.
    RAISES (ValueError): If the pipeline can't be rebuilt, if annotations or vectors
        differ, or if more is changed than `max_changed` allows.
    """
    check_pipeline(nlp)
    if missing := describe_missing_kernels():
        warnings.warn(missing, stacklevel=2)
    if nlp.vocab.in_memory_zone:  # type: ignore[attr-defined]
        raise ValueError(
            "'nlp' is in a memory zone, which the new pipeline would outlive. Call "
            "this outside of `nlp.memory_zone()`."
        )
    # The thread's ops may be of another device: some notebooks reset them.
    ops = get_current_ops()
    others = (node.ops for _, node in walk_layers(nlp))
    ops = next((other for other in others if other.device_type != ops.device_type), ops)
    config = nlp.config.copy()

    def show(items: Iterable[Any], unit: str) -> Iterable[Any]:
        hide = None if show_progress else True  # None hides it without a terminal
        return tqdm(items, TITLES[unit], unit=f" {unit}", leave=False, disable=hide)

    with keeping_ops(), TemporaryDirectory() as made:
        set_current_ops(ops)
        with _explaining():
            nlp.to_disk(made, exclude=_NOT_COPIED)
        load = partial(_copy, nlp, Path(made))
        done, after = convert(
            nlp,
            config,
            load,
            partial(load, config),
            texts=texts,
            precision=precision,
            max_changed=max_changed,
            blas=blas,
            rounds=rounds,
            progress=show,
            only_known=True,
        )
    return Accelerated(**vars(done), nlp=after)


def _copy(nlp: Language, folder: Path, config: Config) -> Language:
    """Make a pipeline from a config and a folder to which its components were saved."""
    with _explaining():
        new = type(nlp).from_config(
            config.copy(), vocab=nlp.vocab, meta=deepcopy(nlp.meta), auto_fill=False
        )
        # rulers tokenize their patterns with the tokenizer
        tokenizer: Any = nlp.tokenizer
        if isinstance(new.tokenizer, QuickTokenizer) and type(tokenizer) is Tokenizer:
            tokenizer = QuickTokenizer.from_tokenizer(tokenizer)
        new.tokenizer = tokenizer
        new.from_disk(folder, exclude=_NOT_COPIED)
    # share components that can't be saved, as spaCy shares sourced components
    new._components = [
        (name, pipe if hasattr(pipe, "to_disk") else nlp.get_pipe(name))
        for name, pipe in new.components
    ]
    # copy attributes that neither the config nor the folder has
    new._path = None
    if config["nlp"]["batch_size"] == nlp.config["nlp"]["batch_size"]:  # not changed
        new.batch_size = nlp.batch_size
    new.max_length = nlp.max_length
    new.default_error_handler = nlp.default_error_handler
    pipes: Any = zip(nlp.components, new.components, strict=True)
    for (_, pipe), (_, new_pipe) in pipes:
        if hasattr(pipe, "error_handler"):
            new_pipe.error_handler = pipe.error_handler
    # the BLAS may have been chosen after layers were made
    layers = zip(walk_layers(nlp), walk_layers(new), strict=True)
    for (_, node), (_, new_node) in layers:
        new_node.ops = node.ops
    if config["nlp"].get("after_pipeline_creation") == {"@callbacks": BLAS}:
        use_fastest_blas(new)
    return new


@contextmanager
def _explaining() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise
    except Exception as error:  # components, also of other packages, may raise any
        raise ValueError(
            "'nlp' should be a pipeline that spaCy can save and make anew from "
            f"`nlp.config`, but can't be: {type(error).__name__}: {error} Change "
            "components through the config, such as with `nlp.replace_pipe`."
        ) from error
