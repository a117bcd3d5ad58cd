"""Score pipelines, and compare them."""
