"""Attention weights of a pipeline, as tables and heat maps."""
