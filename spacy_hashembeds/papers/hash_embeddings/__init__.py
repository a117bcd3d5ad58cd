"""Hash embeddings with importance weights (paper 001), and its text classifiers."""
