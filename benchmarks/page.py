"""Tables of docs/speed.md, docs/scale.md and the README beside this, and charts.

Run as `python -m benchmarks.page` from the checkout.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import typer
from wasabi import msg

from spacy_hashembeds.acceleration.machine import describe_machine
from spacy_hashembeds.files import read_json

from .charts import draw
from .data import RESULTS, ROOT

PAGES = tuple(
    ROOT / page for page in ("docs/speed.md", "docs/scale.md", "benchmarks/README.md")
)
SPEED = "words a second (quartiles)"

Json = Mapping[str, Any]
Form = Callable[[Json], str]
Cell = Callable[[Json, str], str]

#: What is counted of contenders, and how it is called.
COUNTED = {"parameters": "parameters", "entities": "entities found"}

#: What the chart of each file of results shows.
CHARTS = {
    "published": "Published pipelines, on text that they have not met",
    "accelerate": "NER of `spacy init config`",
    "embedding": "Embedders, by the size of a call",
    "kernels": "Compiled kernels",
    "hashformers": "HashFormers, words met before",
    "pipeline": "Whole pipelines, of tok2vec and NER",
    "recognizers": "NER components on one tok2vec",
    "encoders": "LSTM encoders",
    "textcat": "Text classifiers",
    "scale": "Recipes on two cores",
}

_PART = re.compile(r"(<!-- begin (?P<name>\S+) -->\n).*?(<!-- end (?P=name) -->)", re.S)


def make_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table whose first column is text, and all others are numbers."""
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def format_speed(timing: Json) -> str:
    """Format words a second and their quartiles."""
    lower, upper = (1e6 / us for us in reversed(timing["us_per_word_quartiles"]))
    return f"{1e6 / timing['us_per_word']:,.0f} ({lower:,.0f}..{upper:,.0f})"


def format_time(timing: Json) -> str:
    """Format microseconds a word and their quartiles, where there was more than one."""
    lower, upper = timing["us_per_word_quartiles"]
    quartiles = f" ({lower:.2f}..{upper:.2f})"
    return f"{timing['us_per_word']:.2f}{quartiles if lower < upper else ''}"


def format_cell(
    timed: Json, name: str, form: Form = format_speed, digits: int = 2
) -> str:
    """Format a timing, and how many times as fast as the first contender it is."""
    ratio = next(iter(timed.values()))["us_per_word"] / timed[name]["us_per_word"]
    return f"{form(timed[name])}, **{ratio:.{digits}f}x**"


def tabulate_groups(head: str, groups: Json, cell: Cell = format_cell) -> str:
    """Make a table with a row for each thing that is timed."""
    names = [*next(iter(groups.values()))]
    rows = [[what, *(cell(of, name) for name in names)] for what, of in groups.items()]
    return make_table([head, *names], rows)


def tabulate_contenders(results: Json, cell: Cell = format_cell) -> str:
    """Make a table with a row for each contender, and in it what is counted of it."""
    groups = results["timings"]["one thread"]
    counted = {COUNTED[key]: results[key] for key in COUNTED if key in results}
    rows = []
    for name in next(iter(groups.values())):
        counts = [f"{of[name]:,}" for of in counted.values()]
        rows.append([name, *counts, *(cell(timed, name) for timed in groups.values())])
    return make_table([SPEED, *counted, *groups], rows)


def tabulate_sections(numbers: slice, unit: str, cell: Cell, results: Json) -> str:
    """Make a table of each of some sections, a row for each thing that is timed."""
    return "\n\n".join(
        tabulate_groups(f"{unit}, {section}", groups, cell)
        for section, groups in [*results["timings"].items()][numbers]
    )


def tabulate(key: str, head: str, digits: int, results: Json) -> str:
    """Make a table of what else was measured, empty where something was not."""
    names = [*dict.fromkeys(name for of in results[key].values() for name in of)]

    def form(value: Any) -> str:
        return f"{value:.{digits}f}" if isinstance(value, float) else str(value)

    rows = [
        [what, *(form(of.get(name, "")) for name in names)]
        for what, of in results[key].items()
    ]
    return make_table([head, *names], rows)


