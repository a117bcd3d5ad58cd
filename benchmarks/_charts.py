"""Charts of the benchmarks' results, drawn with matplotlib (extra: report)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.figures import import_figure
from spacy_hashembeds.acceleration.machine import describe_machine
from spacy_hashembeds.files import replacing

from ._embedders import (
    MULTI_EMBED,
    OURS,
    OURS_NUMPY,
    SPACY,
    SPACY_BLAS,
    TORCH,
    TORCH_ROWS,
)
from ._weighted_embedders import FEWER, HYBRID, WEIGHTED, WEIGHTED_SYMBOLS

# Told apart in grey too, by lightness, line and marker.
_STYLES: dict[str, dict[str, Any]] = {
    SPACY: {"label": "spaCy, 4 hashes", "color": "#111111", "marker": "s"},
    SPACY_BLAS: {
        "label": "spaCy, 4 hashes, numpy's BLAS",
        "color": "#666666",
        "marker": "X",
    },
    TORCH[4]: {
        "label": "torch, 4 hashes",
        "color": "#9a6b2f",
        "marker": "^",
        "ls": ":",
    },
    TORCH_ROWS: {
        "label": "torch, 4 hashes, rows given",
        "color": "#cfa566",
        "marker": "v",
        "ls": ":",
    },
    OURS[4]: {"label": "ours, 4 hashes", "color": "#1f5f99", "marker": "o", "ls": "--"},
    OURS_NUMPY: {
        "label": "ours, 4 hashes, in numpy",
        "color": "#4f8f6b",
        "marker": "*",
        "ls": "--",
    },
    OURS[1]: {"label": "ours, 1 hash", "color": "#6aa3d5", "marker": "D", "ls": "--"},
    MULTI_EMBED: {
        "label": "ours, lookup",
        "color": "#8a8f98",
        "marker": "P",
        "ls": "-.",
    },
}
_WEIGHTED_STYLES: dict[str, dict[str, Any]] = {
    FEWER: {"label": "plain hashing", "color": "#111111", "marker": "s"},
    WEIGHTED: {
        "label": "weights, hashed",
        "color": "#1f5f99",
        "marker": "o",
        "ls": "--",
    },
    WEIGHTED_SYMBOLS: {
        "label": "weights by symbols",
        "color": "#6aa3d5",
        "marker": "D",
        "ls": "--",
    },
    HYBRID: {"label": "hybrid", "color": "#9a6b2f", "marker": "^", "ls": ":"},
}
#: The stock pipeline, half of what makes it faster, and all.
_FASTER = ("#8a8f98", "#9cc3e6", "#1f5f99", "#174a78", "#0f3556")


def draw_embedding(results: Mapping[str, Any], path: Path) -> None:
    """Draw time a word against words a call, and against the number of hashes."""
    dropout = max(row["dropout"] for row in results["train"])
    train = [row for row in results["train"] if row["dropout"] == dropout]
    with new_figure(path, (13, 4.8)) as figure:
        left, middle, right = figure.subplots(1, 3, width_ratios=(3, 3, 2))
        _draw_times(left, results["predict"])
        left.set_title("Forward")
        _draw_times(middle, train)
        middle.set_title(f"Forward and backward, dropout {dropout}")
        _draw_hashes(right, results["predict"][-1])
        handles, labels = left.get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=4, frameon=False
        )
        title = "Embedding: medians, and lines from quartile to quartile"
        figure.suptitle(f"{title}\n{describe_place(results)}", fontsize=11)


def draw_weights(results: Mapping[str, Any], path: Path) -> None:
    """Draw times relative to plain hashing against words a call."""
    dropout = max(row["dropout"] for row in results["train"])
    train = [row for row in results["train"] if row["dropout"] == dropout]
    with new_figure(path, (10, 4.4)) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        _draw_relative_times(left, results["predict"])
        left.set_title("Forward", fontsize=10)
        left.set_ylabel("times as long as plain hashing")
        _draw_relative_times(right, train)
        right.set_title(f"Forward and backward, dropout {dropout}", fontsize=10)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=4, frameon=False
        )
        title = "Importance weights and hybrid tables"
        figure.suptitle(f"{title}\n{describe_place(results)}", fontsize=11)


_PIPELINE_KINDS = {
    "pipe": "nlp.pipe",
    "update": "nlp.update",
    "text": "nlp(text), one short text",
    "small_pipe": "nlp.pipe, four components",
}


def find_timings(results: Mapping[str, Any]) -> dict[str, Any]:
    """Find what was timed of whole pipelines: older results have less."""
    return {
        name: results[kind] for kind, name in _PIPELINE_KINDS.items() if kind in results
    }


def draw_pipeline(results: Mapping[str, Any], path: Path) -> None:
    """Draw words a second of each pipeline, predicting and training."""
    timings = find_timings(results)
    n_names = len(results["pipe"]["contenders"])
    title = f"tok2vec ({describe_sizes(results)}) and NER"
    with new_figure(path, (3 + 4 * len(timings), 2.2 + 0.5 * n_names)) as figure:
        measured = {**results, "timings": timings}
        _draw_timings(figure, measured, "times_as_fast_as_spacy", title)


def draw_textcat(results: Mapping[str, Any], path: Path) -> None:
    """Draw words a second of each text classifier, predicting and training."""
    title = "Text classifiers (times as fast as TextCatEnsemble)"
    with new_figure(path, (13, 4.2)) as figure:
        _draw_timings(figure, results, "times_as_fast_as_ensemble", title)


def draw_recognizers(results: Mapping[str, Any], path: Path) -> None:
    """Draw words a second of each NER component, predicting and training."""
    title = f"NER on one tok2vec of ours ({describe_sizes(results)}; times spaCy's ner)"
    with new_figure(path, (11, 3.4)) as figure:
        _draw_timings(figure, results, "times_as_fast_as_ner", title)


def draw_kernels(results: Mapping[str, Any], path: Path) -> None:
    """Draw for each piece how many times as fast it is compiled."""
    ratios = {
        piece: timed["times_as_fast_as_numpy"]["compiled"]
        for piece, timed in results["timings"].items()
    }
    with new_figure(path, (8, 3.6)) as figure:
        axes = figure.subplots()
        bars = axes.barh(list(ratios), list(ratios.values()), 0.6, color="#1f5f99")
        axes.bar_label(bars, fmt="{:.1f}", padding=4, fontsize=9)
        axes.axvline(1, color="#111111", lw=0.8, ls="--")
        axes.set_xlim(0, 1.1 * max(ratios.values()))
        axes.set_xlabel("times as fast as numpy (dashed: as fast)")
        axes.invert_yaxis()
        remove_frame(axes)
        figure.suptitle(f"Compiled kernels\n{describe_place(results)}", fontsize=11)


def draw_encoders(results: Mapping[str, Any], path: Path) -> None:
    """Draw words a second of each LSTM encoder, predicting and training."""
    title = f"LSTM encoders ({describe_sizes(results)}; times TorchBiLSTMEncoder)"
    with new_figure(path, (15, 3.6)) as figure:
        _draw_timings(figure, results, "times_as_fast_as_spacy", title)


def _draw_timings(
    figure: Any, results: Mapping[str, Any], ratios: str, title: str
) -> None:
    """Draw what was timed side by side, with the ratios of a key."""
    timings = results["timings"]
    axes = figure.subplots(1, len(timings), sharey=True)
    for ax, (what, timed) in zip(axes, timings.items(), strict=True):
        draw_speeds(ax, timed["contenders"], timed[ratios], "#5b8db8")
        ax.set_title(what, fontsize=10)
    axes[0].invert_yaxis()
    figure.suptitle(f"{title}\n{describe_place(results)}", fontsize=11)


def draw_accelerate(results: Mapping[str, Any], path: Path) -> None:
    """Draw words a second of stock pipelines, as they are and accelerated."""
    groups = results["groups"]
    with new_figure(path, (9, 3.3)) as figure:  # to be read as wide as a README is
        axes = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
        for ax, group in zip(axes, groups, strict=True):
            ratios = group["times_as_fast_as_stock"]
            draw_speeds(ax, group["contenders"], ratios, _FASTER)
            ax.set_title(f"{group['title']}: {describe_sizes(group)}", fontsize=10)
        axes[0].invert_yaxis()
        title = "NER of `spacy init config`, and after `spacy hashembeds accelerate`"
        figure.suptitle(f"{title}\n{describe_place(results)}", fontsize=11)


def draw_published(results: Mapping[str, Any], path: Path) -> None:
    """Draw how many times as fast as they were published pipelines become."""
    pipelines = results["pipelines"]
    kinds = {"pipe": "many texts: nlp.pipe", "call": "one text a call: nlp(text)"}
    with new_figure(path, (9, 3.4)) as figure:  # to be read as wide as a README is
        axes = figure.subplots(1, len(kinds), sharey=True)
        for ax, (kind, title) in zip(axes, kinds.items(), strict=True):
            for i, name in enumerate(pipelines[0][kind]["contenders"]):
                timed = [each[kind] for each in pipelines]
                _draw_ratios(ax, timed, name, _FASTER[2 * i], 0.25 * (i - 1))
            ax.set_yticks(range(len(pipelines)), [each["name"] for each in pipelines])
            ax.set_xlabel("times as fast as published (lines: quartiles)")
            ax.set_title(title, fontsize=10)
            remove_frame(ax)
        axes[0].invert_yaxis()
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=3, frameon=False
        )
        title = "Published pipelines, on text that they have not met"
        figure.suptitle(f"{title}\n{describe_place(results)}", fontsize=11)


def _draw_ratios(
    axes: Any, timed: Sequence[Mapping[str, Any]], name: str, color: str, shift: float
) -> None:
    """Draw a bar for each pipeline, with quartiles by the median of the baseline."""
    bases = [each["contenders"]["stock"]["us_per_word"] for each in timed]
    timings = [each["contenders"][name] for each in timed]
    ratios = [each["times_as_fast_as_stock"][name] for each in timed]
    quartiles = [
        [base / us for us in reversed(timing["us_per_word_quartiles"])]
        for base, timing in zip(bases, timings, strict=True)
    ]
    places = [i + shift for i in range(len(timed))]
    whiskers = make_whiskers(ratios, quartiles)
    label = "as published" if name == "stock" else f"accelerated, {name}"
    bars = axes.barh(places, ratios, 0.23, color=color, label=label, **whiskers)
    axes.bar_label(bars, fmt="{:.1f}", padding=4, fontsize=8)
    axes.margins(x=0.12)


def describe_sizes(sizes: Mapping[str, Any]) -> str:
    """Say how large a pipeline is."""
    return f"width {sizes['width']}, depth {sizes['depth']}"


def describe(results: Mapping[str, Any]) -> str:
    """Say what was measured on, text and machine, and whether that was idle."""
    corpus = f"{results['corpus']['name']}, " if "corpus" in results else ""
    text = f"{corpus}one thread, {describe_machine(results['machine'])}"
    return f"{text}: disturbed" if results["disturbances"] else text


def describe_place(results: Mapping[str, Any]) -> str:
    """Say what was measured on, as a chart does: the page beside it says the rest."""
    place = describe(results).partition("; ")[0]
    return f"{place}: disturbed" if results["disturbances"] else place


@contextmanager
def new_figure(path: Path, size: tuple[float, float]) -> Iterator[Any]:
    """Make a figure and write it to a PNG file, whole or not at all.

    RAISES (ImportError): If matplotlib is not installed.
    """
    figure = import_figure()(figsize=size, layout="constrained")
    yield figure
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)


def make_whiskers(
    values: Sequence[float], quartiles: Sequence[Sequence[float]]
) -> dict[str, Any]:
    """Make the settings of `barh` for lines from quartile to quartile."""
    pairs = list(zip(values, quartiles, strict=True))
    # rounding may put a quartile that equals the value on its other side
    below = [max(0.0, value - lower) for value, (lower, _) in pairs]
    above = [max(0.0, upper - value) for value, (_, upper) in pairs]
    style = {"ecolor": "#111111", "elinewidth": 1, "capsize": 3}
    return {"xerr": [below, above], "error_kw": style}


def remove_frame(axes: Any) -> None:
    """Leave only the two lines of the frame that carry numbers."""
    axes.spines[["top", "right"]].set_visible(False)


def draw_timings(
    axes: Any, points: Sequence[tuple[float, Mapping[str, Any]]], **style: Any
) -> None:
    """Draw microseconds a word with lines from quartile to quartile, where known."""
    xs, timings = zip(*points, strict=True)
    medians = [timing["us_per_word"] for timing in timings]
    quartiles = [
        timing["us_per_word_quartiles"] or [timing["us_per_word"]] * 2
        for timing in timings
    ]
    errors = make_whiskers(medians, quartiles)["xerr"]
    axes.errorbar(xs, medians, yerr=errors, capsize=3, elinewidth=1, **style)


def _draw_times(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    for name, style in _STYLES.items():
        points = [
            (row["words_per_call"], timing)
            for row in rows
            if (timing := row["contenders"].get(name))
        ]
        if points:
            draw_timings(axes, points, **style)
    axes.set_xscale("log")
    axes.set_yscale("log", subs=())
    lowest, highest = axes.get_ylim()
    ticks = [step * 10**power for power in range(-2, 4) for step in (1, 2, 5)]
    axes.set_yticks([tick for tick in ticks if lowest <= tick <= highest])
    axes.set_xlabel("words a call")
    axes.set_ylabel("microseconds a word")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(visible=True, axis="y", color="#dddddd", lw=0.5)
    remove_frame(axes)


def _draw_relative_times(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    for name, style in _WEIGHTED_STYLES.items():
        points = [(row["words_per_call"], _compare(row, name)) for row in rows]
        draw_timings(axes, points, **style)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("words a call")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    remove_frame(axes)


def _compare(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Make a timing in medians of plain hashing instead of microseconds."""
    timing, base = row["contenders"][name], row["contenders"][FEWER]["us_per_word"]
    return {
        "us_per_word": timing["us_per_word"] / base,
        "us_per_word_quartiles": [us / base for us in timing["us_per_word_quartiles"]],
    }


