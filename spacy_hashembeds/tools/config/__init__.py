"""Change a config to use an embedder of ours."""
