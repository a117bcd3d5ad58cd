"""Convert a pipeline in memory to our layers and components.

The new pipeline loads a temporary folder, to which the old one is saved. spaCy's rulers
would not load all of their patterns from bytes.
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
from .accelerate import MAX_CHANGED, AccelerationReport, convert
from .blas import keeping_ops, use_fastest_blas
from .conversion import BLAS
from .doctor import describe_missing_kernels
from .timing import TITLES

#: Attributes that the copy shares or takes from the new config.
_NOT_COPIED = ("vocab", "tokenizer", "meta", "config")


@dataclass(kw_only=True)
class Accelerated(AccelerationReport):
    """Report of a conversion, and the new pipeline."""

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

    The new pipeline is returned only if all annotation equals the old pipeline's, and
    the vectors of each converted layer up to rounding. It saves the same folder that
    `spacy hashembeds accelerate` writes. `meta` is copied, including the name:
    `spacy package --name` sets another.

    The old pipeline is not changed. Both pipelines share the vocab, a custom tokenizer,
    and components without `to_disk`. The conversion needs memory for two copies of the
    components, and a temporary folder.

    nlp (Language): The trained pipeline, on CPU or GPU, not in a memory zone. Only
        enabled components annotate the texts.
    texts (Iterable[str | Doc], optional): Texts to compare and time on. Docs supply
        only words, spaces and the features that the pipeline reads. Default: texts
        generated from words in the vocab.
    precision (str, optional): Precision of the matrix products of window encoders:
        "float32"; "bfloat16" or "int8", which are faster on processors that support
        them (see `spacy hashembeds doctor`), and change predictions; or "auto", the
        fastest for each component within `max_changed`. Default: the current precision.
    max_changed (float): Maximum percentage of each kind of annotation that a lower
        precision may change (ten times as much for entities), and maximum fall of F1 in
        points, if texts are Docs with entities. The limits apply to the bounds of 95
        percent intervals.
    blas (bool): Choose the fastest BLAS, now and whenever the new pipeline is loaded.
    rounds (int): Maximum number of rounds of timing, in which both pipelines alternate.
    show_progress (bool): Show progress in a notebook or a terminal.
    RETURNS (Accelerated): The new pipeline, as `nlp`, and the report.
    RAISES (ValueError): If the pipeline can't be rebuilt, annotation or vectors differ,
        or changes exceed `max_changed`.
    """
    check_pipeline(nlp)
    if missing := describe_missing_kernels():
        warnings.warn(missing, stacklevel=2)
    # the thread's ops may be on another device: some notebooks reset them
    ops = get_current_ops()
    others = (node.ops for _, node in walk_layers(nlp))
    ops = next((other for other in others if other.device_type != ops.device_type), ops)
    config = nlp.config.copy()

    def show(items: Iterable[Any], unit: str) -> Iterable[Any]:
        hide = None if show_progress else True  # None: hidden unless in a terminal
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
    """Create a pipeline from a config and a folder with saved components."""
    with _explaining():
        new = type(nlp).from_config(
            config.copy(), vocab=nlp.vocab, meta=deepcopy(nlp.meta), auto_fill=False
        )
        # before loading: rulers tokenize their patterns
        tokenizer: Any = nlp.tokenizer
        if isinstance(new.tokenizer, QuickTokenizer) and type(tokenizer) is Tokenizer:
            tokenizer = QuickTokenizer.from_tokenizer(tokenizer)
        new.tokenizer = tokenizer
        new.from_disk(folder, exclude=_NOT_COPIED)
    # share components that can't be saved
    new._components = [
        (name, pipe if hasattr(pipe, "to_disk") else nlp.get_pipe(name))
        for name, pipe in new.components
    ]
    # copy attributes that are neither in the config nor in the folder
    new._path = None
    if config["nlp"]["batch_size"] == nlp.config["nlp"]["batch_size"]:  # not changed
        new.batch_size = nlp.batch_size
    new.max_length = nlp.max_length
    new.default_error_handler = nlp.default_error_handler
    pipes: Any = zip(nlp.components, new.components, strict=True)
    for (_, pipe), (_, new_pipe) in pipes:
        if hasattr(pipe, "error_handler"):
            new_pipe.error_handler = pipe.error_handler
    # ops may have changed after layers were created
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
    except Exception as error:  # of any kind, from any component
        raise ValueError(
            "'nlp' should be a pipeline that spaCy can save and rebuild from "
            f"`nlp.config`, but this fails: {type(error).__name__}: {error} Change "
            "components through the config, such as with `nlp.replace_pipe`."
        ) from error
