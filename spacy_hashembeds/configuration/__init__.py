"""Putting our functions into configs that were written without them."""
