"""A small tok2vec with one of the encoders on PyTorch."""

from typing import Any


def make_tok2vec(name: str, width: int, **settings: Any) -> dict[str, Any]:
    """Hash embeddings under an encoder without dropout, as a block of a config."""
    return {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy-hashembeds.MultiFewerHashEmbed.v1",
            "width": 12,
            "attrs": ["NORM", "SHAPE"],
            "rows": [50, 20],
            "include_static_vectors": False,
        },
        "encode": {
            "@architectures": f"spacy-hashembeds.{name}.v1",
            "width": width,
            "dropout": 0.0,
            **settings,
        },
    }
