"""The tables and the figure of "Why Attention?", filled.

Peng-Hsuan Li, Tsu-Jui Fu and Wei-Yun Ma: "Why Attention? Analyze BiLSTM Deficiency and
Its Remedies in the Case of NER" (2020). Here it is "the paper", and "the report" is the
other.
"""
