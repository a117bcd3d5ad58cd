"""Hash embeddings with importance weights, and text classifiers (paper 001)."""
