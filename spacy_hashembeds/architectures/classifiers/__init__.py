"""Text classifiers: scores for each Doc."""
