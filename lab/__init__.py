"""What reproduces the papers, and compares embedders over seeds."""
