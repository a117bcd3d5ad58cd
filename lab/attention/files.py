"""Attention as files: heat maps on a page, or the weights."""

from pathlib import Path
from typing import Any

from jinja2 import PackageLoader

from spacy_hashembeds.controls import show_controls
from spacy_hashembeds.display import make_environment
from spacy_hashembeds.files import choose_suffix, replacing, write_json

#: How attention is written, by the suffix.
SUFFIXES = (".json", ".html")


def render_page(data: dict[str, Any]) -> str:
    """Draw a heat map of each head, on one HTML page that needs no other file.

    As figure 2 of Li, Fu and Ma (2020): a row for each token that looks, a column for
    each one that is looked at, and the darker the more.
    """
    loader = PackageLoader(__package__ or "")
    template = make_environment(loader).get_template("attention.html.jinja")
    return show_controls(template.render(data))


def write_attention(data: dict[str, Any], path: str | Path) -> None:
    """Write attention to a file: by its name a page or JSON; JSON to an open one."""
    if choose_suffix(path, SUFFIXES) == ".json":
        write_json(path, data)
        return
    with replacing(path) as temporary:
        temporary.write_text(render_page(data), encoding="utf8")
