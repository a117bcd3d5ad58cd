"""Columns of keys, embedded and mixed together: on the CPU, on a GPU, and folded."""
