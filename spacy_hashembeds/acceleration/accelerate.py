"""Giving a saved pipeline our layers and components: they load what spaCy's have saved,
so that its `config.cfg` alone is changed. Every other file is copied as it is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config, get_current_ops, set_current_ops

from ..checks import check_choice, check_integers, check_types, show
from ..display import Part, Sentence, Shown, Table
from ..evaluation.tasks import list_classes
from ..files import replacing_folder
from ..inputs import check_items
from ..kernels.convolution import PRECISIONS
from ..loading import load_config, load_trained
from .blas import keeping_ops
from .changes import ChangeCounter, Changes, can_tell
from .components import find_irreplaceable, find_replacements, is_tokenizer_replaceable
from .conversion import (
    AUTO,
    Precision,
    check_convertible,
    convert_config,
    find_batch_size,
    find_convertible,
    find_unconvertible,
)
from .folders import check_replaceable, copy_folder, find_source
from .machine import find_disturbances, watch_machine
from .parity import (
    TOLERANCE,
    LoadedPipeline,
    compare_pipelines,
    find_precisions,
    make_texts_for,
)
from .precision import ChosenPrecision, choose_precisions
from .timing import Progress, measure_components, measure_speeds

#: The longest bar of a component's time, in characters.
_BAR = 30

#: How much fewer bits may change, in percent: see `Changes.check`.
MAX_CHANGED = 0.5


@dataclass(frozen=True)
class Acceleration(Shown):
    """Conversion of a pipeline: places, parity, speed and changes."""

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
    #: The precision of each component, where it was to be chosen.
    chosen: list[ChosenPrecision] = field(default_factory=list)

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
        for each in self.chosen:
            yield Sentence(str(each), "info")
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
        longest = max(*before.values(), *after.values())

        def draw(name: str) -> str:
            n, m = (ceil(_BAR * took[name] / longest) for took in (after, before))
            return "#" * n + "." * (m - n)

        rows = [
            (name, f"{before[name]:.1f}", f"{after[name]:.1f}", draw(name))
            for name in sorted(after, key=after.__getitem__, reverse=True)
        ]
        legend = (
            "Microseconds a word, by enabled component, slowest first, timed once "
            "(. is what is gone):"
        )
        return Table(None, legend, ("Component", "Before", "After", ""), rows, "lrrl")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Options of a conversion, of its comparison and its timing: as
    `in_memory.accelerate` says.
    """

    texts: Iterable[str | Doc] | None = None
    precision: str | None = None
    max_changed: float = MAX_CHANGED
    blas: bool = True
    rounds: int = 7
    progress: Progress = lambda items, title: items

    def __post_init__(self) -> None:
        if self.texts is not None:
            check_items("strings or Docs", texts=self.texts)
        if self.precision is not None:
            check_choice((*PRECISIONS, AUTO), precision=self.precision)
        is_number = type(self.max_changed) in (int, float)
        if not is_number or not 0 <= self.max_changed <= 100:
            raise (ValueError if is_number else TypeError)(
                "'max_changed' should be a percentage, 0 to 100, but is "
                f"{self.max_changed!r}."
            )
        check_types(bool, "True or False", blas=self.blas)
        check_types(int, "an integer", rounds=self.rounds)
        check_integers(1, rounds=self.rounds)


def accelerate_folder(
    model: str | Path,
    output: str | Path,
    texts: Iterable[str | Doc] | None = None,
    *,
    force: bool = False,
    **settings: Any,
) -> Acceleration:
    """Convert a saved pipeline, as `in_memory.accelerate` does one in memory, and save
    it to a folder once it was checked. Texts that are made up have unknown words too.
    If a package brings code, that is to be imported before the folder is loaded.

    settings (Any): Others of `Settings`.
    """
    checked, output = Settings(texts=texts, **settings), Path(output)
    loaded: list[str | Path] = []
    with keeping_ops() as ops:

        def load(path: str | Path) -> Language:
            # a pipeline loaded before may have chosen a BLAS for the whole process
            set_current_ops(ops)
            with catch_warnings():
                if loaded:
                    simplefilter("ignore")  # said once
                loaded.append(path)
                return load_trained(path)

        before = LoadedPipeline(load(model), get_current_ops())
        source = find_source(before.nlp, model, output)
        check = partial(check_replaceable, output, source, force=force)
        config = load_config(source / "config.cfg")
        conversion = Conversion(before, config, model, checked)
        with replacing_folder(output, check) as folder:
            copy_folder(source, folder)

            def load_with(config: Config) -> Language:
                config.to_disk(folder / "config.cfg", interpolate=False)
                return load(folder)

            return conversion.run(load_with, partial(load, model))[0]


