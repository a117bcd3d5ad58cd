"""Commands to prepare corpora, write configs, analyze and evaluate; their functions."""
