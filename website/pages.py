"""What of the project the site shows: a hook of MkDocs.

On the site each file has its path in the repository, so that links lead to the same
files in both.
"""

import json
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

#: Pages, and what they link to and show.
SHOWN = [
    "*.md",
    "*/README.md",
    "lab/*.md",
    "docs/**/*.*",
    "configs/*.*",
    "benchmarks/results/*.*",
    "release/*.md",
    "website/*.css",
]
#: A comment that names a function, and the line below: signature and purpose.
NAMED = re.compile(r"^<!--:::([\w.]+)-->\n\[?`[^`\n]+`[^:\n]*: (.+)\n", re.M)
IMAGE = re.compile(r'<img [^>]*src="([^"]+)"[^>]*>')


class Notebook(File):
    """A Jupyter notebook, which is a page."""

    def is_documentation_page(self) -> bool:
        """Whether MkDocs is to render it."""
        return True


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Put files of the whole project in the place of those in docs/."""
    root = Path(config.config_file_path).parent
    theme = [file for file in files if file.src_dir != config.docs_dir]
    paths = [path for pattern in SHOWN for path in sorted(root.glob(pattern))]
    return Files([*theme, *(_make_file(path, root, config) for path in paths)])


def _make_file(path: Path, root: Path, config: MkDocsConfig) -> File:
    is_notebook = path.suffix == ".ipynb"
    file = (Notebook if is_notebook else File)(
        path.relative_to(root).as_posix(),
        str(root),
        config.site_dir,
        config.use_directory_urls,
    )
    if is_notebook:
        file.content_string = _to_markdown(file.content_string)
    return file


def _to_markdown(text: str) -> str:
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        is_code = cell["cell_type"] == "code"
        parts.append(f"```python\n{source}\n```" if is_code else source)
        for output in cell.get("outputs", ()):
            shown = "".join(output.get("text") or output["data"]["text/plain"])
            parts.append(f"```text\n{shown}\n```")
    return "\n\n".join(parts)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Let mkdocstrings show a function's documentation, folded below its purpose."""
    return NAMED.sub(r'??? abstract "\2"\n\n    ::: \1\n', markdown)


def on_page_content(html: str, **_: object) -> str:
    """Have each image lead to its file: on a small screen a chart is too small."""
    return IMAGE.sub(r'<a href="\1">\g<0></a>', html)
