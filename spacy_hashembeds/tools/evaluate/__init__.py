"""Score and compare pipelines."""
