"""Damaged configs that `spacy hashembeds config` starts from."""

from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from spacy.cli.init_config import init_config
from spacy.util import load_config_from_str, walk_dict
from thinc.api import Config

from spacy_hashembeds.tools.config.base_config import read_base
from spacy_hashembeds.tools.config.configure import configure

from .damage import damage_lines, damage_value, write
from .judgement import Reader, make_test


def _damage_config(draw: DrawFn, data: bytes) -> bytes:
    """Change a line, or a section or value."""
    if draw(st.booleans()):
        return damage_lines(draw, data)
    config = damage_value(draw, dict(load_config_from_str(data.decode("utf8"))))
    return write(
        lambda config: Config(config).to_str(interpolate=False).encode(), config
    )


def _configure(path: Path) -> Any:
    made = configure(path)
    return made.text, made.config, {"components", *(c.section for c in made.changes)}


def _find_fault_of_config(damaged: bytes, answer: Any) -> str | None:
    text, config, changed = answer
    if load_config_from_str(text) != config:
        return "the text says something else than the config"
    lines = TextIOWrapper(BytesIO(damaged), "utf-8-sig")  # as spaCy ends them
    after = {".".join(path): value for path, value in walk_dict(config)}
    for path, value in walk_dict(load_config_from_str(lines.read())):
        sections = {".".join(path[:n]) for n in range(1, len(path) + 1)}
        is_kept = repr(after.get(".".join(path))) == repr(value)  # NaN is not itself
        if not sections & changed and not is_kept:
            return "what was not to be changed is something else"
    return None


def _make_config(folder: Path) -> Reader:
    init_config(lang="xx", pipeline=["ner"]).to_disk(folder / "base.cfg")
    return Reader(
        folder / "base.cfg",
        _damage_config,
        lambda path: read_base(path).base,
        _find_fault_of_config,
        _configure,
    )


test_configs = make_test({"config": _make_config}, 0.5)
