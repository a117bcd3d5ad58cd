"""Published corpora, converted and split."""
