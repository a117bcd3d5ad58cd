"""How far a command is: a bar, where somebody watches."""

from collections.abc import Iterable
from typing import TypeVar

from ._output import is_quiet

Item = TypeVar("Item")


def show_progress(items: Iterable[Item], title: str, *, unit: str) -> Iterable[Item]:
    """Hand items on, and show on stderr "Reading train: 12 docs" if it is a screen."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    return tqdm(
        items, desc=title, unit=f" {unit}", leave=False, disable=hide_progress()
    )


def hide_progress() -> bool | None:
    """Whether to hide bars, as `tqdm` takes it: None for where stderr is no screen."""
    return True if is_quiet() else None
