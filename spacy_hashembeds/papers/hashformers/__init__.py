"""HashFormers (paper 002): a vocabulary-independent transformer."""
