"""Giving a saved pipeline our layers and components: they load what spaCy's have saved,
so that its `config.cfg` alone is changed. Every other file is copied as it is.
"""

import os
import shutil
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from filecmp import cmp
from functools import partial
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config, get_current_ops, set_current_ops

from ..checks import check_choice
from ..display import Part, Sentence, Shown, Table
from ..evaluation.tasks import list_classes
from ..files import read_json, replacing_folder
from ..inputs import check_items
from ..kernels.quantized import PRECISIONS
from ..loading import load_config, load_trained
from .blas import keeping_ops
from .changes import ChangeCounter, Changes
from .components import find_irreplaceable, find_replacements
from .conversion import (
    check_convertible,
    convert_config,
    find_convertible,
    find_unconvertible,
)
from .machine import find_disturbances, watch_machine
from .parity import (
    TOLERANCE,
    LoadedPipeline,
    compare_pipelines,
    find_precisions,
    make_texts_for,
)
from .timing import measure_components, measure_speeds

#: What spaCy saves beside the components, in files or folders of these names.
_SAVED = {"config.cfg", "meta.json", "tokenizer", "vocab"}
#: What its own components save in theirs, and the vocab.
_SAVED_BELOW = {
    *("cfg", "contents", "key2row", "lookups.bin", "model", "moves", "patterns"),
    *("patterns.jsonl", "strings.json", "vectors", "vectors.cfg"),
}

#: How much fewer bits may change, in percent: see `Changes.check`.
MAX_CHANGED = 0.5

#: Takes "texts" to compare or "rounds" to time, and which of them, and hands them on.
Progress = Callable[[Iterable[Any], str], Iterable[Any]]


@dataclass(frozen=True)
class Acceleration(Shown):
    """What was done to a pipeline, and what came of it."""

    #: Where the layers and components stand in the config that were converted.
    converted: list[str]
    #: Where something stands that had to be left as it was, and why.
    left: dict[str, str]
    #: How many texts and tokens both pipelines annotated alike.
    texts: int
    tokens: int
    #: Components whose converted layers were not compared: never initialised, they
    #: have no weights.
    unchecked: list[str]
    #: The largest difference between outputs of a layer before and after, as a share
    #: of the largest output (or of 1).
    max_relative_diff: float
    #: Tokens a second in `nlp.pipe`, "before" and "after", medians of rounds ...
    words_per_second: dict[str, float]
    #: ... and their quartiles.
    words_per_second_quartiles: dict[str, tuple[float, float]]
    #: Microseconds a word of each component, "before" and "after", timed once.
    component_times: dict[str, dict[str, float]]
    #: What speaks against these timings.
    disturbances: list[str]
    #: What products are computed of, but for float32, and were before.
    kept_precisions: list[str]
    #: What is annotated otherwise, where products are, or were, not of float32.
    changes: Changes | None = None

    def get_parts(self) -> Iterator[Part]:
        """Say what was converted, what was not, that it is the same, and how fast."""
        for place in self.converted:
            yield Sentence(f"Converted {place}", "info")
        for place, reason in self.left.items():
            yield Sentence(f"Left {place} as it is: {reason}", "warn")
        for name in self.unchecked:
            yield Sentence(
                f"Converted '{name}' without comparing its vectors: it was never "
                "initialised, and has no weights",
                "warn",
            )
        in_float32 = "" if self.changes is None else ", in float32"
        yield Sentence(
            f"Same predictions on {self.texts:,} texts ({self.tokens:,} tokens)"
            f"{in_float32}",
            "good",
        )
        yield Sentence(
            f"Largest difference between vectors: {self.max_relative_diff:.3g} of the "
            f"largest number (up to {TOLERANCE:g} may be rounding)"
        )
        for precision in self.kept_precisions:
            yield Sentence(
                f"Products of {precision} stay so (--precision, or 'precision' in "
                "Python, changes that)",
                "info",
            )
        if self.changes is not None:
            yield from self.changes.get_parts()
        before, after = self.words_per_second.values()
        rows = [
            (name.title(), f"{self.words_per_second[name]:,.0f}", f"{a:,.0f}..{b:,.0f}")
            for name, (a, b) in self.words_per_second_quartiles.items()
        ]
        rows.append(("Ratio", f"{after / before:.2f}", ""))
        yield Table(None, None, ("", "Words/s", "Quartiles"), rows)
        yield self._make_component_table()
        for disturbance in self.disturbances:
            yield Sentence(f"The timings were disturbed. {disturbance}", "warn")

    def _make_component_table(self) -> Table:
        before, after = self.component_times.values()
        rows = [
            (name, f"{before[name]:.1f}", f"{after[name]:.1f}")
            for name in sorted(after, key=after.__getitem__, reverse=True)
        ]
        legend = "Microseconds a word, by enabled component, slowest first, timed once:"
        return Table(None, legend, ("Component", "Before", "After"), rows)


