"""Systems of papers: a folder for each."""
