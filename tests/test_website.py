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


IMAGE = '<img alt="A chart" src="benchmarks/results/chart.png" />'


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("index", '<a href="docs/choose.html#sizes">Choose</a>'),
        ("index", '<a href="docs/notebooks/first.html">run it</a>'),
        ("index", '<a href="https://example.org/docs/choose.md">elsewhere</a>'),
        ("docs/choose", '<a href="../configs/small.cfg">A config</a>'),
        # what is no link stays
        ("index", '<a href="mailto:a@example.org">mail</a>'),
        ("index", "<code>[Code](docs/choose.md)</code>"),
        ("index", "[A fence](docs/choose.md)\n</code>"),
        ("index", f'<a href="benchmarks/results/chart.png">{IMAGE}</a>'),
        # the whole documentation, in the place of a sentence
        ("index", "<p>::: toy.embed</p>"),
        ("docs/notebooks/first", '<h1 id="first">First</h1>'),
        ("docs/notebooks/first", '<a href="../choose.html">Choose</a>'),
        (
            "docs/notebooks/first",
            '<pre><code class="language-python">first = 1\nsecond = 2\n</code></pre>',
        ),
    ],
)
def test_links_lead_to_the_same_files_and_all_else_is_shown(site: Path, page, shown):
    assert shown in (site / f"{page}.html").read_text()


def test_files_are_there_that_pages_link_to_and_no_others(site: Path):
    assert (site / "configs" / "small.cfg").read_text() == "[nlp]"
    assert not (site / "lab").exists()
    assert "Embed a word" not in (site / "index.html").read_text()