def accelerate_folder(
    model: str | Path,
    output: str | Path,
    texts: Iterable[str | Doc] | None = None,
    *,
    precision: str | None = None,
    max_changed: float = MAX_CHANGED,
    blas: bool = True,
    force: bool = False,
    rounds: int = 7,
    progress: Progress = lambda items, title: items,
) -> Acceleration:
    """Convert a saved pipeline, as `in_memory.accelerate` does one in memory, and save
    it to a folder once it was checked. Texts that are made up have unknown words too.
    If a package brings code, that is to be imported before the folder is loaded.
    """
    check_arguments(texts, precision, max_changed)
    output = Path(output)
    with keeping_ops() as ops:

        def load(path: str | Path) -> Language:
            # a pipeline loaded before may have chosen a BLAS for the whole process
            set_current_ops(ops)
            return load_trained(path)

        before = LoadedPipeline(load(model), get_current_ops())
        source = _find_source(before.nlp, model, output)
        config = load_config(source / "config.cfg")
        factories = find_replacements(before.nlp, config)
        check_convertible(config, model, precision, factories)
        check = partial(check_replaceable, output, source, force=force)
        with replacing_folder(output, check) as folder:
            _copy_folder(source, folder)
            new_config = convert_config(
                config, blas=blas, precision=precision, factories=factories
            )
            new_config.to_disk(folder / "config.cfg", interpolate=False)
            return compare(
                before,
                LoadedPipeline(load(folder), get_current_ops()),
                make_texts_for(before) if texts is None else texts,
                {"before": partial(load, model), "after": partial(load, folder)},
                config=config,
                factories=factories,
                precision=precision,
                max_changed=max_changed,
                blas=blas,
                rounds=rounds,
                progress=progress,
            )


def check_arguments(
    texts: Iterable[str | Doc] | None, precision: str | None, max_changed: float
) -> None:
    """Check what a pipeline is to be compared on, and what may change."""
    if texts is not None:
        check_items("strings or Docs", texts=texts)
    if precision is not None:
        check_choice(PRECISIONS, precision=precision)
    is_number = type(max_changed) in (int, float)
    if not is_number or not 0 <= max_changed <= 100:
        raise (ValueError if is_number else TypeError)(
            f"'max_changed' should be a percentage, 0 to 100, but is {max_changed!r}."
        )


def compare(
    before: LoadedPipeline,
    after: LoadedPipeline,
    texts: Iterable[str | Doc],
    loaders: Mapping[str, Callable[[], Language]],
    *,
    config: Config,
    factories: Mapping[str, str],
    precision: str | None,
    max_changed: float,
    blas: bool,
    rounds: int,
    progress: Progress = lambda items, title: items,
) -> Acceleration:
    """Check that two pipelines agree, `before` with this config, of which `factories`
    were replaced, and time both.
    """
    old, new = find_precisions(before.nlp), find_precisions(after.nlp)
    counter = ChangeCounter(list_classes(before.nlp)) if old | new else None
    parity = compare_pipelines(before, after, progress(texts, "texts"), counter)
    changes = None
    if counter is not None:
        changes = counter.summarize()
        changes.check(max_changed)
    with watch_machine() as machine:
        speeds = measure_speeds(
            loaders,
            parity.sample,
            rounds=rounds,
            progress=lambda rounds: progress(rounds, "rounds"),
        )
        component_times = {
            name: measure_components(load(), parity.sample)
            for name, load in loaders.items()
        }
    return Acceleration(
        converted=[
            *find_convertible(config, precision),
            *(f"components.{name}" for name in factories),
        ],
        left=find_unconvertible(config, blas=blas) | find_irreplaceable(before.nlp),
        texts=parity.texts,
        tokens=parity.tokens,
        unchecked=parity.unchecked,
        max_relative_diff=parity.max_relative_diff,
        words_per_second={name: speed[0] for name, speed in speeds.items()},
        words_per_second_quartiles={name: speed[1] for name, speed in speeds.items()},
        component_times=component_times,
        disturbances=find_disturbances(machine, speeds),
        kept_precisions=sorted(old & new),
        changes=changes,
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


def check_replaceable(output: Path, source: Path, *, force: bool) -> None:
    """Refuse to replace more than copies of the source, and with `force` a pipeline."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    if not force:
        raise FileExistsError(
            f"There is something in '{output}' already. Name another folder, or ask "
            "for it to be replaced (--force)."
        )
    config = _read(load_config, output / "config.cfg")
    meta = _read(read_json, output / "meta.json")
    found = {"config.cfg": "nlp" in config, "meta.json": "spacy_version" in meta}
    for name, is_own in found.items():
        if not is_own:
            raise FileExistsError(
                f"'{output}' should be a pipeline to replace, but has no {name} of "
                "spaCy's. Name another folder, or remove it yourself."
            )
    own = {*_SAVED, *config.get("components", {})}
    if foreign := sorted(_find_foreign(output, source, own)):
        more = f" and {len(foreign) - 5} more" if len(foreign) > 5 else ""
        raise FileExistsError(
            f"'{output}' should hold nothing but the pipeline to replace, but also "
            f"holds {', '.join(foreign[:5])}{more}. Name another folder, or "
            "move that elsewhere."
        )


def _read(read: Callable[[Path], dict[str, Any]], path: Path) -> dict[str, Any]:
    try:
        return read(path)
    except (OSError, ValueError):
        return {}


def _find_foreign(folder: Path, source: Path, own: Container[str]) -> Iterator[str]:
    """Find what neither spaCy saves, nor its components, nor the source has."""
    for path in folder.iterdir():
        if path.name not in own:
            if not _is_copy(path, source / path.name):
                yield path.name
        elif path.is_dir():
            for below in path.rglob("*"):
                name = below.relative_to(folder)
                is_known = below.name in _SAVED_BELOW or (source / name).is_file()
                if not below.is_dir() and not is_known:
                    yield str(name)


def _is_copy(path: Path, original: Path) -> bool:
    if path.is_dir():
        return original.is_dir() and all(
            _is_copy(inside, original / inside.name) for inside in path.iterdir()
        )
    # os.stat of a link to nothing fails
    return original.is_file() and path.is_file() and cmp(path, original, shallow=False)
