"""Hashing of tokens to rows, and the expected numbers of collisions."""
