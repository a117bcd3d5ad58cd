"""Readers and converters of real datasets, and the demo corpus."""
