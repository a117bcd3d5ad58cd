"""Attention as `spacy hashembeds attention` prints it."""

from collections.abc import Iterator
from typing import Any

from ..display import Part, Sentence, Table


def summarize(data: dict[str, Any]) -> Iterator[Part]:
    """Say which token each head of each token looks at most.

    data (dict[str, Any]): From `list_attention`.
    """
    yield Sentence(
        "The token that each head of a token takes most of, and how much, in percent."
    )
    tokens = data["tokens"]
    for component in data["components"]:
        heads = component["heads"]
        rows = [
            (token, *(_name_most(head[i], tokens) for head in heads))
            for i, token in enumerate(tokens)
        ]
        header = ("Token", *(f"Head {n}" for n in range(1, len(heads) + 1)))
        title = f"Attention in '{component['name']}'"
        yield Table(title, None, header, rows, aligns="l" * len(header))


def _name_most(weights: list[float], tokens: list[str]) -> str:
    most = max(range(len(tokens)), key=weights.__getitem__)
    return f"{tokens[most]} {100 * weights[most]:.0f}"
