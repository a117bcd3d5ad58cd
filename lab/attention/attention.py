"""Attention weights of a trained pipeline in a text: listed and printed."""

from collections.abc import Iterator
from typing import Any

from spacy.language import Language

from spacy_hashembeds.tools.display import Part, Sentence, Table

from .weights import find_attending, read_attention

#: A longer text is no picture that anybody could look at, and grows by its square.
MAX_TOKENS = 200


def list_attention(nlp: Language, text: str) -> dict[str, Any]:
    """List how much each token takes of each token of a text.

    RETURNS (dict[str, Any]): `tokens`, and in `components` for each one its `name` and
        its `heads`: for each head a matrix of weights from 0 to 1, as lists, whose rows
        are of the tokens that look, and its columns of those that are looked at.
    """
    attending = find_attending(nlp)
    doc = nlp.make_doc(text)
    if not 1 <= len(doc) <= MAX_TOKENS:
        raise ValueError(
            f"The text should have 1 to {MAX_TOKENS} tokens, but has {len(doc)}. Give "
            "one sentence."
        )
    return {
        "text": text,
        "tokens": [token.text for token in doc],
        "components": [
            {"name": name, "heads": weights.astype("float64").round(6).tolist()}
            for name, tok2vec in attending.items()
            for weights in read_attention(tok2vec, [doc])
        ],
    }


def summarize(data: dict[str, Any]) -> Iterator[Part]:
    """Show which token each head of each token looks at most."""
    yield Sentence(
        "The token that each head of a token takes most of, and how much, in percent."
    )
    for component in data["components"]:
        heads = component["heads"]
        # what is left of 80 columns beside percents and gaps
        room = max(4, (80 - 2 * len(heads)) // (len(heads) + 1) - len(" 100"))
        tokens = [_shorten(token, room) for token in data["tokens"]]
        rows = [
            (token, *(_name_most(head[i], tokens) for head in heads))
            for i, token in enumerate(tokens)
        ]
        header = ("Token", *(f"Head {n}" for n in range(1, len(heads) + 1)))
        title = f"Attention in '{component['name']}'"
        yield Table(title, None, header, rows, aligns="l" * len(header))


def _shorten(token: str, room: int) -> str:
    """Show a token in so many characters, and white space in quotation marks."""
    text = token if token.isprintable() and token.strip() else repr(token)
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _name_most(weights: list[float], tokens: list[str]) -> str:
    most = max(range(len(tokens)), key=weights.__getitem__)
    return f"{tokens[most]} {100 * weights[most]:.0f}"
