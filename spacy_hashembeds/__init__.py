"""Compact token embeddings for spaCy pipelines.

Everything here is found through entry points: install the package and name a
function in a `.cfg`. Importing the package does nothing else.
"""
