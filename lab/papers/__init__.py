"""The tables and figures of four papers, filled with our results."""
