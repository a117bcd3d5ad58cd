"""Configs that `spacy hashembeds config` starts from (.cfg)."""

from io import BytesIO, TextIOWrapper
from pathlib import Path
from random import Random
from typing import Any

from spacy.cli.init_config import init_config
from spacy.util import load_config_from_str, walk_dict
from thinc.api import Config

from spacy_hashembeds.configuration.base import read_base
from spacy_hashembeds.configuration.configure import configure

from ..damage_bytes import damage_lines, one_of
from ..damage_values import damage_value
from ..target import Part, Target

_FILE = "base.cfg"


def _make(folder: Path) -> None:
    init_config(lang="xx", pipeline=["ner"]).to_disk(folder / _FILE)


def _load(folder: Path, part: Part) -> Path:
    return read_base(folder / _FILE).path


def _use(path: Path) -> Any:
    made = configure(path)
    return made.text, made.config, {"components", *(c.section for c in made.changes)}


def _find_fault(part: Part, original: bytes, damaged: bytes, answer: Any) -> str | None:
    text, config, changed = answer
    if load_config_from_str(text) != config:
        return "the text says something else than the config"
    lines = TextIOWrapper(BytesIO(damaged), "utf-8-sig")  # as spaCy ends them
    before = load_config_from_str(lines.read())
    after = {".".join(path): value for path, value in walk_dict(config)}
    for path, value in walk_dict(before):
        sections = {".".join(path[:n]) for n in range(1, len(path) + 1)}
        kept = repr(after.get(".".join(path))) == repr(value)  # NaN is not itself
        if not sections & changed and not kept:
            return "what was not to be changed is something else"
    return None


def _damage(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Damage a section, or a value in one."""
    config, how = damage_value(dict(load_config_from_str(data.decode("utf8"))), rng)
    return Config(config).to_str(interpolate=False).encode("utf8"), how


CONFIG = Target(
    name="config",
    parts=[Part(path=_FILE, structured=one_of(damage_lines, _damage))],
    make=_make,
    load=_load,
    use=_use,
    find_fault=_find_fault,
)
