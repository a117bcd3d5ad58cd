"""Implementations of papers, with a folder for each."""
