"""Tables of Markdown of what the benchmark of HashFormers measured."""

from collections.abc import Mapping
from typing import Any

from ._hashformers import GOAL, PAIRS
from ._tables import make_rows, make_table

Json = Mapping[str, Any]


def make_hashformers_tables(results: Json) -> str:
    """Make tables of speeds, of what part of the time is hashing, and of the goal."""
    tables = (_make_speed_table, _make_hashing_table, _make_goal_table)
    return "\n\n".join(make(results) for make in tables)


def _make_speed_table(results: Json) -> str:
    timings = results["timings"]
    rows = make_rows(results["parameters"], timings, "times_as_fast_as_fewer")
    header = ["words met before: words a second (quartiles)", "parameters"]
    return make_table([*header, *timings], rows)


def _make_hashing_table(results: Json) -> str:
    """Make a table of shares, with a column for each way and pass."""
    measured = results["hashing"]
    columns = {
        f"{what}; {title}": pairs
        for what, passes in measured.items()
        for title, pairs in passes.items()
    }
    rows = [
        [name, *(_format_share(pairs[name]) for pairs in columns.values())]
        for name in PAIRS
    ]
    return make_table(["percent of the time that is hashing", *columns], rows)


def _make_goal_table(results: Json) -> str:
    rows = []
    for what, passes in results["hashing"].items():
        for title, pairs in passes.items():
            shares = {name: measured["share"] for name, measured in pairs.items()}
            best, worst = min(shares.values()), max(shares.values())
            n_reached = sum(share <= GOAL for share in shares.values())
            rows.append(
                [
                    f"{what}; {title}",
                    f"{100 * GOAL:g}",
                    f"{100 * best:.1f} to {100 * worst:.1f}",
                    f"{n_reached} of {len(shares)} pairs",
                ]
            )
    header = ["percent of the time that is hashing, at most", "goal"]
    return make_table([*header, "measured", "reached by"], rows)


def _format_share(measured: Json) -> str:
    lower, upper = (100 * share for share in measured["share_quartiles"])
    return f"{100 * measured['share']:.1f} ({lower:.1f}..{upper:.1f})"
