"""Implementations of papers, one folder each."""
