"""Speed and memory of our layers, compared with spaCy and PyTorch. See README.md."""
