"""Insert tables into pages, and draw charts: `python -m benchmarks.page`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer
from wasabi import msg

from lab.machine import describe_machine
from spacy_hashembeds.files import read_json

from .charts import draw
from .data import RESULTS, ROOT

PAGES = tuple(
    ROOT / page for page in ("docs/speed.md", "docs/scale.md", "benchmarks/README.md")
)
SPEED = "words a second (quartiles)"

Json = Mapping[str, Any]
Form = Callable[[Json], str]

#: Titles of charts, by file of results.
CHARTS = {
    "published": "Published pipelines on unseen text",
    "embedding": "Embedders, by the size of a call",
    "hashformers": "HashFormers, words met before",
    "pipeline": "Whole pipelines, of tok2vec and NER",
}

_PART = re.compile(r"(<!-- begin (?P<name>\S+) -->\n).*?(<!-- end (?P=name) -->)", re.S)


def make_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table with a column of text and columns of numbers."""
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def format_spread(form: str, value: float, quartiles: Sequence[float]) -> str:
    """Format a median with its quartiles, if there were several rounds."""
    lower, upper = quartiles
    spread = f" ({lower:{form}}..{upper:{form}})" if lower < upper else ""
    return f"{value:{form}}{spread}"


def format_speed(timing: Json) -> str:
    """Format words per second and their quartiles."""
    quartiles = [1e6 / us for us in reversed(timing["us_per_word_quartiles"])]
    return format_spread(",.0f", 1e6 / timing["us_per_word"], quartiles)


def format_time(timing: Json) -> str:
    """Format microseconds per word and their quartiles."""
    return format_spread(".2f", timing["us_per_word"], timing["us_per_word_quartiles"])


def find_ratio(timed: Json, name: str) -> float:
    """Return the speed of an implementation relative to the first one."""
    base: float = next(iter(timed.values()))["us_per_word"]
    return base / float(timed[name]["us_per_word"])


def format_cell(timed: Json, name: str, form: Form = format_speed) -> str:
    """Format a timing, and the speed relative to the first implementation."""
    return f"{form(timed[name])}, **{find_ratio(timed, name):.2f}x**"


def tabulate_sections(results: Json) -> str:
    """Make a table for each section, with a row for each task."""
    tables = []
    for section, groups in results["timings"].items():
        names = [*next(iter(groups.values()))]
        rows = [
            [what, *(format_cell(timed, name, format_time) for name in names)]
            for what, timed in groups.items()
        ]
        tables.append(make_table([f"microseconds a word, {section}", *names], rows))
    return "\n\n".join(tables)


def tabulate_implementations(results: Json) -> str:
    """Make a table with a row for each implementation, with parameters if known."""
    groups = results["timings"]["one thread"]
    counts = results.get("parameters")
    rows = []
    for name in next(iter(groups.values())):
        cells = [format_cell(timed, name) for timed in groups.values()]
        rows.append([name, *([f"{counts[name]:,}"] if counts else []), *cells])
    return make_table([SPEED, *(["parameters"] if counts else []), *groups], rows)


def tabulate_memory(results: Json) -> str:
    """Make a table of resident memory by number of words."""
    grown = results["rss_mib"]
    rows = [[way, *(f"{mib:.1f}" for mib in of.values())] for way, of in grown.items()]
    head = "MiB, after so many distinct words"
    return make_table([head, *next(iter(grown.values()))], rows)


def tabulate_ratios(precisions: Sequence[str], results: Json) -> str:
    """Make a table of the relative speeds of published pipelines."""
    columns = [(of, name) for of in results["timings"] for name in precisions]
    rows = []
    for pipeline in results["pipelines"]:
        timed = ((results["timings"][of][pipeline], name) for of, name in columns)
        rows.append([pipeline, *(f"{find_ratio(*each):.1f}" for each in timed)])
    return make_table(["times as fast", *map(", ".join, columns)], rows)


