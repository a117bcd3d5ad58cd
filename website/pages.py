"""What of the project the site has beside docs/: a hook of MkDocs.

Pages are to be read in the repository too, where their links lead to files of it. On
the site README.md is the start page, a notebook is a page, and any other file that a
page links to, such as a chart or a config, stands under `files/`.
"""

import json
import re
from pathlib import Path
from posixpath import dirname, normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
#: Pages that are not in docs/, by their place on the site.
PAGES = {
    "index.md": "README.md",
    "benchmarks.md": "benchmarks/README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "fuzzing.md": "fuzz/README.md",
}
PLACES = {path: place for place, path in PAGES.items()}
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add pages of elsewhere, and put a page in the place of each notebook."""
    for place, path in PAGES.items():
        text = (ROOT / path).read_text(encoding="utf8")
        files.append(File.generated(config, place, content=text))
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        place = str(Path(file.src_uri).with_suffix(".md"))
        text = _to_markdown(file.content_string)
        files.remove(file)
        files.append(File.generated(config, place, content=text))
    return files


def _to_markdown(text: str) -> str:
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        is_code = cell["cell_type"] == "code"
        parts.append(f"```python\n{source}\n```" if is_code else source)
    return "\n\n".join(parts)


def on_page_markdown(
    markdown: str, page: Page, config: MkDocsConfig, files: Files
) -> str:
    """Have links lead to where files of the project stand on the site."""
    place = page.file.src_uri
    source = PAGES.get(place, f"docs/{place}")

    def replace(match: re.Match[str]) -> str:
        text, target, anchor = match.groups(default="")
        if "://" in target:
            return match[0]
        path = normpath(f"{dirname(source)}/{target}") if dirname(source) else target
        if (ROOT / path).is_dir():
            return text.strip("[]")
        there = _find_place(path)
        if there.startswith("files/") and files.get_file_from_path(there) is None:
            files.append(File.generated(config, there, abs_src_path=str(ROOT / path)))
        return f"{text}({relpath(there, dirname(place) or '.')}{anchor})"

    return LINK.sub(replace, markdown)


def _find_place(path: str) -> str:
    """Where a file of the project stands on the site."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/").replace(".ipynb", ".md")
    return PLACES.get(path, f"files/{path}")
