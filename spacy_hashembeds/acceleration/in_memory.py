"""Giving a pipeline in memory our embedding layers, with its weights.

A new pipeline is made from the converted config, and loads what the components of the
old one save. They save it to a temporary folder: spaCy's rulers load all of their
patterns from there, but not from bytes.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from spacy.language import Language, PipeCallable
from spacy.tokens import Doc
from thinc.api import Config, Model, Ops, get_current_ops, set_current_ops

from ..checks import check_integers, check_pipeline, check_types
from ..folders import temporary_folder
from .accelerate import check_convertible, check_texts, compare, keeping_ops
from .blas import use_fastest_blas
from .conversion import BLAS, convert_config
from .parity import LoadedPipeline, has_weights, make_texts_for
from .result import Acceleration

#: What a copy shares with the original, or has of another config.
_NOT_COPIED = ("vocab", "tokenizer", "meta", "config")

#: The layers with weights in what ours can replace. Strangers may do without any.
_REPLACED = ("hashembed", "maxout")


def accelerate(
    nlp: Language,
    texts: Iterable[str | Doc] | None = None,
    *,
    blas: bool = True,
    rounds: int = 7,
) -> Acceleration:
    """Make a faster pipeline of one in memory, check it and time it.

    The counterpart of `spacy hashembeds accelerate`. The new pipeline is given back
    only if it annotates all texts as the old one does, and each converted layer gives
    the same vectors, all but for rounding. Layers that ours can't stand for are left as
    they are. Saved, it is what the command would have written.

    The old pipeline stays as it is. Both share the vocab, with its vectors, and the
    tokenizer, and components that can't be copied, having no `to_disk`. The others are
    copied: what they don't save is not in the copy, and where it shows in what they
    annotate, there is an error. It takes the place that the components take on disk,
    in a temporary folder, and twice their place in memory.

    nlp (Language): The pipeline, trained, on CPU or GPU, outside of any memory zone.
        It annotates the texts itself, with the components that are enabled.
    texts (Iterable[str | Doc], optional): What to annotate; only the words and spaces
        of Docs are taken, and all are read: they must come to an end. Without any,
        texts are made up, of words that the pipeline knows, and an empty one if it
        takes that.
    blas (bool): Whether the new pipeline is to choose the fastest BLAS, now and
        whenever it is loaded.
    rounds (int): How often to time both pipelines, in turns.
    RAISES (OSError): If the temporary folder can't be written.
    RAISES (TypeError): If an argument is of another type.
    RAISES (ValueError): If `rounds` is below 1, if nothing can be converted, if the
        pipeline can't be made anew, or if the new one differs.
    RETURNS (Acceleration): The new pipeline, as `nlp`, and what was done.
    """
    check_pipeline(nlp)
    check_texts(texts)
    check_types(bool, "True or False", blas=blas)
    check_types(int, "an integer", rounds=rounds)
    check_integers(1, rounds=rounds)
    _check_state(nlp)
    with keeping_ops(), temporary_folder() as folder:
        config = nlp.config.copy()
        check_convertible(config, "nlp")
        original = _Original(nlp, folder)
        before = LoadedPipeline(nlp, original.ops)
        new_config = convert_config(config, blas=blas)
        after = LoadedPipeline(original.copy(new_config), get_current_ops())
        done = compare(
            before,
            after,
            make_texts_for(before, only_known=True) if texts is None else texts,
            {
                "before": partial(original.copy, config),
                "after": partial(original.copy, new_config),
            },
            config=config,
            blas=blas,
            rounds=rounds,
        )
    return replace(done, nlp=after.nlp)


def _check_state(nlp: Language) -> None:
    if nlp.vocab.in_memory_zone:  # type: ignore[attr-defined]
        raise ValueError(
            "'nlp' is in a memory zone, which the new pipeline would outlive. Call "
            "this outside of `nlp.memory_zone()`."
        )
    for name, node in _walk(nlp):
        is_ours_to_replace = node.name in _REPLACED and name in nlp.pipe_names
        if is_ours_to_replace and not has_weights(node):
            raise ValueError(
                f"'nlp' should be a trained pipeline, but its component '{name}' was "
                "never initialised. Train it (`nlp.initialize`, `nlp.update`), or "
                "disable it."
            )


class _Original:
    """A pipeline that others are made of."""

    def __init__(self, nlp: Language, folder: Path) -> None:
        self._nlp, self._folder = nlp, folder
        #: Thinc's ops for new layers.
        self.ops = _find_ops(nlp)
        with _saying_what_fails():
            nlp.to_disk(folder, exclude=_NOT_COPIED)

    def copy(self, config: Config) -> Language:
        """Make the pipeline anew from a config with layers of the same structure.

        RAISES (ValueError): If it can't be.
        """
        set_current_ops(self.ops)
        nlp = self._nlp
        with _saying_what_fails():
            meta = deepcopy(nlp.meta)
            new = type(nlp).from_config(
                config.copy(), vocab=nlp.vocab, meta=meta, auto_fill=False
            )
            new.tokenizer = nlp.tokenizer  # rulers tokenize their patterns with it
            new.from_disk(self._folder, exclude=_NOT_COPIED)
        new._components = [_share_if_needed(nlp, *named) for named in new.components]
        _copy_settings(nlp, new)
        _copy_ops(nlp, new)
        if config["nlp"].get("after_pipeline_creation") == {"@callbacks": BLAS}:
            use_fastest_blas(new)
        return new


def _find_ops(nlp: Language) -> Ops:
    """Find the ops of the device that a pipeline is on.

    Those of the thread may be of another: some notebooks forget them between cells.
    """
    ops = get_current_ops()
    for _, node in _walk(nlp):
        if node.ops.device_type != ops.device_type:
            return node.ops
    return ops


def _walk(nlp: Language) -> Iterator[tuple[str, Model]]:
    for name, pipe in nlp.components:
        model = getattr(pipe, "model", None)
        for node in model.walk() if isinstance(model, Model) else ():
            yield name, node


def _copy_settings(old: Language, new: Language) -> None:
    """Copy what neither the config nor a folder tells."""
    new._path = None
    new.batch_size, new.max_length = old.batch_size, old.max_length
    new.default_error_handler = old.default_error_handler
    for name, pipe in old.components:
        if hasattr(pipe, "error_handler"):
            new_pipe: Any = new.get_pipe(name)
            new_pipe.error_handler = pipe.error_handler


def _copy_ops(old: Language, new: Language) -> None:
    """Leave layers on the BLAS that somebody has put them on since they were made."""
    for (_, node), (_, new_node) in zip(_walk(old), _walk(new), strict=True):
        new_node.ops = node.ops


def _share_if_needed(
    old: Language, name: str, new_pipe: PipeCallable
) -> tuple[str, PipeCallable]:
    """Take what can't be copied as it is, as spaCy takes sourced components."""
    return name, new_pipe if hasattr(new_pipe, "to_disk") else old.get_pipe(name)


@contextmanager
def _saying_what_fails() -> Iterator[None]:
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
