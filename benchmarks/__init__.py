"""Speed and memory of our layers beside spaCy's and PyTorch's: see README.md."""
