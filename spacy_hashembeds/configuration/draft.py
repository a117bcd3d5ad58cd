"""A config that is being changed, with the reasons."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacy.util import dot_to_object, registry, set_dot_to_object
from thinc.api import Config

from ..checks import MAX_DEPTH
from ..files import quote


@dataclass(frozen=True)
class Change:
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
        return (
            f"[{self.section}] {key} = {json.dumps(block[key])}" if key else self.place
        )


class Draft:
    """A copy of a config to change, with variables, and what was done to it."""

    def __init__(self, config: Config) -> None:
        self.config = config.copy()
        self.changes: list[Change] = []
        #: The components that keep the models they have, and why.
        self.left = _find_left(config)
        #: What the user should know of, a sentence or two each.
        self.warnings = [
            f"[components.{name}] keeps its model: {why}."
            for name, why in self.left.items()
        ]

    def get(self, section: str) -> Any:
        """Get a section or value, or None where there is none, or a variable for it."""
        return _get(self.config, section)

    def resolve(self, section: str) -> Any:
        """Get a section or value without variables, or None where there is none."""
        return _get(self.config.interpolate(), section)

    def get_initialize(self, key: str) -> Any:
        """Get a value of [initialize], or what spaCy fills in: that of [paths]."""
        default = self.resolve(f"paths.{key}")
        return (self.resolve("initialize") or {}).get(key, default)

    def replace(
        self, section: str, block: Mapping[str, Any], why: Mapping[str | None, str]
    ) -> None:
        """Put a block in the place of a section or value. `why`: the reasons for what
        may be new in it, under None for itself. Those for a section inside stand above
        that; empty ones, and those for what has not changed, are left out.
        """
        old = self.get(section)
        if old == block:
            return
        known = old if isinstance(old, dict) else {}
        node = self.config
        for part in section.split(".")[:-1]:
            node = node.setdefault(part, {})
        set_dot_to_object(self.config, section, dict(block))
        new = {k: v for k, v in block.items() if k not in known or known[k] != v}
        for key, reason in why.items():
            if reason and isinstance(new.get(key or ""), Mapping):
                self.changes.append(Change(f"{section}.{key}", None, reason))
            elif reason and (key is None or key in new):
                self.changes.append(Change(section, key, reason))

    def set(self, section: str, key: str, value: Any, why: str) -> None:
        """Set a value. The section may be new."""
        self.replace(section, {**(self.get(section) or {}), key: value}, {key: why})

    def set_initialize(self, key: str, value: Any, why: str) -> None:
        """Set a value of [initialize], or in [paths] if that is what it points to."""
        known = (self.get("initialize") or {}).get(key)
        section = "paths" if known == f"${{paths.{key}}}" else "initialize"
        self.set(section, key, value, why)


def _get(config: Config, section: str) -> Any:
    try:
        return dot_to_object(config, section)
    except KeyError:
        return None


def get_name(function: Any, registry: str = "@callbacks") -> str:
    """Name a function of a registry, which may be its name alone."""
    if isinstance(function, dict):
        return str(function.get(registry))
    return str(function)


def _find_left(config: Config) -> dict[str, str]:
    frozen = config.interpolate().get("training", {}).get("frozen_components", [])
    left = {}
    for name, component in config["components"].items():
        if not isinstance(component, Mapping):
            left[name] = f"it is a variable for another section, {component}"
        elif "source" in component:
            left[name] = f"it is taken from '{component['source']}' as it is"
        elif name in frozen:
            left[name] = "it is among [training] frozen_components"
    return left


def check_block(path: str, block: Mapping[str, Any]) -> None:
    """Check that the model of a block without variables can be built."""
    if isinstance(depth := block.get("depth"), int) and depth > MAX_DEPTH:
        raise ValueError(
            f"[{path}] depth should be {MAX_DEPTH} or less, but is {quote(depth)}."
        )
    try:
        with warnings.catch_warnings():
            # about weights, which are loaded nowhere here
            warnings.simplefilter("ignore")
            registry.resolve({"model": dict(block)})
    except (ValueError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:500]
        raise ValueError(
            f"[{path}] should name a model that can be built: {reason}"
        ) from error
