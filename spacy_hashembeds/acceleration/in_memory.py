"""Conversion of a pipeline in memory to our layers and components, with its weights.

A new pipeline is made from the converted config, and loads what the components of the
old one save. They save it to a temporary folder: spaCy's rulers load all of their
patterns from there, but not from bytes.
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

#: Attributes that a copy shares with the original, or has of another config.
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
    """Make a faster pipeline of one in memory, check it and time it.

    Saved, the new pipeline is what `spacy hashembeds accelerate` would have written. It
    is returned only if it annotates all texts as the old one does, and each converted
    layer gives the same vectors, but for rounding.

    The old pipeline stays as it is. Both share the vocab, a tokenizer of yours, and
    components without a `to_disk`. Components are saved to a temporary folder
    meanwhile, and are in memory twice.

    nlp (Language): The trained pipeline, on CPU or GPU, outside of any memory zone. It
        annotates the texts itself, with the components that are enabled.
    texts (Iterable[str | Doc], optional): What to annotate, of Docs only the words and
        spaces. By default texts are made up, of words that the pipeline knows.
    precision (str, optional): That of the products of window encoders: "float32", or,
        faster where the processor has instructions for it, "bfloat16" or "int8". These
        change predictions. "auto" chooses for each component the fastest that changes
        no more than may be changed. By default it stays as it is.
    max_changed (float): How many percent of each kind of annotation they may change,
        ten times that of entities, and by how many points F1 may fall, where texts are
        Docs with entities: each to the end of its interval of 95 percent.
    blas (bool): Whether the new pipeline is to choose the fastest BLAS, now and
        whenever it is loaded.
    rounds (int): How often to time both pipelines, in turns, at most.
    show_progress (bool): Whether to show progress in a notebook or a terminal.
    RETURNS (Accelerated): The new pipeline, as `nlp`, and what was done.
    RAISES (ValueError): If it can't be made anew, something differs, or more is changed
        than may be.
    """
    check_pipeline(nlp)
    if missing := describe_missing_kernels():
        warnings.warn(missing, stacklevel=2)
    if nlp.vocab.in_memory_zone:  # type: ignore[attr-defined]
        raise ValueError(
            "'nlp' is in a memory zone, which the new pipeline would outlive. Call "
            "this outside of `nlp.memory_zone()`."
        )
    # Those of the thread may be of another device: some notebooks forget them.
    ops = get_current_ops()
    others = (node.ops for _, node in walk_layers(nlp))
    ops = next((other for other in others if other.device_type != ops.device_type), ops)
    config = nlp.config.copy()

    def show(items: Iterable[Any], unit: str) -> Iterable[Any]:
        hide = None if show_progress else True  # None: where there is no terminal
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
    """Make a pipeline anew from a folder that its components saved, and a config."""
    with _explaining():
        new = type(nlp).from_config(
            config.copy(), vocab=nlp.vocab, meta=deepcopy(nlp.meta), auto_fill=False
        )
        # rulers tokenize their patterns with it
        tokenizer: Any = nlp.tokenizer
        if isinstance(new.tokenizer, QuickTokenizer) and type(tokenizer) is Tokenizer:
            tokenizer = QuickTokenizer.from_tokenizer(tokenizer)
        new.tokenizer = tokenizer
        new.from_disk(folder, exclude=_NOT_COPIED)
    # what can't be copied is taken as it is, as spaCy takes sourced components
    new._components = [
        (name, pipe if hasattr(pipe, "to_disk") else nlp.get_pipe(name))
        for name, pipe in new.components
    ]
    # what neither the config nor a folder tells
    new._path = None
    if config["nlp"]["batch_size"] == nlp.config["nlp"]["batch_size"]:  # is no other
        new.batch_size = nlp.batch_size
    new.max_length = nlp.max_length
    new.default_error_handler = nlp.default_error_handler
    pipes: Any = zip(nlp.components, new.components, strict=True)
    for (_, pipe), (_, new_pipe) in pipes:
        if hasattr(pipe, "error_handler"):
            new_pipe.error_handler = pipe.error_handler
    # the BLAS may have been chosen since layers were made
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
    except Exception as error:  # of any component, some of them strangers
        raise ValueError(
            "'nlp' should be a pipeline that spaCy can save and make anew from "
            f"`nlp.config`, but can't be: {type(error).__name__}: {error} Change "
            "components through the config, such as with `nlp.replace_pipe`."
        ) from error
