"""A config that is being changed, with the reasons."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacy.util import dot_to_object, registry, set_dot_to_object
from thinc.api import Config


@dataclass(frozen=True)
class Change:
    """What was changed in a config."""

    #: The section.
    section: str
    #: What in it; None if the whole section is new.
    key: str | None
    #: The reason, a sentence or two.
    why: str

    @property
    def place(self) -> str:
        """Where it stands, as in `[nlp] lang`."""
        return f"[{self.section}]" + (f" {self.key}" if self.key else "")


class Draft:
    """A copy of a config to change, and what was done to it.

    config (Config): The config, with variables.
    """

    def __init__(self, config: Config) -> None:
        self.config = config.copy()
        self.changes: list[Change] = []
        #: What the user should know of, a sentence or two each.
        self.warnings: list[str] = []

    def get(self, section: str) -> Any:
        """Get a section or value, or None where there is none, or a variable for it."""
        try:
            return dot_to_object(self.config, section)
        except (KeyError, TypeError):
            return None

    def resolve(self, section: str) -> Any:
        """Get a section or value without variables, or None where there is none."""
        try:
            return dot_to_object(self.interpolate(), section)
        except (KeyError, TypeError):
            return None

    def replace(
        self, section: str, block: Mapping[str, Any], why: Mapping[str | None, str]
    ) -> None:
        """Put a block in the place of a section or value.

        why (Mapping[str | None, str]): The reasons for what may be new in it, under
            None that for the section; that for a section inside it stands above that.
            Those for what has not changed are left out, and empty ones.
        """
        old = self.get(section)
        if old == block:
            return
        known = old if isinstance(old, dict) else {}
        new = {k for k, v in block.items() if k not in known or known[k] != v}
        set_dot_to_object(self.config, section, dict(block))
        inside = {k for k, v in block.items() if isinstance(v, Mapping)}
        self.changes += [
            Change(f"{section}.{key}", None, reason)
            if key in inside
            else Change(section, key, reason)
            for key, reason in why.items()
            if reason and (key is None or key in new)
        ]

    def set(self, section: str, key: str, value: Any, why: str) -> None:
        """Set a value."""
        self.replace(section, {**self.get(section), key: value}, {key: why})

    def interpolate(self) -> Config:
        """Give the config without variables."""
        return self.config.interpolate()


def check_block(path: str, block: Mapping[str, Any]) -> None:
    """Check that the model of a block can be built.

    path (str): Its place in the config.
    block (Mapping[str, Any]): The block, without variables.
    RAISES (ValueError): If it can't.
    """
    try:
        with warnings.catch_warnings():
            # about weights, which are loaded nowhere here
            warnings.simplefilter("ignore")
            registry.resolve({"model": dict(block)})
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"[{path}] should name a model that can be built: {reason}"
        ) from error
