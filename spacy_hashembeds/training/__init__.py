"""Readers, callbacks and scorers that a config runs in training."""
