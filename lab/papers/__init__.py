"""The tables of four papers, filled with our results."""
