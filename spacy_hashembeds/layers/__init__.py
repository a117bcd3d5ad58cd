"""Thinc layers: arrays in, arrays out. No spaCy here, and no Docs."""
