"""A config that is being changed, with the reasons, and its text with these above."""

import re
from collections.abc import Iterator, Mapping
from configparser import Error as ConfigParserError
from pathlib import Path
from typing import Any, NamedTuple

from spacy.util import dot_to_object, load_config_from_str, set_dot_to_object
from thinc.api import Config

from ...architectures.symbols import SymbolTables
from ...loading import describe_config_error
from .presets import Preset

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

    def __init__(self, base: Path, config: Config) -> None:
        self.base = base
        self.config = config  #: With variables.
        self.plain = config.interpolate()  #: Without: see `refresh`.
        self.changes: list[Change] = []
        self.warnings: list[str] = []
        self.notes: list[str] = []  #: Warnings where nothing need be done.
        self.text = ""  #: What `write` makes of it.
        #: Symbols of the texts to pretrain on, to be saved beside the config as .npz.
        self.symbols: SymbolTables | None = None
        self._before = dict(_walk_lines(config.to_str(interpolate=False)))
        self._reasons: dict[Place, str] = {}
        self.left: set[str] = set()  #: The components that keep the models they have.
        for name, component in config["components"].items():
            if "source" in component:
                why = f"it is taken from '{component['source']}' as it is"
            elif name in self.plain["training"]["frozen_components"]:
                why = "it is among [training] frozen_components"
            else:
                continue
            self.left.add(name)
            self.warnings.append(f"[components.{name}] keeps its model: {why}.")

    def get(self, section: str) -> Any:
        """Return a section or value, a variable as it is written, or None."""
        return get_value(self.config, section)

    def resolve(self, section: str) -> Any:
        """Return a section or value of `plain`, or None."""
        return get_value(self.plain, section)

    def find_learning(self, *factories: str) -> list[str]:
        """Find the components of these factories that may change."""
        components = self.plain["components"].items()
        found = [name for name, c in components if c.get("factory") in factories]
        return [name for name in found if name not in self.left]

    def refresh(self) -> None:
        """Resolve variables anew."""
        try:
            self.plain = self.config.interpolate()
        except (ValueError, ConfigParserError) as error:
            raise ValueError(
                "A variable stands for a value that is replaced, and has to be written "
                f"out: {describe_config_error(error)[:500]}"
            ) from error

    def put(
        self, section: str, block: Mapping[str, Any], why: Mapping[Any, str]
    ) -> None:
        """Put a block in the place of a section or value. `why`: reasons for keys, and
        for None for a new section. They are told where something has changed.
        """
        set_dot_to_object(self.config, section, dict(block))
        for key, reason in why.items():
            is_section = isinstance(block.get(key or ""), Mapping)
            place = (f"{section}.{key}", None) if is_section else (section, key)
            self._reasons[place] = " ".join(reason.split())

    def set(self, section: str, key: str, value: Any, why: str) -> None:
        """Set a value."""
        self.put(section, {**(self.get(section) or {}), key: value}, {key: why})

    def set_path(self, key: str, value: str | Path, why: str) -> None:
        """Set a path of [initialize], which stands in [paths]."""
        self.set("paths", key, str(value), why)
        self.config["initialize"][key] = f"${{paths.{key}}}"

    def put_in(self, preset: Preset, section: str = "") -> None:
        """Put in a preset, or warn of what stands in its place."""
        section = section or preset.section
        there, ours = find_name(self.resolve(section)), find_name(preset.values)
        if not re.fullmatch(preset.over, str(there)):
            if preset.warns and there != ours:
                self.warnings.append(
                    f"[{section}] stays as it is, {there}: what config would put there "
                    f"is not put in. ({preset.why})"
                )
            return
        found = self.get(section)
        block = dict(found) if isinstance(found, dict) else {}
        if preset.kept is not None and there != ours:
            block = {key: block[key] for key in preset.kept if key in block}
        block |= preset.values
        block |= {**preset.defaults, **block}
        keys = [None, *preset.values, *preset.defaults]
        self.put(section, block, dict.fromkeys(keys, preset.why))

    def write(self) -> None:
        """Write the config as spaCy does, with the reasons above what has changed."""
        self.refresh()
        told = set()
        for place, line in _walk_lines(self.config.to_str(interpolate=False)):
            why = self._reasons.get(place)
            if why and self._before.get(place) != line and (place[0], why) not in told:
                told.add((place[0], why))
                self.changes.append(Change(*place, why))
                self.text += f"# spacy-hashembeds: {why}\n"
            self.text += f"{line}\n"
        if load_config_from_str(self.text, interpolate=True) != self.plain:
            raise ValueError("It holds what no config can, such as NaN.")


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


def get_value(config: Config, section: str, default: Any = None) -> Any:
    """Return a section or value, or a default."""
    try:
        return dot_to_object(config, section)
    except KeyError:
        return default