def tabulate_published(results: Json) -> str:
    """Make a table of published pipelines, without `auto` if equal to float32."""
    rows = []
    for pipeline, about in results["pipelines"].items():
        chosen = {*about["accelerated"]["auto"]["precisions"].values()}
        for name, process in about["processes"].items():
            if name == "auto" and chosen <= {"float32"}:
                continue
            timed = (of[pipeline] for of in results["timings"].values())
            speeds = (format_cell(of, name) for of in timed)
            load, memory = process["load_seconds"], process["memory_mib"]
            label = f"{pipeline}, {name}"
            rows.append([label, *speeds, f"{load:.1f}", f"{memory:.0f}"])
    return make_table([SPEED, *results["timings"], "s to load", "MiB"], rows)


def tabulate_changes(results: Json) -> str:
    """Make a table of changed annotations of published pipelines."""
    rows = []
    n_changed = n_tokens = 0
    for pipeline, about in results["pipelines"].items():
        n_changed += about["accelerated"]["float32"]["changed"]
        n_tokens += about["accelerated"]["float32"]["tokens"]
        for name, of in about["accelerated"].items():
            if of["changed"]:
                shares = [
                    f"{kind} {100 * n / all_:.2g}"
                    for kind, (n, all_, _) in of["kinds"].items()
                    if n >= all_ / 1000
                ]
                tokens = f"{of['changed']} of {of['tokens']:,}"
                rows.append([f"{pipeline}, {name}", tokens, ", ".join(shares)])
    rows.append(["all, float32", f"{n_changed} of {n_tokens:,}", ""])
    return make_table(["", "changed tokens", "percent by kind, from 0.1 on"], rows)


def tabulate_components(results: Json) -> str:
    """Make a table of the times of components of published pipelines."""
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
    """Make a table of pipelines before and after acceleration."""
    rows = [
        [f"{name}, {section}", *(format_cell(timed, name) for timed in groups.values())]
        for section, groups in results["timings"].items()
        for name in next(iter(groups.values()))
    ]
    return make_table([SPEED, *results["pipelines"]], rows)


def tabulate_gpu(results: Json) -> str:
    """Make a table of embedders and pipelines on a GPU."""
    groups = {**results["timings"]["embedders"], **results["timings"]["pipelines"]}
    differ = results["agreement"]["docs_that_differ"]["ours"]
    device = results["device"]
    rows = [
        [what, *(format_cell(timed, name) for name in timed)]
        for what, timed in groups.items()
    ]
    table = make_table([SPEED, "spaCy", "ours"], rows)
    return f"{table}\n\n{device['name']}, CuPy {device['cupy']}; {differ} Docs differ."


def tabulate_recipes(results: Json) -> str:
    """Make a table of recipes with their speeds and other costs."""
    (timed,) = results["timings"]["recipes"].values()
    rows = [
        [name, format_cell(timed, name), *(f"{x:.1f}" for x in others.values())]
        for name, others in results["start"].items()
    ]
    names = next(iter(results["start"].values()))
    return make_table(["recipes", SPEED, *names], rows)


def tabulate_service(results: Json) -> str:
    """Make a table of latencies and answers per second of services."""
    rows, kinds = [], []
    for clients, services in results["service"].items():
        for name, of in services.items():
            kinds = [*of]
            cells = (format_spread(",.1f", *spread) for spread in of.values())
            rows.append([f"{clients}, {name}", *cells])
    return make_table(["", *kinds], rows)


