"""Attention as files: heat maps on a page, or the weights."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..controls import show_controls
from ..files import find_descriptor, replacing, write_json

SUFFIXES = (".html", ".json")


def render_page(data: dict[str, Any]) -> str:
    """Draw a heat map of each head, on one HTML page that needs no other file.

    As figure 2 of Li, Fu and Ma (2020): a row for each token that looks, a column for
    each one that is looked at, and the darker the more.

    data (dict[str, Any]): From `list_attention`. All text of it is escaped.
    RETURNS (str): The page.
    """
    environment = Environment(
        loader=PackageLoader(__package__ or ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("attention.html.jinja")
    return show_controls(template.render(data))


def write_attention(data: dict[str, Any], path: str | Path) -> None:
    """Write attention to a file, whole or not at all: by its name a page or JSON.

    data (dict[str, Any]): From `list_attention`.
    """
    if _get_suffix(path) == ".json":
        write_json(path, data)
        return
    with replacing(path) as temporary:
        temporary.write_text(render_page(data), encoding="utf8")


def check_output(path: str | Path) -> None:
    """Check that attention can be written to a file, before the work.

    RAISES (ValueError): If its name ends in none of `SUFFIXES`, and it is no open file
        either.
    """
    if _get_suffix(path) not in SUFFIXES:
        raise ValueError(
            f"'output' should end in {' or '.join(SUFFIXES)}, but is '{path}'."
        )


def _get_suffix(path: str | Path) -> str:
    return ".json" if find_descriptor(path) is not None else Path(path).suffix
