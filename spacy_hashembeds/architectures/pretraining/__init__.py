"""Objectives of `spacy pretrain`: what a tok2vec learns from raw text."""
