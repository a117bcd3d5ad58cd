"""Descriptions of embedders, with which commands list, insert and measure them.

Descriptions are found through entry points, of this package and of others:

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

    name (str): The name of its layer and of its entry point.
    architecture (str): Its registered name.
    purpose (str): Its use, as `config` describes it.
    aliases (Sequence[str]): Other names under which it is registered.
    tables (Mapping[str, type[TableColumn]]): The kinds of its tables, by the names of
        their layers. The layers have an attribute "column", which is an index into the
        attributes of spaCy's `FeatureExtractor` in the model.
    is_of_text (bool): True if it embeds only attributes that are text, each once.
    symbol_width (Callable, optional): Returns, for a config block, the number of
        parameters for each counted symbol, or 0. Embedders with counted symbols have
        the argument `tables`, for a file of symbols.
    raises_rows (bool): True if `config` increases `rows` to have room for all hashed
        values, and chooses `num_hashes`. By default it keeps both.
    why_hashes (str): Reason to begin with the default of `num_hashes`.
    blocks (Mapping[str, tuple[str, str]]): Arguments that take a block for each
        attribute, each with the architecture to insert and the reason.
    """

    name: str
    architecture: str
    purpose: str
    aliases: Sequence[str] = ()
    tables: Mapping[str, type["TableColumn"]] = field(default_factory=dict)
    is_of_text: bool = False
    symbol_width: Callable[[Mapping[str, Any]], int] | None = None
    raises_rows: bool = False
    why_hashes: str = ""
    blocks: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def is_named(self, architecture: str) -> bool:
        """Return True if the embedder is registered under this name."""
        return architecture in (self.architecture, *self.aliases)


def list_names() -> list[str]:
    """List the names of embedders without importing them."""
    return sorted(entry_points(group=_GROUP).names)


@cache
def get_descriptions() -> Sequence[EmbedderDescription]:
    """Load all descriptions, ours first. A description that can't be loaded is left out
    with a warning, so that other embedders can still be used.
    """
    found: list[EmbedderDescription] = []
    ours = __name__.split(".")[0]
    points = entry_points(group=_GROUP)
    for point in sorted(points, key=lambda p: (p.module.split(".")[0] != ours, p.name)):
        try:
            description = point.load()
            if not isinstance(description, EmbedderDescription):
                raise TypeError(f"{description!r:.80} is no EmbedderDescription")
            found.append(description)
        except Exception as error:  # importing another package may raise any error
            warnings.warn(
                f"The embedder '{point.name}' can't be used, and is left out: "
                f"{type(error).__name__}: {error}. Its entry point is {point.value}.",
                stacklevel=2,
            )
    return found


def get_description(name: str) -> EmbedderDescription:
    found = {description.name: description for description in get_descriptions()}
    if name not in found:
        raise ValueError(
            f"There is no embedder '{name}' to put in. There are: {', '.join(found)}."
        )
    return found[name]


def find_description(architecture: str) -> EmbedderDescription | None:
    found = (d for d in get_descriptions() if d.is_named(architecture))
    return next(found, None)


def find_table_kinds() -> dict[str, type["TableColumn"]]:
    """Return the kinds of tables by the names of their layers."""
    return {k: v for d in get_descriptions() for k, v in d.tables.items()}
