"""Read files in common formats, and write DocBins."""
