"""Prepare corpora, write configs, analyse, evaluate: the commands and what they run."""
