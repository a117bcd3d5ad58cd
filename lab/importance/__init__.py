"""Importance weights that a pipeline has learned."""