def tabulate_ratios(results: Json) -> str:
    """Make a table of how many times as fast published pipelines are in float32."""
    rows = []
    for pipeline in results["pipelines"]:
        timed = [of[pipeline] for of in results["timings"].values()]
        ratios = (
            of["stock"]["us_per_word"] / of["float32"]["us_per_word"] for of in timed
        )
        rows.append([pipeline, *(f"{ratio:.2f}" for ratio in ratios)])
    return make_table(["times as fast", *results["timings"]], rows)


def tabulate_published(results: Json) -> str:
    """Make a table of published pipelines: speed, loading and memory.

    What `auto` left in float32 has no row of its own.
    """
    pipe, call = results["timings"].values()
    rows = []
    for pipeline, about in results["pipelines"].items():
        chosen = {*about["accelerated"]["auto"]["precisions"].values()}
        for name, process in about["processes"].items():
            if name == "auto" and chosen <= {"float32"}:
                continue  # timed twice
            speeds = (format_cell(timed[pipeline], name) for timed in (pipe, call))
            load, memory = process["load_seconds"], process["memory_mib"]
            label = f"{pipeline}, {name}"
            rows.append([label, *speeds, f"{load:.1f}", f"{memory:.0f}"])
    return make_table([SPEED, *results["timings"], "s to load", "MiB"], rows)


def tabulate_changes(results: Json) -> str:
    """Make a table of what published pipelines annotate otherwise, those that do."""
    rows = []
    for pipeline, about in results["pipelines"].items():
        for name, of in about["accelerated"].items():
            if not of["changed"]:
                continue
            shares = [
                f"{kind} {100 * n / all_:.2g}"
                for kind, (n, all_, _) in of["kinds"].items()
                if n >= all_ / 1000
            ]
            tokens = f"{of['changed']} of {of['tokens']:,}"
            rows.append([f"{pipeline}, {name}", tokens, ", ".join(shares)])
    exact = [
        next(iter(a["accelerated"].values())) for a in results["pipelines"].values()
    ]
    changed, tokens = (sum(of[name] for of in exact) for name in ("changed", "tokens"))
    rows.append(["all, float32", f"{changed} of {tokens:,}", ""])
    return make_table(["", "changed tokens", "percent by kind, from 0.1 on"], rows)


def tabulate_components(results: Json) -> str:
    """Make a table of what each component of published pipelines takes."""
    rows = []
    for pipeline, about in results["pipelines"].items():
        exact, auto = about["accelerated"].values()
        found = []
        for name, before in exact["components"]["before"].items():
            after = [of["components"]["after"][name] for of in (exact, auto)]
            times = " ".join(f"{us:.1f}" for us in (before, *after))
            chosen = auto["precisions"].get(name)
            found.append(f"{name} {times}{f' ({chosen})' if chosen else ''}")
        rows.append([pipeline, "; ".join(found)])
    return make_table(["µs a word by component: stock, float32, auto", ""], rows)


def tabulate_accelerated(results: Json) -> str:
    """Make a table of pipelines before and after, a row for each."""
    rows = [
        [f"{name}, {section}", *(format_cell(timed, name) for timed in groups.values())]
        for section, groups in results["timings"].items()
        for name in next(iter(groups.values()))
    ]
    return make_table([SPEED, *results["pipelines"]], rows)


