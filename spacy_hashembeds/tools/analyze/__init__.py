"""Measure embedding tables on a corpus."""
