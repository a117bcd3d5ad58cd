"""Convert a saved pipeline to our layers and components: only `config.cfg` changes."""

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

from ..arguments import EXTENSION, check_choice, check_integers, check_items
from ..files import replacing_folder
from ..kernels.convolution import PRECISIONS
from ..loading import load_config, load_trained
from ..training.prediction import find_needed, warn_missing_features
from .blas import keeping_ops
from .changes import Changes, count_changes
from .conversion import (
    AUTO,
    Precision,
    check_precision,
    convert_config,
    explain_unconverted,
)
from .folders import check_replaceable, copy_folder, find_source
from .parity import Parity, annotate_texts, compare_pipelines, make_texts, walk_encoders
from .precision import ChosenPrecision, choose_precisions, explain_no_choice
from .timing import Progress, measure_components, measure_speeds

Loaders = dict[str, Callable[[], Language]]

#: Maximum percentage of annotation that a lower precision may change.
MAX_CHANGED = 0.5


@dataclass(kw_only=True)
class AccelerationReport(Parity):
    """Report of a conversion. Unconverted pipelines are neither compared nor timed."""

    #: Config paths of converted layers, components and settings.
    converted: list[str]
    #: Config paths that were not converted, with the reasons.
    left: dict[str, str]
    #: Median tokens per second in `nlp.pipe`, "before" and "after".
    words_per_second: dict[str, float] = field(default_factory=dict)
    #: Quartiles of the same rounds.
    words_per_second_quartiles: dict[str, tuple[float, float]] = field(
        default_factory=dict
    )
    #: CPU time of each component in µs per word, "before" and "after", in one run.
    component_times: dict[str, dict[str, float]] = field(default_factory=dict)
    #: Changed annotation, if either pipeline has a precision other than float32.
    changes: Changes | None = None
    #: Precision of each component, with `precision="auto"`.
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
                (f"{name} (CPU µs per word, one run)", f"{old[name]:.1f}", f"{us:.1f}")
                for name, us in sorted(new.items(), key=lambda item: -item[1])
            ]
            header = ("", "Before", "After")
            shown.append(printer.table(rows, header=header, divider=True, max_col=60))
        return "\n".join(filter(None, shown))

    def _describe(self) -> Iterator[tuple[str, str]]:
        """Yield the name of a printer method and the text to show."""
        if not any(place.startswith("components.") for place in self.converted):
            gain = "Little to gain" if self.converted else "Nothing to convert"
            yield "good", f"{gain}: no layer or component has a faster equivalent"
        for place in self.converted:
            yield "info", f"Converted {place}"
        for place, reason in self.left.items():
            yield "warn", f"Kept {place} unchanged: {reason}"
        for name in self.unchecked:
            yield "warn", f"Converted '{name}' unchecked: it has no weights to compare"
        for each in self.chosen:
            yield "info", str(each)
        if self.texts:
            same = f"Same predictions on {self.texts:,} texts ({self.tokens:,} tokens)"
            yield "good", same if self.changes is None else f"{same}, in float32"
            diff = f"{self.max_relative_diff:.3g} of the largest value (rounding)"
            yield "text", f"Maximum difference of vectors: {diff}"
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
) -> AccelerationReport:
    """Convert a saved pipeline, check the new one, and save it to a folder. `meta.json`
    is copied, including the name: `spacy package --name` sets another. Import packages
    that register functions of the pipeline before you load the folder.

    settings (Any): Further arguments of `convert`.
    """
    output = Path(output)
    with keeping_ops():  # the pipeline's callbacks may set other ops
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
    with catch_warnings(action="ignore"):  # the first load showed them
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
) -> tuple[AccelerationReport, Language]:
    """Convert a pipeline, check that both pipelines agree, and time them. Without
    anything to convert, the new pipeline is an unchecked copy.

    load (Callable): Loads the old weights with a new config.
    load_before (Callable): Loads the old pipeline again, unchanged.
    only_known (bool): Generate texts only from words in the vocab.
    Others: See `in_memory.accelerate`.
    """
    _check_options(precision, max_changed)
    check_integers(1, rounds=rounds)
    if texts is None:
        texts = make_texts(before, only_known=only_known)
    check_items("strings or Docs", texts=texts)
    # missing span groups raise an error in the pipeline
    needed = [attr for attr in find_needed(before) if attr.startswith(EXTENSION)]
    texts = [*warn_missing_features(needed, texts)]
    left = explain_unconverted(before, config, blas=blas)
    change = partial(convert_config, before, config, blas=blas)
    plain, _ = change()
    check_precision(plain, precision)
    used: Precision = precision
    chosen: list[ChosenPrecision] = []
    if precision == AUTO:
        converted = load(plain)
        chosen = choose_precisions(before, converted, texts, max_changed, progress)
        used = {each.component: each.precision for each in chosen}
        if not chosen:
            left["precision"] = explain_no_choice()
    new_config, places = change(precision=used)
    after = load(new_config)
    report = AccelerationReport(converted=places, left=left, chosen=chosen)
    if places:
        parity, sample = compare_pipelines(before, after, progress(texts, "texts"))
        vars(report).update(vars(parity))
        encoders = chain(walk_encoders(before), walk_encoders(after))
        if any(weights.precision != "float32" for _, weights in encoders):
            docs = annotate_texts(before, progress(texts, "texts"), "original")
            report.changes = count_changes(
                before, texts, docs, annotate_texts(after, texts)
            )
            if precision is not None:
                report.changes.check(max_changed)
        loaders: Loaders = {"before": load_before, "after": partial(load, new_config)}
        speeds = measure_speeds(
            loaders, sample, rounds=rounds, progress=lambda of: progress(of, "rounds")
        )
        for name, load_one in loaders.items():
            report.words_per_second[name] = speeds[name].median
            report.words_per_second_quartiles[name] = speeds[name].quartiles
            report.component_times[name] = measure_components(load_one(), sample)
    return report, after


def _check_options(precision: str | None, max_changed: float) -> None:
    if precision is not None:
        check_choice((*PRECISIONS, AUTO), precision=precision)
    if not (isinstance(max_changed, int | float) and 0 <= max_changed <= 100):
        raise ValueError(
            f"'max_changed' should be a percentage, 0 to 100, but is {max_changed!r}."
        )