def tabulate_precisions(results: Json) -> str:
    """Make a table of means over seeds, a row for each trial and precision."""
    seeds: dict[tuple[str, ...], list[Json]] = {}
    for one in results["pipelines"]:
        key = tuple(one[name] for name in ("corpus", "trial", "precision"))
        seeds.setdefault(key, []).append(one)
    rows = []
    for (corpus, trial, precision), ones in sorted(seeds.items()):
        shares = []
        f1s = [one["f1"] for one in ones]
        for what in ("tokens", "entities"):
            changed, of = map(sum, zip(*(o[what] for o in ones), strict=True))
            shares.append(f"{100 * changed / max(1, of):.3f}%")
        before, after = (100 * fmean(f1) for f1 in zip(*f1s, strict=True))
        each = " ".join(f"{100 * (new - old):+.2f}" for old, new in f1s)
        label = [f"{corpus}, `{trial}`", precision, f"{len(ones)}"]
        rows.append([*label, *shares, f"{before:.2f}", f"{after:.2f}", each])
    header = "corpus, trial|precision|seeds|tokens changed|entities changed"
    header += "|F1 in float32|F1|difference (each seed)"
    return make_table(header.split("|"), rows)


def tabulate_gpu(results: Json) -> str:
    """Make a table of embedders and pipelines on a GPU, and what it was measured on."""
    groups = {**results["timings"]["embedders"], **results["timings"]["pipelines"]}
    rows = []
    for what, timed in groups.items():
        stock, ours = timed
        rows.append([what, format_speed(timed[stock]), format_cell(timed, ours)])
    device, differ = results["device"], results["agreement"]["docs_that_differ"]["ours"]
    corpus, cpu = results["corpus"]["name"], results["machine"]["cpu"]
    return (
        f"{make_table([SPEED, 'spaCy', 'ours'], rows)}\n\n"
        f"{corpus}, {device['name']}, CuPy {device['cupy']}, host {cpu}; "
        f"{differ} Docs differ."
    )


def tabulate_ways(section: str, results: Json, beside: str = "") -> str:
    """Make a table of ways to do one thing, a row for each, and what else it takes."""
    (timed,) = results["timings"][section].values()
    others = results.get(beside, {name: {} for name in timed})
    rows = [
        [name, format_cell(timed, name), *(f"{x:.1f}" for x in others[name].values())]
        for name in timed
    ]
    return make_table([section, SPEED, *next(iter(others.values()))], rows)


def tabulate_service(results: Json) -> str:
    """Make a table of how long a service takes to answer, and how often it does."""
    rows = []
    for clients, services in results["service"].items():
        for name, of in services.items():
            cells = [
                f"{middle:,.1f} ({lower:,.1f}..{upper:,.1f})"
                for middle, (lower, upper) in of.values()
            ]
            rows.append([f"{clients}, {name}", *cells])
    names = next(iter(next(iter(results["service"].values())).values()))
    return make_table(["", *names], rows)


THREADS = partial(tabulate_sections, slice(-1, None), "words a second", format_cell)
TIME, ROUGH = partial(format_cell, form=format_time), partial(format_cell, digits=1)
US = "microseconds a word"

#: For each table the results that it is made of, and what makes it.
PARTS: dict[str, tuple[str, Callable[[Json], str]]] = {
    "published": ("published", tabulate_published),
    "changes": ("published", tabulate_changes),
    "published-avx2": ("published-avx2", tabulate_ratios),
    "components": ("published", tabulate_components),
    "accelerate": ("accelerate", tabulate_accelerated),
    "precision": ("precision", tabulate_precisions),
    "embedding": ("embedding", partial(tabulate_sections, slice(2), US, TIME)),
    "kernels": (
        "kernels",
        partial(tabulate_sections, slice(1), "microseconds a row", TIME),
    ),
    "hashformers": ("hashformers", tabulate_contenders),
    "pipeline": ("pipeline", tabulate_contenders),
    "pipeline-threads": ("pipeline", THREADS),
    "profile": ("pipeline", partial(tabulate, "profile", US, 1)),
    "recognizers": ("recognizers", tabulate_contenders),
    "encoders": ("encoders", tabulate_contenders),
    "textcat": ("textcat", partial(tabulate_contenders, cell=ROUGH)),
    "textcat-profile": ("textcat", partial(tabulate, "profile", US, 2)),
    "gpu": ("gpu", tabulate_gpu),
    "scale": ("scale", partial(tabulate_ways, "recipes", beside="start")),
    "scale-pipe": ("scale", partial(tabulate_ways, "`nlp.pipe`")),
    "scale-forks": ("scale", partial(tabulate, "fork_mib", "MiB of a process", 0)),
    "scale-service": ("scale", tabulate_service),
    "memory": (
        "memory",
        partial(tabulate, "rss_mib", "MiB, after so many distinct words", 1),
    ),
}

