"""Descriptions of embedders, used by commands to list, insert and measure embedders.

Any package can register a description as an entry point:

    [options.entry_points]
    spacy_architectures =
        toy.ToyEmbed.v1 = toy.embed:ToyEmbed
    spacy_hashembeds_embedders =
        toy_embed = toy.embed:DESCRIPTION
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..layers.tableembed import TableColumn

_GROUP = "spacy_hashembeds_embedders"


@dataclass(frozen=True, kw_only=True)
class EmbedderDescription:
    """An embedder with the arguments `width` and `attrs`.

    name (str): Name of the layer and of the entry point.
    architecture (str): Registered name.
    purpose (str): Purpose, as shown by `config`.
    aliases (Sequence[str]): Other registered names.
    tables (Mapping[str, type[TableColumn]]): Types of tables by layer name. Each layer
        has an attribute "column", an index into the attributes of the model's
        `FeatureExtractor`.
    is_of_text (bool): True if only text attributes are embedded, each once.
    symbol_width (Callable, optional): Returns the number of parameters per counted
        symbol for a config block, or 0. Embedders with counted symbols have the
        argument `tables`, a file of symbols.
    increases_rows (bool): True if `config` chooses `num_hashes`, and increases `rows`
        to fit all hashed values. Default: `config` keeps both.
    why_hashes (str): Reason for the default of `num_hashes`.
    blocks (Mapping[str, tuple[str, str]]): Arguments that take a config block for each
        attribute, with the architecture to insert and the reason.
    """

    name: str
    architecture: str
    purpose: str
    aliases: Sequence[str] = ()
    tables: Mapping[str, type["TableColumn"]] = field(default_factory=dict)
    is_of_text: bool = False
    symbol_width: Callable[[Mapping[str, Any]], int] | None = None
    increases_rows: bool = False
    why_hashes: str = ""
    blocks: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def is_named(self, architecture: str) -> bool:
        """True if the embedder is registered under this name."""
        return architecture in (self.architecture, *self.aliases)


def list_names() -> list[str]:
    """List the names of embedders without importing them."""
    return sorted(entry_points(group=_GROUP).names)


@cache
def get_descriptions() -> Sequence[EmbedderDescription]:
    """Load all descriptions, ours first. Warn of and skip those that fail to load."""
    found: list[EmbedderDescription] = []
    ours = __name__.split(".")[0]
    points = entry_points(group=_GROUP)
    for point in sorted(points, key=lambda p: (p.module.split(".")[0] != ours, p.name)):
        try:
            found.append(point.load())
        except Exception as error:  # importing another package may raise any error
            warnings.warn(
                f"The embedder '{point.name}' can't be used, and is skipped. Loading "
                f"{point.value} failed with {type(error).__name__}: {error}.",
                stacklevel=2,
            )
    return found


def get_description(name: str) -> EmbedderDescription:
    found = {description.name: description for description in get_descriptions()}
    if name not in found:
        raise ValueError(
            f"There is no embedder '{name}'. Available: {', '.join(found)}."
        )
    return found[name]


def find_description(architecture: str) -> EmbedderDescription | None:
    found = (d for d in get_descriptions() if d.is_named(architecture))
    return next(found, None)


def find_table_kinds() -> dict[str, type["TableColumn"]]:
    """Return the types of tables by layer name."""
    return {k: v for d in get_descriptions() for k, v in d.tables.items()}
