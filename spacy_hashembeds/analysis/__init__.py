"""Statistics of corpora: pure functions that return data."""
