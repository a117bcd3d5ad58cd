"""What setup.cfg can't say: README.md as a package index shows it.

There, links to files of this repository lead nowhere.
"""

import re
from configparser import ConfigParser
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^]]*)\]\((?P<path>(?!\w+:|#)[^)]+)\)")


def read_source(path: Path) -> str | None:
    """Read the address of the repository, `Source` among the project's URLs."""
    config = ConfigParser()
    config.read(path, encoding="utf8")
    lines = config.get("metadata", "project_urls", fallback="").splitlines()
    urls = dict(re.split(r"\s*=\s*", line, maxsplit=1) for line in lines if line)
    return urls.get("Source")


def make_page(readme: str, source: str | None) -> str:
    """Let links lead to the repository, or, without its address, say what they name.

    readme (str): The text of README.md.
    source (str, optional): The address of the repository.
    RETURNS (str): The text for a package index.
    """

    def replace(link: re.Match[str]) -> str:
        text, path = link["text"], link["path"]
        if source is not None:
            kind = "raw" if link["image"] else "blob"
            return f"{link['image']}[{text}]({source}/{kind}/main/{path})"
        if link["image"]:
            return f"*({text}: {path} in the sources.)*"
        file, _, _ = path.partition("#")
        return text if file in text else f"{text} ({file} in the sources)"

    return _LINK.sub(replace, readme)


if __name__ == "__main__":
    setup(
        long_description=make_page(
            (ROOT / "README.md").read_text(encoding="utf8"),
            read_source(ROOT / "setup.cfg"),
        ),
        long_description_content_type="text/markdown",
    )
