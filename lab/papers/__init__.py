"""The tables of four papers, filled with our results."""

from enum import StrEnum


class PaperName(StrEnum):
    """The papers whose tables can be filled."""

    multi_hash_embeddings = "multi-hash-embeddings"
    hash_embeddings = "hash-embeddings"
    why_attention = "why-attention"
    hashformers = "hashformers"


PAPERS = tuple(map(str, PaperName))
