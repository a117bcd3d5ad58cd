"""Measure what a corpus and an embedder do to each other."""
