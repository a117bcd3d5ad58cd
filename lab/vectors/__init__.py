"""Word vectors with Bloom embeddings, and the raw text to train them on."""
