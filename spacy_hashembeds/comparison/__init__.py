"""Trials side by side: scores, sizes and speed."""
