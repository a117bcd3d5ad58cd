"""Change a config to use our embedders."""
