"""Giving a saved pipeline our embedding layers, with its weights.

Weights load from spaCy's layers into ours, so a pipeline is converted by changing its
`config.cfg` alone. Every other file, of whichever component, is copied as it is.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config, get_current_ops, set_current_ops

from ..checks import check_items
from ..folders import replacing_folder
from ..loading import load_config, load_trained
from .blas import keeping_ops
from .conversion import (
    check_convertible,
    convert_config,
    find_convertible,
    find_unconvertible,
)
from .parity import LoadedPipeline, compare_pipelines, make_texts_for
from .replaceable import check_replaceable
from .result import Acceleration
from .timing import measure_speeds

#: Takes "texts" to compare or "rounds" to time, and which of them, and hands them on.
Progress = Callable[[Iterable[Any], str], Iterable[Any]]


def accelerate_folder(
    model: str | Path,
    output: str | Path,
    texts: Iterable[str | Doc] | None = None,
    *,
    blas: bool = True,
    force: bool = False,
    rounds: int = 7,
    progress: Progress = lambda items, title: items,
) -> Acceleration:
    """Convert a trained pipeline to our layers, check it, time it and save it.

    It is saved only if it annotates all texts as before, and each converted layer
    gives the same vectors, but for rounding. Layers that ours can't stand for stay.

    Texts that are made up have words that the pipeline does not know too. For `texts`,
    `blas` and `rounds`, see `in_memory.accelerate`.

    model (str | Path): The pipeline's package name or folder. It is not changed.
    output (str | Path): The folder to write. What is made of a package is a folder
        too: if the package brings code, import it before loading that.
    force (bool): Whether to replace a pipeline that is in `output` already, once the
        new one is complete.
    progress (Progress): Wraps the texts while they are compared, and the rounds.
    RAISES (OSError): If there is no such pipeline, or `output` is not to be replaced.
    RAISES (ValueError): If nothing can be converted, or the pipelines differ.
    """
    if texts is not None:
        check_items("strings or Docs", texts=texts)
    output = Path(output)
    with keeping_ops() as ops:

        def load(path: str | Path) -> Language:
            # a pipeline loaded before may have chosen a BLAS for the whole process
            set_current_ops(ops)
            return load_trained(path)

        before = LoadedPipeline(load(model), get_current_ops())
        source = _find_source(before.nlp, model, output)
        config = load_config(source / "config.cfg")
        check_convertible(config, model)
        check = partial(check_replaceable, output, source, force=force)
        with replacing_folder(output, check) as folder:
            _copy_folder(source, folder)
            new_config = convert_config(config, blas=blas)
            new_config.to_disk(folder / "config.cfg", interpolate=False)
            return compare(
                before,
                LoadedPipeline(load(folder), get_current_ops()),
                make_texts_for(before) if texts is None else texts,
                {"before": partial(load, model), "after": partial(load, folder)},
                config=config,
                blas=blas,
                rounds=rounds,
                progress=progress,
            )


def compare(
    before: LoadedPipeline,
    after: LoadedPipeline,
    texts: Iterable[str | Doc],
    loaders: Mapping[str, Callable[[], Language]],
    *,
    config: Config,
    blas: bool,
    rounds: int,
    progress: Progress = lambda items, title: items,
) -> Acceleration:
    """Check that a pipeline and what was made of it agree, and time both.

    loaders (Mapping[str, Callable[[], Language]]): Load "before" and "after" anew, to
        time them.
    config (Config): That of the pipeline as it was.
    """
    parity = compare_pipelines(before, after, progress(texts, "texts"))
    speeds = measure_speeds(
        loaders,
        parity.sample,
        rounds=rounds,
        progress=lambda rounds: progress(rounds, "rounds"),
    )
    return Acceleration(
        converted=find_convertible(config),
        left=find_unconvertible(config, blas=blas),
        texts=parity.texts,
        tokens=parity.tokens,
        unchecked=parity.unchecked,
        max_relative_diff=parity.max_relative_diff,
        words_per_second={name: speed.median for name, speed in speeds.items()},
    )


def _find_source(nlp: Language, model: str | Path, output: Path) -> Path:
    """Find the pipeline's folder, if `output` may be written without harm to it."""
    if nlp.path is None:
        raise ValueError(f"'{model}' should be a saved pipeline, but has no folder.")
    source, target = (Path(os.path.realpath(path)) for path in (nlp.path, output))
    if source == target or source in target.parents or target in source.parents:
        raise ValueError(
            f"The new pipeline can't be saved to '{output}': the old one is in "
            f"'{source}', and stays as it is. Name a folder elsewhere."
        )
    return source


def _copy_folder(source: Path, target: Path) -> None:
    """Copy files without their modes: those of a package may be read-only."""
    for folder, _, names in os.walk(source, followlinks=True):
        place = target / Path(folder).relative_to(source)
        place.mkdir()
        for name in names:
            shutil.copyfile(Path(folder) / name, place / name)
