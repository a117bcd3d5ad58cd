"""Commands to prepare corpora, write configs, analyse and evaluate; their functions."""
