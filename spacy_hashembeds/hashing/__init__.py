"""From tokens to integers, and how often different tokens get the same ones."""
