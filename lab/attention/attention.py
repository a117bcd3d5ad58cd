"""Attention weights of a trained pipeline in a text: listed, printed, and as files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language

from spacy_hashembeds.components.attention_weights import find_attending, read_attention
from spacy_hashembeds.display import Part, Sentence, Table, render_template
from spacy_hashembeds.files import choose_suffix, replacing, write_json

#: A longer text is no picture that anybody could look at, and grows by its square.
MAX_TOKENS = 200

#: How attention is written, by the suffix.
SUFFIXES = (".json", ".html")

#: Columns of a terminal, the spaces between those of a table, and the fewest characters
#: of a token that are shown, with however many heads.
_WIDTH, _GAP, _LEAST = 80, 2, 4


def list_attention(nlp: Language, text: str) -> dict[str, Any]:
    """List how much each token takes of each token of a text.

    RETURNS (dict[str, Any]): `tokens`, and in `components` for each one its `name` and
        its `heads`: for each head a matrix of weights from 0 to 1, as lists, whose rows
        are of the tokens that look, and its columns of those that are looked at.
    """
    attending = find_attending(nlp)
    if not attending:
        raise ValueError(
            "The pipeline should have an encoder that attends, "
            "spacy-hashembeds.AttBiLSTMEncoder.v1, but has none in its components: "
            f"{', '.join(nlp.pipe_names) or 'none'}."
        )
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


def write_attention(data: dict[str, Any], path: str | Path) -> None:
    """Write attention as JSON, also to an open file, or as a page that needs no other.

    The page has a heat map of each head, as figure 2 of Li, Fu and Ma (2020): a row for
    each token that looks, a column for each that is looked at, the darker the more.
    """
    if choose_suffix(path, SUFFIXES) == ".json":
        write_json(path, data)
        return
    page = render_template("attention.html.jinja", data, __package__ or "")
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf8")


def summarize(data: dict[str, Any]) -> Iterator[Part]:
    """Say which token each head of each token looks at most."""
    yield Sentence(
        "The token that each head of a token takes most of, and how much, in percent."
    )
    for component in data["components"]:
        heads = component["heads"]
        room = (_WIDTH - _GAP * len(heads)) // (len(heads) + 1) - len(" 100")
        tokens = [shorten(token, max(_LEAST, room)) for token in data["tokens"]]
        rows = [
            (token, *(_name_most(head[i], tokens) for head in heads))
            for i, token in enumerate(tokens)
        ]
        header = ("Token", *(f"Head {n}" for n in range(1, len(heads) + 1)))
        title = f"Attention in '{component['name']}'"
        yield Table(title, None, header, rows, aligns="l" * len(header))


def shorten(token: str, room: int) -> str:
    """Show a token in so many characters, and white space in quotation marks."""
    text = token if token.isprintable() and token.strip() else repr(token)
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _name_most(weights: list[float], tokens: list[str]) -> str:
    most = max(range(len(tokens)), key=weights.__getitem__)
    return f"{tokens[most]} {100 * weights[most]:.0f}"
