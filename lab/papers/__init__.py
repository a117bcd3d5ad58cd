"""Tables of four papers, with our results."""
