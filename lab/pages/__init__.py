"""The pages of docs/ that are computed."""
