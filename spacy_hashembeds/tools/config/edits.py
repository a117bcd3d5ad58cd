"""A config that is being changed, with the reasons, and its text with these above."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from spacy.util import dot_to_object, load_config_from_str
from thinc.api import Config

from ...architectures.symbols import SymbolTables
from .presets import FALLBACKS, Preset

_COMMENT = "# spacy-hashembeds: "

#: A section, and a key of it, or None for its header.
Place = tuple[str, str | None]


class Change(NamedTuple):
    """Change of a config, with its reason."""

    section: str
    key: str | None  #: None if the whole section is new.
    why: str

    @property
    def place(self) -> str:
        """Place in the config, as in `[nlp] lang`."""
        return f"[{self.section}]" + (f" {self.key}" if self.key else "")

    def describe(self, config: Config) -> str:
        """Describe it by a value of the new config: of a section, its function."""
        block = dot_to_object(config, self.section)
        key = self.key or next((key for key in block if key.startswith("@")), None)
        return f"[{self.section}] {key} = {block[key]!r}" if key else self.place


class Edits:
    """A config to change, and what was done to it."""

    def __init__(
        self, base: Path, config: Config, plain: Config, comments: dict[Place, str]
    ) -> None:
        self.base = base
        self.config = config  #: With variables.
        self.plain = plain  #: Without, as it was when last interpolated.
        self.comments = comments  #: Those that were there.
        self.changes: list[Change] = []
        self.warnings: list[str] = []
        self.notes: list[str] = []  #: Warnings where nothing need be done.
        self.text = ""  #: What `write` makes of it.
        #: Those of the texts to pretrain on, to be saved beside the config as .npz.
        self.symbols: SymbolTables | None = None
        #: True if embedders mix in vectors, and none are named.
        self.needs_vectors = False
        #: The components that keep the models they have, and why.
        self.left: dict[str, str] = {}
        frozen = plain.get("training", {}).get("frozen_components", [])
        for name, component in config["components"].items():
            if not isinstance(component, Mapping):
                self.left[name] = f"it is a variable for another section, {component}"
            elif "source" in component:
                self.left[name] = f"it is taken from '{component['source']}' as it is"
            elif name in frozen:
                self.left[name] = "it is among [training] frozen_components"
        for name, why in self.left.items():
            self.warnings.append(f"[components.{name}] keeps its model: {why}.")

    def get(self, section: str) -> Any:
        """Return a section or value, a variable as it is written, or None."""
        return get_value(self.config, section)

    def resolve(self, section: str) -> Any:
        """Return a section or value of `plain`, or None."""
        return get_value(self.plain, section)

    def get_block(self, section: str) -> dict[str, Any]:
        """Return a section, or what the variable in its place stands for, or {}."""
        found = self.get(section), self.resolve(section)
        return dict(next((each for each in found if isinstance(each, dict)), {}))

    def get_initialize(self, key: str) -> Any:
        """Return a value of [initialize], or what spaCy fills in: that of [paths]."""
        default = self.resolve(f"paths.{key}")
        return self.plain.get("initialize", {}).get(key, default)

    def find_learning(self, *factories: str) -> list[str]:
        """Find the components of these factories that may change."""
        components = self.plain["components"].items()
        found = [name for name, c in components if c.get("factory") in factories]
        return [name for name in found if name not in self.left]

    def put(
        self, section: str, block: Mapping[str, Any], why: str | Mapping[str, str] = ""
    ) -> None:
        """Put a block in the place of a section or value. `why`: its reason, or those
        for keys, which count where these are new.
        """
        known = self.get(section)
        *parents, name = section.split(".")
        node: Any = self.config
        for part in parents:
            node = node.setdefault(part, {})
        node[name] = dict(block)
        is_new = not isinstance(known, dict)
        new = [k for k, v in block.items() if is_new or k not in known or known[k] != v]
        if isinstance(why, str):
            why = dict.fromkeys(["" if is_new else key for key in new[:1]], why)
        for key, reason in why.items():
            if reason and isinstance(block.get(key), Mapping) and key in new:
                self.changes.append(Change(f"{section}.{key}", None, reason))
            elif reason and (key in new or not key):
                self.changes.append(Change(section, key or None, reason))

    def set(self, section: str, key: str, value: Any, why: str) -> None:
        """Set a value."""
        self.put(section, {**self.get_block(section), key: value}, why)

    def set_initialize(self, key: str, value: Any, why: str) -> None:
        """Set a value of [initialize], or in [paths] if that is what it points to."""
        is_path = self.get(f"initialize.{key}") == f"${{paths.{key}}}"
        self.set("paths" if is_path else "initialize", key, value, why)

    def put_in(self, preset: Preset, section: str = "") -> None:
        """Put in a preset, or warn of what stands in its place."""
        section = section or preset.section
        block, there = self.get_block(section), find_name(self.resolve(section))
        ours = find_name(preset.values)
        if not re.fullmatch(preset.over, str(there)):
            if preset.warns and there != ours:
                self.warnings.append(
                    f"[{section}] stays as it is, {there}: what config would put there "
                    f"is not put in. ({preset.why})"
                )
            return
        if preset.kept is not None and there != ours:
            block = {key: block[key] for key in preset.kept if key in block}
        block |= preset.values
        block |= {k: v for k, v in preset.defaults.items() if k not in block}
        for key, value in block.items():
            place = value[2:-1] if isinstance(value, str) else ""
            if place in FALLBACKS and self.resolve(place) is None:
                block[key] = FALLBACKS[place]
        self.put(section, block, preset.why)

    def write(self) -> None:
        """Write the config as spaCy does, with the reasons above what has changed."""
        why = {(c.section, c.key): " ".join(c.why.split()) for c in self.changes}
        comments = self.comments | why
        lines = []
        for place, line in _walk_lines(self.config.to_str(interpolate=False)):
            if place in comments:
                lines.append(f"{_COMMENT}{comments[place]}")
            lines.append(line)
        text = "\n".join([*lines, ""])
        if load_config_from_str(text, interpolate=True) != self.config.interpolate():
            raise ValueError(
                "it holds what can't be written into a config, such as NaN."
            )
        self.text = text


def read_comments(text: str) -> dict[Place, str]:
    """Read what stands above the lines of a config that was written before."""
    comments, above = {}, ""
    for place, line in _walk_lines(text):
        if above and line and not line.startswith("#"):
            comments[place], above = above, ""
        if line.startswith(_COMMENT):
            above = line.removeprefix(_COMMENT)
    return comments


def _walk_lines(text: str) -> Iterator[tuple[Place, str]]:
    """Walk the lines of a config, each with its section and key, if it begins one."""
    section = ""
    for line in text.split("\n"):
        header = re.fullmatch(r"\[(.+)\]", line)
        section = header[1] if header else section
        yield (section, None if header else line.partition(" = ")[0]), line


def find_name(block: Any) -> Any:
    """Find the function that a block names."""
    if not isinstance(block, Mapping):
        return block
    return next((value for key, value in block.items() if key.startswith("@")), None)


def get_value(config: Config, section: str) -> Any:
    """Return a section or value, or None."""
    try:
        return dot_to_object(config, section)
    except KeyError:
        return None
