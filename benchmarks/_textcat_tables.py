"""Tables of Markdown of what the benchmark of text classifiers measured."""

from collections.abc import Mapping
from typing import Any

from ._classifiers import OURS, OURS_LARGE
from ._tables import format_words_per_second, make_table

#: What we set out for: to be so many times as fast as spaCy's default, and to take no
#: more than so many times as long as spaCy's fastest.
TIMES_AS_FAST = 5.0
TIMES_AS_LONG = 2.0

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


def make_textcat_goals_table(results: Json) -> str:
    """Hold what was measured of ours against what we set out for."""
    rows = []
    for name in (OURS, OURS_LARGE):
        for what, timed in results["timings"].items():
            fast = timed["times_as_fast_as_ensemble"][name]
            long = timed["times_as_long_as_bow"][name]
            rows += [
                [
                    f"{name}, {what}: times as fast as TextCatEnsemble",
                    f"at least {TIMES_AS_FAST:g}",
                    f"{fast:.1f}",
                    "yes" if fast >= TIMES_AS_FAST else "no",
                ],
                [
                    f"{name}, {what}: times as long as TextCatBOW",
                    f"at most {TIMES_AS_LONG:g}",
                    f"{long:.1f}",
                    "yes" if long <= TIMES_AS_LONG else "no",
                ],
            ]
    return make_table(["", "goal", "measured", "reached"], rows)


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
