"""Charts of the benchmarks' results, drawn with matplotlib (extra: report)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spacy_hashembeds.files import replacing

from ._embedders import MULTI_EMBED, OURS, SPACY, SPACY_BLAS, TORCH, TORCH_ROWS

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
    OURS[1]: {"label": "ours, 1 hash", "color": "#6aa3d5", "marker": "D", "ls": "--"},
    MULTI_EMBED: {
        "label": "ours, lookup",
        "color": "#8a8f98",
        "marker": "P",
        "ls": "-.",
    },
}
_FILLS = ({"color": "#1b3a57"}, {"color": "#9cc3e6", "hatch": "//"})
_MEMORY_KINDS = {"pss_mib": "with its share (PSS)", "uss_mib": "its own (USS)"}


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
        figure.suptitle(f"Embedding of {_describe(results)}", fontsize=12)


def draw_pipeline(results: Mapping[str, Any], path: Path) -> None:
    """Draw words a second of each pipeline, predicting and training."""
    names = list(results["pipe"]["contenders"])
    with new_figure(path, (11, 2.2 + 0.5 * len(names))) as figure:
        axes = figure.subplots(1, 2, sharey=True)
        for ax, kind in zip(axes, ("pipe", "update"), strict=True):
            timings = [results[kind]["contenders"][name] for name in names]
            speeds = [timing["words_per_second"] / 1000 for timing in timings]
            bars = ax.barh(names, speeds, 0.6, color="#5b8db8")
            ratios = [results[kind]["times_as_fast_as_spacy"][n] for n in names]
            labels = [
                f"{s:.1f} ({r:.2f}x)" for s, r in zip(speeds, ratios, strict=True)
            ]
            ax.bar_label(bars, labels, padding=3, fontsize=9)
            ax.set_xlim(0, 1.35 * max(speeds))
            ax.set_xlabel(f"nlp.{kind}: thousand words a second")
            remove_frame(ax)
        axes[0].invert_yaxis()
        figure.suptitle(f"tok2vec and NER on {_describe(results)}", fontsize=12)


def draw_growth(results: Mapping[str, Any], path: Path) -> None:
    """Draw time a word and memory against words seen, and memory of the workers."""
    with new_figure(path, (13, 4.6)) as figure:
        left, middle, right = figure.subplots(1, 3)
        for name, points in results["time"]["us_per_word"].items():
            xs, ys = zip(*points, strict=True)
            left.plot(xs, ys, **_STYLES[name])
        left.set_xscale("log")
        left.set_ylim(bottom=0)
        left.set_xlabel("words seen, up to 10 times as many at each point")
        left.set_ylabel("microseconds a word, median since the last point")
        for i, (name, points) in enumerate(results["memory"]["rss_mib"].items()):
            xs, ys = zip(*points, strict=True)
            grown = [y - ys[0] for y in ys]
            thousands = [x / 1000 for x in xs]
            style = {
                "marker": "os^vDP"[i % 6],
                "ls": ("-", "--", ":", "-.")[i % 4],
                "ms": 4,
            }
            middle.plot(thousands, grown, label=name, color=str(0.12 * i), **style)
        middle.set_xlabel("distinct words seen, thousands")
        middle.set_ylabel("resident memory, growth in MiB")
        middle.legend(fontsize=8, frameon=False)
        _draw_sharing(right, results["sharing"])
        for ax in (left, middle, right):
            remove_frame(ax)
        left.legend(fontsize=8, frameon=False, loc="center left")
        figure.suptitle("Growth", fontsize=12)


@contextmanager
def new_figure(path: Path, size: tuple[float, float]) -> Iterator[Any]:
    """Make a figure and write it to a PNG file, whole or not at all.

    RAISES (ImportError): If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as e:
        raise ImportError(
            "Charts need matplotlib: pip install 'spacy-hashembeds[report]'."
        ) from e
    figure = Figure(figsize=size, layout="constrained")
    yield figure
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)


def remove_frame(axes: Any) -> None:
    """Leave only the two lines of the frame that carry numbers."""
    axes.spines[["top", "right"]].set_visible(False)


def _draw_times(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    for name, style in _STYLES.items():
        points = [
            (row["words_per_call"], timing["us_per_word"])
            for row in rows
            if (timing := row["contenders"].get(name))
        ]
        if points:
            axes.plot(*zip(*points, strict=True), **style)
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


def _draw_hashes(axes: Any, row: Mapping[str, Any]) -> None:
    for names, kind in ((TORCH, "torch"), (OURS, "ours")):
        points = [
            (k, timing["us_per_word"])
            for k, name in names.items()
            if (timing := row["contenders"].get(name))
        ]
        if points:
            style = {**_STYLES[names[4]], "label": kind}
            axes.plot(*zip(*points, strict=True), **style)
    for name in (SPACY, SPACY_BLAS):
        axes.plot([4], [row["contenders"][name]["us_per_word"]], **_STYLES[name])
    axes.set_xticks(list(OURS))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("hashes")
    axes.set_ylabel("microseconds a word")
    axes.set_title(f"Forward, {row['words_per_call']:,.0f} words a call")
    remove_frame(axes)


def _draw_sharing(axes: Any, sharing: Mapping[str, Any]) -> None:
    ways = {"no\ntables": sharing["no_tables"], **sharing["ways"]}
    for i, (kind, label) in enumerate(_MEMORY_KINDS.items()):
        xs = [x + (i - 0.5) * 0.4 for x in range(len(ways))]
        heights = [way[kind] or 0.0 for way in ways.values()]
        bars = axes.bar(xs, heights, 0.4, label=label, **_FILLS[i])
        labels = [f"{way[kind]:.0f}" if way["works"] else "" for way in ways.values()]
        axes.bar_label(bars, labels, fontsize=8)
    for x, way in enumerate(ways.values()):
        if not way["works"]:
            axes.text(x, 0, " fails", rotation=90, ha="center", va="bottom")
    axes.set_xticks(range(len(ways)), ways, fontsize=8)
    axes.set_ylabel(f"MiB a worker, mean of {sharing['workers']} workers")
    axes.set_title(f"Tables of {sharing['tables_mib']:.0f} MiB", fontsize=10)
    axes.set_ylim(top=1.3 * axes.get_ylim()[1])
    axes.legend(fontsize=8, frameon=False, loc="upper left")


def _describe(results: Mapping[str, Any]) -> str:
    corpus = results["corpus"]["name"]
    machine = results["machine"]
    python = machine["versions"]["python"]
    return f"{corpus}: one thread, {machine['cpu']}, Python {python}"
