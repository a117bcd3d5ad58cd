"""Charts, and the tables of docs/speed.md, of the results there are.

Run as `python -m benchmarks.page` from the checkout.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import typer
from wasabi import msg

from ._charts import (
    draw_accelerate,
    draw_embedding,
    draw_encoders,
    draw_kernels,
    draw_pipeline,
    draw_published,
    draw_recognizers,
    draw_textcat,
    draw_weights,
)
from ._data import RESULTS, ROOT
from ._growth_chart import draw_growth
from ._hashformers_chart import draw_hashformers
from ._hashformers_tables import make_hashformers_tables
from ._tables import (
    make_accelerate_table,
    make_caption,
    make_embedding_tables,
    make_encoders_table,
    make_gpu_table,
    make_growth_tables,
    make_kernels_table,
    make_pipeline_table,
    make_profile_table,
    make_published_table,
    make_recognizers_table,
    make_weights_tables,
)
from ._textcat_tables import make_textcat_profile_tables, make_textcat_table
from .precision import make_precision_table

PAGE = ROOT / "docs" / "speed.md"

#: What draws the chart of each file of results.
CHARTS: dict[str, Callable[[dict[str, Any], Path], None]] = {
    "published": draw_published,
    "accelerate": draw_accelerate,
    "embedding": draw_embedding,
    "kernels": draw_kernels,
    "weights": draw_weights,
    "hashformers": draw_hashformers,
    "pipeline": draw_pipeline,
    "recognizers": draw_recognizers,
    "encoders": draw_encoders,
    "textcat": draw_textcat,
    "growth": draw_growth,
}


def _with_chart(
    make: Callable[[Mapping[str, Any]], str], name: str, shows: str = "Words a second"
) -> Callable[[Mapping[str, Any]], str]:
    """Have the chart of some results stand below their tables."""
    chart = f"![{shows}](../benchmarks/results/{name}.png)"
    return lambda results: f"{make(results)}\n\n{chart}"


#: For each part of a page the results that it is made of, and what makes it.
Parts = Mapping[str, tuple[str, Callable[[Mapping[str, Any]], str]]]

#: Those of docs/speed.md.
PARTS: Parts = {
    "published": ("published", _with_chart(make_published_table, "published")),
    "accelerate": ("accelerate", _with_chart(make_accelerate_table, "accelerate")),
    "embedding": ("embedding", make_embedding_tables),
    "precision": ("precision", make_precision_table),
    "kernels": (
        "kernels",
        _with_chart(make_kernels_table, "kernels", "Times as fast as numpy"),
    ),
    "weights": (
        "weights",
        _with_chart(make_weights_tables, "weights", "Times as long as plain hashing"),
    ),
    "hashformers": (
        "hashformers",
        _with_chart(make_hashformers_tables, "hashformers", "Speed and hashing"),
    ),
    "pipeline": ("pipeline", make_pipeline_table),
    "profile": ("pipeline", make_profile_table),
    "recognizers": (
        "recognizers",
        _with_chart(make_recognizers_table, "recognizers"),
    ),
    "encoders": ("encoders", _with_chart(make_encoders_table, "encoders")),
    "textcat": ("textcat", _with_chart(make_textcat_table, "textcat")),
    "textcat-profile": ("textcat", make_textcat_profile_tables),
    "gpu": ("gpu-nvidia-h200", make_gpu_table),
    "growth": ("growth", make_growth_tables),
}

_PART = re.compile(r"(<!-- begin (?P<name>\S+) -->\n).*?(<!-- end (?P=name) -->)", re.S)


def read_results(folder: Path = RESULTS) -> dict[str, Any]:
    """Read the results of those benchmarks that were run.

    folder (Path): Where their JSON files are.
    RETURNS (dict[str, Any]): The results by the name of the file.
    """
    sources = {source for source, _ in PARTS.values()}
    paths = {name: folder / f"{name}.json" for name in sorted(sources)}
    return {
        name: json.loads(path.read_text(encoding="utf8"))
        for name, path in paths.items()
        if path.is_file()
    }


def fill_page(page: str, results: Mapping[str, Any]) -> str:
    """Put tables into a page of Markdown.

    page (str): The page, with two comments around the place of each table.
    results (Mapping[str, Any]): What `read_results` gives.
    RAISES (ValueError): If a table has no place in the page, or a place no table.
    RETURNS (str): The page with the tables of these results.
    """
    found = [match["name"] for match in _PART.finditer(page)]
    if sorted(found) != sorted(PARTS):
        raise ValueError(
            "The page should have the comments '<!-- begin NAME -->' and "
            f"'<!-- end NAME -->' once for each of {', '.join(PARTS)}, but has them "
            f"for {', '.join(found) or 'none'}."
        )
    return _PART.sub(
        lambda match: (
            f"{match[1]}\n{_make_part(*PARTS[match['name']], results)}\n\n{match[3]}"
        ),
        page,
    )


def _make_part(
    source: str,
    make: Callable[[Mapping[str, Any]], str],
    results: Mapping[str, Any],
) -> str:
    """Make a part of the page: tables, and what they were measured on."""
    if source not in results:
        return f"Not measured yet: `python -m benchmarks.{source}` does it."
    found = results[source]
    caption = f"\n\n{make_caption(found)}" if "disturbances" in found else ""
    return make(found) + caption


def main(page: Path = PAGE, folder: Path = RESULTS) -> None:
    """Draw all charts anew, and put the tables into docs/speed.md."""
    results = read_results(folder)
    for name, draw in CHARTS.items():
        if name in results:
            draw(results[name], folder / f"{name}.png")
    page.write_text(
        fill_page(page.read_text(encoding="utf8"), results), encoding="utf8"
    )
    msg.good(f"Drew {len(results)} charts in {folder}, and filled {page}")


if __name__ == "__main__":
    typer.run(main)
