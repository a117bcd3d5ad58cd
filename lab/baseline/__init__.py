"""The baseline that anybody can run: a conditional random field."""