def _draw_hashes(axes: Any, row: Mapping[str, Any]) -> None:
    for names, kind in ((TORCH, "torch"), (OURS, "ours")):
        points = [
            (k, timing)
            for k, name in names.items()
            if (timing := row["contenders"].get(name))
        ]
        if points:
            draw_timings(axes, points, **{**_STYLES[names[4]], "label": kind})
    for name in (SPACY, SPACY_BLAS):
        draw_timings(axes, [(4, row["contenders"][name])], **_STYLES[name])
    axes.set_xticks(list(OURS))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("hashes")
    axes.set_ylabel("microseconds a word")
    axes.set_title(f"Forward, {row['words_per_call']:,.0f} words a call")
    remove_frame(axes)


def draw_speeds(
    axes: Any,
    timings: Mapping[str, Mapping[str, Any]],
    ratios: Mapping[str, float],
    color: Any,
) -> None:
    """Draw a bar for each contender, from above if the axis is inverted."""
    speeds = [timing["words_per_second"] / 1000 for timing in timings.values()]
    quartiles = [
        [1000 / us for us in reversed(timing["us_per_word_quartiles"])]
        for timing in timings.values()
    ]
    whiskers = make_whiskers(speeds, quartiles)
    bars = axes.barh(list(timings), speeds, 0.6, color=color, **whiskers)
    labels = [
        f"{speed:.1f} ({ratios[name]:.2f}x)"
        for name, speed in zip(timings, speeds, strict=True)
    ]
    axes.bar_label(bars, labels, padding=4, fontsize=9)
    axes.set_xlim(0, 1.45 * max(upper for _, upper in quartiles))
    axes.set_xlabel("thousand words a second (lines: quartiles)")
    remove_frame(axes)
