"""Train, evaluate and compare pipelines."""
