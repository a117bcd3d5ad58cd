"""Tables of Markdown of what the benchmark of text classifiers measured."""

from collections.abc import Mapping
from typing import Any

from ._tables import format_words_per_second, make_table

_PARTS = ("words", "n-grams", "tables", "labels")

Json = Mapping[str, Any]


def make_textcat_table(results: Json) -> str:
    """Make a table of classifiers, with their speeds in prediction and in training."""
    timings = results["timings"]
    rows = []
    for name, about in results["classifiers"].items():
        row = [name, f"{about['parameters']:,}"]
        for timed in timings.values():
            speed = format_words_per_second(timed["contenders"][name])
            ratio = timed["times_as_fast_as_ensemble"][name]
            row.append(f"{speed}, **{ratio:.1f}x**")
        rows.append(row)
    return make_table(["words a second (quartiles)", "parameters", *timings], rows)


def make_textcat_profile_tables(results: Json) -> str:
    """Make a table of where the time goes, and one of the optimizer alone."""
    profile = [
        [f"{name}, {what}", *_format_stages(stages["us_per_word"])]
        for name, kinds in results["profile"].items()
        for what, stages in kinds.items()
    ]
    optimizer = [
        [name, *(f"{ms:.1f}" for ms in times.values())]
        for name, times in results["optimizer_ms"].items()
    ]
    header = ["microseconds a word", *_PARTS, "model in all", "optimizer", "rest"]
    return "\n\n".join(
        [
            make_table(header, profile),
            make_table(["optimizer, ms a step", "normal", "denormal"], optimizer),
        ]
    )


def _format_stages(stages: Mapping[str, float]) -> list[str]:
    """Format the parts of a model, where they are known, and what is not in it."""
    outside = ("optimizer", "rest")
    model = sum(us for stage, us in stages.items() if stage not in outside)
    known = {**stages, "model": model}
    return [
        f"{known[stage]:.2f}" if stage in known else ""
        for stage in (*_PARTS, "model", *outside)
    ]
