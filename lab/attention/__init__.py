"""Attention weights of pipelines, and scores of the parts of their encoders."""
