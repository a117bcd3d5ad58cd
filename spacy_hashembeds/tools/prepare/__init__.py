"""Convert common formats of annotation to `.spacy` files."""