#: Tables that are printed and on no page.
OFF_PAGES = {
    *("precision", "recognizers", "gpu", "scale-pipe", "scale-forks"),
}

#: Rows of tables that are printed and on no page, by how they begin.
ROWS_OFF_PAGES = {
    "accelerate": r"(fastest BLAS alone|.*, a text a call \|)",
    "pipeline": r"ours( \+ callback)? \|",
    "scale-service": r"(8 clients|1 client, stock, batches)",
}


def describe_place(results: Json) -> str:
    """Say what was measured on, text and machine."""
    corpus = f"{results['corpus']['name']}, " if "corpus" in results else ""
    threads = results.get("threads", "one thread")
    return f"{corpus}{threads}, {describe_machine(results['machine'])}"


def make_caption(results: Json) -> str:
    """Say what was measured on, and what spoke against it."""
    troubles: list[str] = results["disturbances"]
    disturbed = ": disturbed" if troubles else ""
    sizes = f" Rows {'/'.join(map(str, results['rows']))}." if "rows" in results else ""
    more = f" ({len(troubles) - 1} more)" if len(troubles) > 1 else ""
    trouble = f"\n**Disturbed:** {troubles[0]}{more}" if troubles else ""
    return f"{describe_place(results)}{disturbed}.{sizes}{trouble}"


def make_part(name: str, folder: Path = RESULTS) -> str:
    """Make a part of a page: tables, and what they were measured on."""
    source, make = PARTS[name]
    path = folder / f"{source}.json"
    if not path.is_file():
        return f"Not measured yet: `python -m benchmarks {source}` does it."
    results = read_json(path)
    is_first = name == source and "disturbances" in results
    caption = f"\n\n{make_caption(results)}" if is_first else ""
    table = make(results)
    if name in ROWS_OFF_PAGES:
        table = re.sub(rf"^\| {ROWS_OFF_PAGES[name]}.*\n?", "", table, flags=re.M)
    return table.rstrip() + caption


def fill_pages(pages: Sequence[str], folder: Path = RESULTS) -> list[str]:
    """Put tables into pages of Markdown, between two comments each.

    RAISES (ValueError): If a table has no place in the pages, or a place no table.
    """
    found = [match["name"] for page in pages for match in _PART.finditer(page)]
    parts = [name for name in PARTS if name not in OFF_PAGES]
    if sorted(found) != sorted(parts):
        raise ValueError(
            "The pages should have the comments '<!-- begin NAME -->' and "
            f"'<!-- end NAME -->' once for each of {', '.join(parts)}, but have them "
            f"for {', '.join(found) or 'none'}."
        )

    def fill(match: re.Match[str]) -> str:
        return f"{match[1]}\n{make_part(match['name'], folder)}\n\n{match[3]}"

    return [_PART.sub(fill, page) for page in pages]


def draw_charts(folder: Path = RESULTS) -> Iterator[Path]:
    """Draw the chart of each of the results there are."""
    for name, title in CHARTS.items():
        if (path := folder / f"{name}.json").is_file():
            results = read_json(path)
            place = describe_place(results).partition("; ")[0]
            place += ": disturbed" if results["disturbances"] else ""
            draw(results, title, place, chart := path.with_suffix(".png"))
            yield chart


def main() -> None:
    """Draw all charts anew, and put the tables into the pages."""
    filled = fill_pages([page.read_text(encoding="utf8") for page in PAGES])
    for page, text in zip(PAGES, filled, strict=True):
        page.write_text(text, encoding="utf8")
        msg.good(f"Filled {page}")
    for chart in draw_charts():
        msg.good(f"Drew {chart}")


if __name__ == "__main__":
    typer.run(main)