def _check_text(text: Any) -> str | Doc:
    if not isinstance(text, str | Doc):
        raise TypeError(f"'texts' should hold strings or Docs, but holds {show(text)}.")
    return text


class Conversion:
    """A pipeline, `before`, whose layers and components are to be replaced by ours.

    config (Config): That of the pipeline.
    name (object): What errors call it.
    RAISES (ValueError): If there is nothing to convert.
    """

    def __init__(
        self, before: LoadedPipeline, config: Config, name: object, settings: Settings
    ) -> None:
        self.before, self.config, self.settings = before, config, settings
        self.factories = find_replacements(before.nlp, config)
        self.tokenizer = is_tokenizer_replaceable(before.nlp, config)
        self.batch_size = find_batch_size(before.nlp)
        self.left = find_irreplaceable(before.nlp)
        check_convertible(config, name, settings.precision, self.factories, self.left)

    def run(
        self,
        load: Callable[[Config], Language],
        load_before: Callable[[], Language],
        *,
        only_known: bool = False,
    ) -> tuple[Acceleration, LoadedPipeline]:
        """Convert it, check that both pipelines agree, and time them.

        load (Callable): Makes a pipeline of its weights and another config.
        load_before (Callable): Loads it anew as it is.
        only_known (bool): Whether texts that are made up have words it knows alone.
        RAISES (ValueError): If something differs, or more than may.
        RETURNS (Tuple[Acceleration, LoadedPipeline]): What was done, and the new one.
        """
        texts = self.settings.texts
        if texts is None:
            texts = make_texts_for(self.before, only_known=only_known)
        precision: Precision = self.settings.precision
        chosen: list[ChosenPrecision] = []
        if precision == AUTO:
            texts = [*map(_check_text, texts)]
            chosen = choose_precisions(
                self.before,
                LoadedPipeline(load(self._convert(None)), get_current_ops()),
                texts,
                self.settings.max_changed,
                self.settings.progress,
            )
            precision = {each.component: each.precision for each in chosen}
        load_after = partial(load, self._convert(precision))
        after = LoadedPipeline(load_after(), get_current_ops())
        loaders: dict[str, Callable[[], Language]] = {
            "before": load_before,
            "after": load_after,
        }
        return self._compare(after, texts, loaders, precision, chosen), after

    def _convert(self, precision: Precision) -> Config:
        return convert_config(
            self.config,
            blas=self.settings.blas,
            batch_size=self.batch_size,
            precision=precision,
            factories=self.factories,
            tokenizer=self.tokenizer,
        )

    def _compare(
        self,
        after: LoadedPipeline,
        texts: Iterable[str | Doc],
        loaders: Mapping[str, Callable[[], Language]],
        precision: Precision,
        chosen: list[ChosenPrecision],
    ) -> Acceleration:
        before, settings = self.before, self.settings
        old, new = find_precisions(before.nlp), find_precisions(after.nlp)
        counter = ChangeCounter(list_classes(before.nlp)) if old | new else None
        counted = settings.progress(texts, "texts")
        checked = map(_check_text, counted)
        parity = compare_pipelines(before, after, checked, counter)
        changes = None
        if counter is not None:
            changes = counter.summarize()
            changes.check(settings.max_changed)
        if new - old and not can_tell(parity.tokens, settings.max_changed):
            raise ValueError(
                f"{parity.tokens:,} tokens are too few to tell whether a precision of "
                f"fewer bits changes more than {settings.max_changed:g} percent. Give "
                "more texts (--text, or 'texts' in Python), or let more be changed "
                "(--max-changed, or 'max_changed' in Python)."
            )
        with watch_machine() as machine:
            speeds = measure_speeds(
                loaders,
                parity.sample,
                rounds=settings.rounds,
                progress=lambda rounds: settings.progress(rounds, "rounds"),
            )
            component_times = {
                name: measure_components(load(), parity.sample)
                for name, load in loaders.items()
            }
        return Acceleration(
            converted=[
                *find_convertible(self.config, precision),
                *(f"components.{name}" for name in self.factories),
                *(["nlp.tokenizer"] if self.tokenizer else []),
                *([] if self.batch_size is None else ["nlp.batch_size"]),
            ],
            left=find_unconvertible(self.config, blas=settings.blas) | self.left,
            texts=parity.texts,
            tokens=parity.tokens,
            unchecked=parity.unchecked,
            max_relative_diff=parity.max_relative_diff,
            words_per_second={name: speed[0] for name, speed in speeds.items()},
            words_per_second_quartiles={
                name: speed[1] for name, speed in speeds.items()
            },
            component_times=component_times,
            disturbances=find_disturbances(machine, speeds),
            kept_precisions=sorted(old & new) if precision is None else [],
            changes=changes,
            chosen=chosen,
        )
