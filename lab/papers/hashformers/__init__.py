"""The tables of "HashFormers", filled.

Huiyin Xue and Nikolaos Aletras: "HashFormers: Towards Vocabulary-independent
Pre-trained Transformers" (2022). Here it is "the paper", and "the report" is the other.
"""
