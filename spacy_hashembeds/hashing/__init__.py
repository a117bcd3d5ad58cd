"""Hashing of keys to table rows, and expected numbers of collisions."""
