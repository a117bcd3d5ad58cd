"""Damaged files, thousands of them: which are refused, when, and how clearly."""
