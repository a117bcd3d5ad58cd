"""Embedders: a vector for each token of a Doc by itself."""
