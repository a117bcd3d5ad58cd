"""Thinc layers that map arrays to arrays, without spaCy."""
