"""Tables of Markdown of what the benchmark of HashFormers measured."""

from collections.abc import Mapping
from typing import Any

from ._hashformers import PAIRS
from ._tables import make_rows, make_table

Json = Mapping[str, Any]


def make_hashformers_tables(results: Json) -> str:
    """Make a table of speeds, and one of what part of the time is hashing."""
    return f"{_make_speed_table(results)}\n\n{_make_hashing_table(results)}"


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


def _format_share(measured: Json) -> str:
    lower, upper = (100 * share for share in measured["share_quartiles"])
    return f"{100 * measured['share']:.1f} ({lower:.1f}..{upper:.1f})"
