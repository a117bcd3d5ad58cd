"""What a config runs while a pipeline trains."""
