"""The tables of "Hash Embeddings for Efficient Word Representations", filled.

Tito Svenstrup, Jonas Meinertz Hansen and Ole Winther (2017),
https://arxiv.org/abs/1709.03933. Here it is "the paper", and "the report" is the other.
"""
