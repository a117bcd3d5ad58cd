"""Attention weights of a trained pipeline in a text: listed and printed."""

from collections.abc import Iterator
from typing import Any

from spacy.language import Language

from spacy_hashembeds.tools.display import Part, Table

from .weights import find_attending, read_attention


def list_attention(nlp: Language, text: str) -> dict[str, Any]:
    """List how much each token takes of each token of a text.

    RETURNS (dict[str, Any]): `tokens`, and in `components` for each one its `name` and
        its `heads`: for each head a matrix of weights from 0 to 1, as lists, whose rows
        are of the tokens that look, and its columns of those that are looked at.
    """
    attending = find_attending(nlp)
    doc = nlp.make_doc(text)
    if not len(doc):
        raise ValueError("The text should have tokens, but is empty.")
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
    tokens = [token if token.strip() else repr(token) for token in data["tokens"]]
    for component in data["components"]:
        heads = component["heads"]
        most = [[max(zip(row, tokens, strict=True)) for row in head] for head in heads]
        rows = [
            (token, *(f"{head[i][1]} {100 * head[i][0]:.0f}" for head in most))
            for i, token in enumerate(tokens)
        ]
        header = ("Token", *(f"Head {n}" for n in range(1, len(heads) + 1)))
        title = f"Attention in '{component['name']}'"
        legend = "The token that each head of a token takes most of, in percent."
        yield Table(title, legend, header, rows, aligns="l" * len(header))
