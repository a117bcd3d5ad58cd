"""Conversion of a saved pipeline to our layers and components. They load the files that
spaCy's have saved, so that only the pipeline's `config.cfg` is changed.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any
from warnings import catch_warnings

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config
from wasabi import Printer

from ..arguments import (
    EXTENSION,
    check_choice,
    check_integers,
    check_items,
    check_types,
)
from ..files import replacing_folder
from ..kernels.convolution import PRECISIONS
from ..loading import load_config, load_trained
from ..training.prediction import find_needed, warn_of_absent
from .blas import keeping_ops
from .changes import Changes, count_changes
from .conversion import (
    AUTO,
    Precision,
    check_precision,
    convert_config,
    find_changed,
    find_left,
)
from .folders import check_replaceable, copy_folder, find_source
from .parity import Parity, annotate, compare_pipelines, make_texts, walk_encoders
from .precision import NO_CHOICE, ChosenPrecision, choose_precisions
from .timing import Progress, measure_components, measure_speeds

Loaders = dict[str, Callable[[], Language]]

#: Largest percentage that products of fewer bits may change: see `Changes.check`.
MAX_CHANGED = 0.5


@dataclass(kw_only=True)
class Acceleration(Parity):
    """Conversion of a pipeline: places, parity, speed and changes. If there was nothing
    to convert, the pipelines were neither compared nor timed.
    """

    #: Places in the config of the layers and components that were converted.
    converted: list[str]
    #: Places of those that were not converted, each with the reason.
    left: dict[str, str]
    #: Tokens a second in `nlp.pipe`, "before" and "after", medians of rounds ...
    words_per_second: dict[str, float] = field(default_factory=dict)
    #: ... and their quartiles.
    words_per_second_quartiles: dict[str, tuple[float, float]] = field(
        default_factory=dict
    )
    #: CPU time of each component in microseconds a word, "before" and "after", timed
    #: once.
    component_times: dict[str, dict[str, float]] = field(default_factory=dict)
    #: Changes of annotation, if the precision is, or was, another than float32.
    changes: Changes | None = None
    #: The precision of each component, if the precision was "auto".
    chosen: list[ChosenPrecision] = field(default_factory=list)

    def show(self, printer: Printer) -> str:
        """Print the report, or return it as text if the printer does not print."""
        shown = [getattr(printer, kind)(text) for kind, text in self._describe()]
        if self.texts:
            before, after = self.words_per_second.values()
            quartiles = self.words_per_second_quartiles.values()
            old, new = self.component_times.values()
            rows = [
                ("Words/s", f"{before:,.0f}", f"{after:,.0f}"),
                ("Quartiles", *(f"{a:,.0f}..{b:,.0f}" for a, b in quartiles)),
                ("Ratio", "", f"{after / before:.2f}"),
            ]
            rows += [
                (f"{name} (µs of CPU a word, once)", f"{old[name]:.1f}", f"{us:.1f}")
                for name, us in sorted(new.items(), key=lambda item: -item[1])
            ]
            header = ("", "Before", "After")
            table = printer.table(rows, header=header, divider=True, max_col=60)
            shown.append(table)
        return "\n".join(filter(None, shown))

    def _describe(self) -> Iterator[tuple[str, str]]:
        """Yield pairs: the name of the printer's method, and the sentence to show."""
        if not any(place.startswith("components.") for place in self.converted):
            gain = "Little is gained" if self.converted else "Nothing to convert"
            yield "good", f"{gain}: no layer or component is left for ours to replace"
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


