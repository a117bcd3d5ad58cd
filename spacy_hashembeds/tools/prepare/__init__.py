"""Read files that people have, and write DocBins."""
