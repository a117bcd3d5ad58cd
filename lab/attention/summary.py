"""Attention as `python -m lab attention` prints it."""

from collections.abc import Iterator
from typing import Any

from spacy_hashembeds.display import Part, Sentence, Table

#: Columns of a terminal, the spaces between those of a table, and the fewest characters
#: of a token that are shown, with however many heads.
_WIDTH, _GAP, _LEAST = 80, 2, 4


def summarize(data: dict[str, Any]) -> Iterator[Part]:
    """Say which token each head of each token looks at most."""
    yield Sentence(
        "The token that each head of a token takes most of, and how much, in percent."
    )
    for component in data["components"]:
        heads = component["heads"]
        room = (_WIDTH - _GAP * len(heads)) // (len(heads) + 1) - len(" 100")
        tokens = [_shorten(token, max(_LEAST, room)) for token in data["tokens"]]
        rows = [
            (token, *(_name_most(head[i], tokens) for head in heads))
            for i, token in enumerate(tokens)
        ]
        header = ("Token", *(f"Head {n}" for n in range(1, len(heads) + 1)))
        title = f"Attention in '{component['name']}'"
        yield Table(title, None, header, rows, aligns="l" * len(header))


def _shorten(token: str, room: int) -> str:
    text = token if token.strip() else repr(token)
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _name_most(weights: list[float], tokens: list[str]) -> str:
    most = max(range(len(tokens)), key=weights.__getitem__)
    return f"{tokens[most]} {100 * weights[most]:.0f}"