def accelerate_folder(
    model: str | Path,
    output: str | Path,
    texts: Iterable[str | Doc] | None = None,
    *,
    force: bool = False,
    **settings: Any,
) -> Acceleration:
    """Convert a saved pipeline, check the new one, and save it to a folder. Generated
    texts contain unknown words too. If a package registers functions of the pipeline,
    import the package before loading the folder.

    settings (Any): Further arguments of `convert`.
    """
    output = Path(output)
    with keeping_ops():  # the pipeline's callbacks may change the current ops
        before = load_trained(model)
        source = find_source(before, model, output)
        check = partial(check_replaceable, output, source, force=force)
        with replacing_folder(output, check) as folder:
            copy_folder(source, folder)

            def load(config: Config) -> Language:
                config.to_disk(folder / "config.cfg", interpolate=False)
                return _load_again(folder)

            config = load_config(source / "config.cfg")
            load_before = partial(_load_again, model)
            made = convert(before, config, load, load_before, texts=texts, **settings)
            return made[0]


def _load_again(model: str | Path) -> Language:
    with catch_warnings(action="ignore"):  # the first load has shown the warnings
        return load_trained(model)


def convert(
    before: Language,
    config: Config,
    load: Callable[[Config], Language],
    load_before: Callable[[], Language],
    *,
    texts: Iterable[str | Doc] | None = None,
    precision: str | None = None,
    max_changed: float = MAX_CHANGED,
    blas: bool = True,
    rounds: int = 7,
    progress: Progress = lambda items, title: items,
    only_known: bool = False,
) -> tuple[Acceleration, Language]:
    """Convert a pipeline, check that both pipelines agree, and time them. If there is
    nothing to convert, the new pipeline is a copy, which is neither checked nor timed.
    Other arguments are those of `in_memory.accelerate`.

    load (Callable): Makes a pipeline from the old weights and a new config.
    load_before (Callable): Loads the old pipeline again, unchanged.
    only_known (bool): Whether generated texts contain only words in the vocab.
    """
    _check_options(precision, max_changed, blas, rounds)
    if texts is None:
        texts = make_texts(before, only_known=only_known)
    check_items("strings or Docs", texts=texts)
    # a group of spans that is not there is an error
    needed = [attr for attr in find_needed(before) if attr.startswith(EXTENSION)]
    texts = [*warn_of_absent(needed, texts)]
    left = find_left(before, config, blas=blas)
    change = partial(convert_config, before, config, blas=blas)
    check_precision(change(), precision)
    used: Precision = precision
    chosen: list[ChosenPrecision] = []
    if precision == AUTO:
        converted = load(change())
        chosen = choose_precisions(before, converted, texts, max_changed, progress)
        used = {each.component: each.precision for each in chosen}
        if not chosen:
            left["precision"] = NO_CHOICE
    new_config = change(precision=used)
    after = load(new_config)
    places = find_changed(config, new_config, used)
    done = Acceleration(converted=places, left=left, chosen=chosen)
    if places:
        parity, sample = compare_pipelines(before, after, progress(texts, "texts"))
        vars(done).update(vars(parity))
        encoders = chain(walk_encoders(before), walk_encoders(after))
        if any(weights.precision != "float32" for _, weights in encoders):
            docs = annotate(before, progress(texts, "texts"), "as it is")
            done.changes = count_changes(before, texts, docs, annotate(after, texts))
            if precision is not None:
                done.changes.check(max_changed)
        loaders: Loaders = {"before": load_before, "after": partial(load, new_config)}
        speeds = measure_speeds(
            loaders, sample, rounds=rounds, progress=lambda of: progress(of, "rounds")
        )
        for name, load_one in loaders.items():
            done.words_per_second[name] = speeds[name].median
            done.words_per_second_quartiles[name] = speeds[name].quartiles
            done.component_times[name] = measure_components(load_one(), sample)
    return done, after


def _check_options(
    precision: str | None, max_changed: float, blas: bool, rounds: int
) -> None:
    if precision is not None:
        check_choice((*PRECISIONS, AUTO), precision=precision)
    check_types(int | float, "a number", max_changed=max_changed)
    if not 0 <= max_changed <= 100:
        raise ValueError(
            f"'max_changed' should be a percentage, 0 to 100, but is {max_changed!r}."
        )
    check_types(bool, "True or False", blas=blas)
    check_integers(1, rounds=rounds)
