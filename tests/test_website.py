"""website/pages.py makes pages, and replaces links to files by links to pages."""

import json
from pathlib import Path

import pytest

from .conftest import ROOT
from .left_out import NO_MKDOCS

pytest.importorskip("mkdocs", reason=NO_MKDOCS)

from mkdocs.commands.build import build
from mkdocs.config import load_config

CONFIG = f"""
site_name: A project
theme: {{name: mkdocs}}
use_directory_urls: false
hooks: [{ROOT / "website" / "pages.py"}]
markdown_extensions: [fenced_code, pymdownx.details]
nav: [README.md, docs/choose.md, docs/notebooks/first.ipynb]
"""

README = """# A project

[Choose](docs/choose.md#sizes), [run it](docs/notebooks/first.ipynb),
[mail](mailto:a@example.org), [elsewhere](https://example.org/docs/choose.md).
`[Code](docs/choose.md)`

![A chart](benchmarks/results/chart.png)

<!--:::toy.embed-->
`embed(word)`: Embed a word.
"""

CELLS = [
    {"cell_type": "markdown", "source": ["# First\n", "[Choose](../choose.md)"]},
    {"cell_type": "code", "source": ["first = 1\n", "second = 2"]},
]

IMAGE = '<img alt="A chart" src="benchmarks/results/chart.png" />'
SHOWN = {
    "index": [
        '<a href="docs/choose.html#sizes">Choose</a>',
        '<a href="docs/notebooks/first.html">run it</a>',
        # unchanged links
        '<a href="https://example.org/docs/choose.md">elsewhere</a>',
        '<a href="mailto:a@example.org">mail</a>',
        "<code>[Code](docs/choose.md)</code>",
        f'<a href="benchmarks/results/chart.png">{IMAGE}</a>',
        # collapsed documentation
        "<summary>Embed a word.</summary>",
        "<p>::: toy.embed</p>",
    ],
    "docs/choose": ['<a href="../configs/small.cfg">A config</a>'],
    "docs/notebooks/first": [
        '<h1 id="first">First</h1>',
        '<a href="../choose.html">Choose</a>',
        '<pre><code class="language-python">first = 1\nsecond = 2\n</code></pre>',
    ],
}


def test_pages_and_links(tmp_path: Path):
    for name, text in {
        "mkdocs.yml": CONFIG,
        "README.md": README,
        "docs/choose.md": "# Choose\n\n[A config](../configs/small.cfg)\n\n## Sizes",
        "docs/notebooks/first.ipynb": json.dumps({"cells": CELLS}),
        "configs/small.cfg": "[nlp]",
        "benchmarks/results/chart.png": "",
        "lab/secret.txt": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    build(load_config(str(tmp_path / "mkdocs.yml"), strict=True))
    site = tmp_path / "site"
    for page, parts in SHOWN.items():
        html = (site / f"{page}.html").read_text()
        assert [part for part in parts if part not in html] == []
    assert (site / "configs" / "small.cfg").read_text() == "[nlp]"
    assert not (site / "lab").exists()
    assert "embed(word)" not in (site / "index.html").read_text()