#: The file of results of each table, and the function that makes the table.
PARTS: dict[str, tuple[str, Callable[[Json], str]]] = {
    "ratios": ("published", partial(tabulate_ratios, ("float32", "auto"))),
    "ratios-avx2": ("published-avx2", partial(tabulate_ratios, ("float32",))),
    "published": ("published", tabulate_published),
    "changes": ("published", tabulate_changes),
    "components": ("published", tabulate_components),
    "accelerate": ("accelerate", tabulate_accelerated),
    "embedding": ("embedding", tabulate_sections),
    "hashformers": ("hashformers", tabulate_implementations),
    "pipeline": ("pipeline", tabulate_implementations),
    "textcat": ("textcat", tabulate_implementations),
    "gpu": ("gpu", tabulate_gpu),
    "scale": ("scale", tabulate_recipes),
    "scale-service": ("scale", tabulate_service),
    "memory": ("memory", tabulate_memory),
}

#: Tables that are printed, but not on a page.
OFF_PAGES = {"gpu"}

#: Patterns of rows that are printed, but not on a page.
ROWS_OFF_PAGES = {
    "accelerate": r"(fastest BLAS alone|.*, a text a call \|)",
    "pipeline": r"ours( \+ callback)? \|",
    "scale-service": r"8 clients",
}


def describe_place(results: Json) -> str:
    """Describe the text and the machine of results."""
    corpus = f"{results['corpus']['name']}, " if "corpus" in results else ""
    threads = results.get("threads", "one thread")
    return f"{corpus}{threads}, {describe_machine(results['machine'])}"


def make_caption(results: Json) -> str:
    """Make a caption with the text, the machine and disturbances."""
    troubles: list[str] = results["disturbances"]
    if not troubles:
        return f"{describe_place(results)}."
    more = f" ({len(troubles) - 1} more)" if len(troubles) > 1 else ""
    return f"{describe_place(results)}: disturbed.\n**Disturbed:** {troubles[0]}{more}"


def make_part(name: str, folder: Path = RESULTS) -> str:
    """Make a part of a page: tables and their caption."""
    source, make = PARTS[name]
    path = folder / f"{source}.json"
    if not path.is_file():
        return f"Not measured yet: `python -m benchmarks {source}` does it."
    results = read_json(path)
    table = make(results)
    if name in ROWS_OFF_PAGES:
        table = re.sub(rf"^\| {ROWS_OFF_PAGES[name]}.*\n?", "", table, flags=re.M)
    is_first = name == next(part for part, (of, _) in PARTS.items() if of == source)
    return table.rstrip() + (f"\n\n{make_caption(results)}" if is_first else "")


def fill_pages(pages: Sequence[str], folder: Path = RESULTS) -> list[str]:
    """Insert tables into pages of Markdown, between two comments each.

    RAISES (ValueError): If comments and tables do not match.
    """
    found = [match["name"] for page in pages for match in _PART.finditer(page)]
    parts = [name for name in PARTS if name not in OFF_PAGES]
    if sorted(found) != sorted(parts):
        raise ValueError(
            "The pages should have the comments '<!-- begin NAME -->' and "
            f"'<!-- end NAME -->' once for each of {', '.join(parts)}."
        )

    def fill(match: re.Match[str]) -> str:
        return f"{match[1]}\n{make_part(match['name'], folder)}\n\n{match[3]}"

    return [_PART.sub(fill, page) for page in pages]


def draw_charts(folder: Path = RESULTS) -> Iterator[Path]:
    """Draw the charts of existing files of results."""
    for name, title in CHARTS.items():
        if (path := folder / f"{name}.json").is_file():
            results = read_json(path)
            place = describe_place(results).partition("; ")[0]
            if name == "published":  # README's picture
                timings = results["timings"]
                results["timings"] = {key: timings[key] for key in [*timings][:1]}
            draw(results, title, place, chart := path.with_suffix(".png"))
            yield chart


def main() -> None:
    """Insert the tables into pages, and draw all charts."""
    filled = fill_pages([page.read_text(encoding="utf8") for page in PAGES])
    for page, text in zip(PAGES, filled, strict=True):
        page.write_text(text, encoding="utf8")
        msg.good(f"Filled {page}")
    for chart in draw_charts():
        msg.good(f"Drew {chart}")


if __name__ == "__main__":
    typer.run(main)
