"""What website/pages.py makes of a project: pages, as links of its files name them."""

import json
from pathlib import Path

import pytest

from .left_out import NO_MKDOCS

pytest.importorskip("mkdocs", reason=NO_MKDOCS)

from mkdocs.commands.build import build
from mkdocs.config import load_config

HOOK = Path(__file__).parents[1] / "website" / "pages.py"

CONFIG = f"""
site_name: A project
theme: {{name: mkdocs}}
use_directory_urls: false
hooks: [{HOOK}]
markdown_extensions: [fenced_code]
nav: [README.md, docs/choose.md, docs/notebooks/first.ipynb]
"""

README = """# A project

[Choose](docs/choose.md#sizes), [run it](docs/notebooks/first.ipynb),
[mail](mailto:a@example.org), [elsewhere](https://example.org/docs/choose.md).
`[Code](docs/choose.md)`

![A chart](benchmarks/results/chart.png)

```
[A fence](docs/choose.md)
```

<!-- ::: toy.embed -->
`embed(word)`: Embed a word.
"""

CELLS = [
    {"cell_type": "markdown", "source": ["# First\n", "[Choose](../choose.md)"]},
    {"cell_type": "code", "source": ["first = 1\n", "second = 2"]},
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, text in {
        "mkdocs.yml": CONFIG,
        "README.md": README,
        "docs/choose.md": "# Choose\n\n[A config](../configs/small.cfg)\n\n## Sizes",
        "docs/notebooks/first.ipynb": json.dumps({"cells": CELLS}),
        "configs/small.cfg": "[nlp]",
        "benchmarks/results/chart.png": "",
        "lab/secret.txt": "",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    build(load_config(str(folder / "mkdocs.yml"), strict=True))
    return folder / "site"


def test_links_lead_to_the_same_files_as_in_the_repository(site: Path):
    start = (site / "index.html").read_text()
    assert '<a href="docs/choose.html#sizes">Choose</a>' in start
    assert '<a href="docs/notebooks/first.html">run it</a>' in start
    assert '<a href="https://example.org/docs/choose.md">elsewhere</a>' in start
    choose = (site / "docs" / "choose.html").read_text()
    assert '<a href="../configs/small.cfg">A config</a>' in choose
    assert (site / "configs" / "small.cfg").read_text() == "[nlp]"
    assert not (site / "lab").exists()


def test_what_is_no_link_stays(site: Path):
    start = (site / "index.html").read_text()
    assert '<a href="mailto:a@example.org">mail</a>' in start
    assert "<code>[Code](docs/choose.md)</code>" in start
    assert "[A fence](docs/choose.md)\n</code>" in start


def test_an_image_leads_to_its_file(site: Path):
    image = '<img alt="A chart" src="benchmarks/results/chart.png" />'
    link = f'<a href="benchmarks/results/chart.png">{image}</a>'
    assert link in (site / "index.html").read_text()


def test_the_whole_documentation_is_shown_in_the_place_of_a_sentence(site: Path):
    start = (site / "index.html").read_text()
    assert "<p>::: toy.embed</p>" in start
    assert "Embed a word" not in start


def test_a_notebook_is_a_page(site: Path):
    page = (site / "docs" / "notebooks" / "first.html").read_text()
    assert '<h1 id="first">First</h1>' in page
    assert '<a href="../choose.html">Choose</a>' in page
    code = '<pre><code class="language-python">first = 1\nsecond = 2\n</code></pre>'
    assert code in page
