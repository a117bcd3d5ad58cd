"""Conversion of a saved pipeline to our layers and components: they load what spaCy's
have saved, so that its `config.cfg` alone is changed.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config, get_current_ops, set_current_ops
from wasabi import Printer

from ..arguments import check_choice, check_integers, check_items, check_types
from ..files import quote, replacing_folder
from ..kernels.convolution import PRECISIONS
from ..loading import load_config, load_trained
from .blas import keeping_ops
from .changes import ChangeCounter, Changes
from .components import find_replacements, is_tokenizer_replaceable
from .conversion import (
    AUTO,
    BLAS,
    Precision,
    check_precision,
    convert_config,
    find_batch_size,
    find_convertible,
)
from .folders import check_replaceable, copy_folder, find_source
from .parity import LoadedPipeline, compare_pipelines, find_precisions, make_texts
from .precision import NO_CHOICE, ChosenPrecision, choose_precisions
from .timing import Progress, measure_components, measure_speeds

Loaders = dict[str, Callable[[], Language]]

#: The most percent that fewer bits may change: see `Changes.check`.
MAX_CHANGED = 0.5


@dataclass(frozen=True, kw_only=True)
class Acceleration:
    """Conversion of a pipeline: places, parity, speed and changes. If there was nothing
    to convert, nothing was compared or timed.
    """

    #: The places in the config of converted layers and components.
    converted: list[str]
    #: The places of what was left as it was, each with the reason.
    left: dict[str, str]
    #: The number of texts and tokens that both pipelines annotated alike.
    texts: int = 0
    tokens: int = 0
    #: Components whose converted layers have no weights to compare.
    unchecked: list[str] = field(default_factory=list)
    #: The largest difference between outputs of a layer before and after, as a share
    #: of the largest output (or of 1).
    max_relative_diff: float = 0.0
    #: Tokens a second in `nlp.pipe`, "before" and "after", medians of rounds ...
    words_per_second: dict[str, float] = field(default_factory=dict)
    #: ... and their quartiles.
    words_per_second_quartiles: dict[str, tuple[float, float]] = field(
        default_factory=dict
    )
    #: Microseconds a word of each component, "before" and "after", timed once.
    component_times: dict[str, dict[str, float]] = field(default_factory=dict)
    #: What is annotated otherwise, where products are, or were, not of float32.
    changes: Changes | None = None
    #: The precision of each component, where it was to be chosen.
    chosen: list[ChosenPrecision] = field(default_factory=list)

    def show(self, printer: Printer) -> str:
        """Print what was done, or return it if the printer prints nothing."""
        shown = [getattr(printer, kind)(text) for kind, text in self._describe()]
        if self.texts:
            per_second = self.words_per_second
            rows = [
                (name.title(), f"{per_second[name]:,.0f}", f"{a:,.0f}..{b:,.0f}")
                for name, (a, b) in self.words_per_second_quartiles.items()
            ]
            ratio = per_second["after"] / per_second["before"]
            rows.append(("Ratio", f"{ratio:.2f}", ""))
            old, new = self.component_times.values()
            times = [
                (name, f"{old[name]:.1f}", f"{new[name]:.1f}")
                for name in sorted(new, key=new.__getitem__, reverse=True)
            ]
            show = partial(printer.table, divider=True, aligns=("l", "r", "r"))
            shown += [
                show(rows, header=("", "Words/s", "Quartiles")),
                printer.text("Microseconds a word, by enabled component, timed once:"),
                show(times, header=("Component", "Before", "After")),
            ]
        return "\n".join(filter(None, shown))

    def _describe(self) -> Iterator[tuple[str, str]]:
        """Yield sentences, each after the method of the printer that shows it."""
        if not self.converted:
            ours = "the pipeline has our layers and components already"
            yield "good", f"Nothing to convert: {ours}"
        for place in self.converted:
            yield "info", f"Converted {place}"
        for place, reason in self.left.items():
            yield "warn", f"Left {place} as it is: {reason}"
        for name in self.unchecked:
            yield "warn", f"Converted '{name}' unchecked: it was never initialised"
        for each in self.chosen:
            yield "info", str(each)
        if self.texts:
            same = f"Same predictions on {self.texts:,} texts ({self.tokens:,} tokens)"
            yield "good", same if self.changes is None else f"{same}, in float32"
            diff = f"{self.max_relative_diff:.3g} of the largest number"
            yield "text", f"Largest difference of vectors: {diff}, by rounding"
        if self.changes is not None:
            yield from self.changes.describe()

    def __str__(self) -> str:
        printer = Printer(no_print=True)
        printer.show_color = False
        return self.show(printer)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Options of a conversion: as those of `in_memory.accelerate`."""

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
        check_types(int | float, "a number", max_changed=self.max_changed)
        if not 0 <= self.max_changed <= 100:
            raise ValueError(
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
        config = load_config(source / "config.cfg")
        check = partial(check_replaceable, output, source, force=force)
        with replacing_folder(output, check) as folder:
            copy_folder(source, folder)

            def load_with(config: Config) -> Language:
                config.to_disk(folder / "config.cfg", interpolate=False)
                return load(folder)

            load_before = partial(load, model)
            return convert(before, config, checked, load_with, load_before)[0]


def convert(
    before: LoadedPipeline,
    config: Config,
    settings: Settings,
    load: Callable[[Config], Language],
    load_before: Callable[[], Language],
    *,
    only_known: bool = False,
) -> tuple[Acceleration, LoadedPipeline]:
    """Convert a pipeline, check that both agree, and time them. If there is nothing to
    convert, the new pipeline is a copy, which is neither checked nor timed.

    load (Callable): Makes a pipeline of its weights and another config.
    load_before (Callable): Loads it anew as it is.
    only_known (bool): Whether texts that are made up have words it knows alone.
    """
    factories, left = find_replacements(before.nlp, config)
    left |= find_convertible(config)[1]
    callback = config["nlp"].get("after_pipeline_creation") or {"@callbacks": BLAS}
    if settings.blas and (name := callback["@callbacks"]) != BLAS:
        left["nlp.after_pipeline_creation"] = (
            f"{name} stands where the choice of BLAS would"
        )
    change = partial(
        convert_config,
        config,
        batch_size=find_batch_size(before.nlp),
        factories=factories,
        tokenizer=is_tokenizer_replaceable(before.nlp, config),
    )
    check_precision(change(), settings.precision)
    texts = settings.texts
    if texts is None:
        texts = make_texts(before, only_known=only_known)
    precision: Precision = settings.precision
    chosen: list[ChosenPrecision] = []
    if precision == AUTO:
        texts = [*map(_check_text, texts)]
        after = LoadedPipeline(load(change(blas=settings.blas)), get_current_ops())
        chosen = choose_precisions(
            before, after, texts, settings.max_changed, settings.progress
        )
        precision = {each.component: each.precision for each in chosen}
    new_config = change(blas=settings.blas, precision=precision)
    load_after = partial(load, new_config)
    after = LoadedPipeline(load_after(), get_current_ops())
    if settings.precision == AUTO and not chosen:
        left["precision"] = NO_CHOICE
    of_nlp = [
        f"nlp.{key}"
        for key in ("tokenizer", "batch_size", "after_pipeline_creation")
        if config["nlp"].get(key) != new_config["nlp"].get(key)
    ]
    places = find_convertible(config, precision)[0]
    converted = [*places, *(f"components.{name}" for name in factories), *of_nlp]
    compared = {}
    if converted:
        loaders: Loaders = {"before": load_before, "after": load_after}
        compared = _compare(before, after, texts, settings, loaders)
    done = Acceleration(converted=converted, left=left, chosen=chosen, **compared)
    return done, after


def _check_text(text: Any) -> str | Doc:
    if not isinstance(text, str | Doc):
        raise TypeError(
            f"'texts' should hold strings or Docs, but holds {quote(text)}."
        )
    return text


def _compare(
    before: LoadedPipeline,
    after: LoadedPipeline,
    texts: Iterable[str | Doc],
    settings: Settings,
    loaders: Loaders,
) -> dict[str, Any]:
    is_exact = not find_precisions(before.nlp) | find_precisions(after.nlp)
    counter = None if is_exact else ChangeCounter(before.nlp)
    checked = map(_check_text, settings.progress(texts, "texts"))
    parity = compare_pipelines(before, after, checked, counter)
    changes = None if counter is None else counter.summarize()
    if changes is not None and settings.precision is not None:
        changes.check(settings.max_changed)
    speeds = measure_speeds(
        loaders,
        parity.sample,
        rounds=settings.rounds,
        progress=lambda rounds: settings.progress(rounds, "rounds"),
    )
    return {
        "texts": parity.texts,
        "tokens": parity.tokens,
        "unchecked": parity.unchecked,
        "max_relative_diff": parity.max_relative_diff,
        "words_per_second": {name: of.median for name, of in speeds.items()},
        "words_per_second_quartiles": {n: of.quartiles for n, of in speeds.items()},
        "component_times": {
            name: measure_components(load(), parity.sample)
            for name, load in loaders.items()
        },
        "changes": changes,
    }
