"""Encoders: a vector for each token in its context."""
