"""docs/reference.md and docs/python.md: what they show of functions is in the code."""

from importlib import import_module


def test_signatures_and_sentences_of_the_pages_are_those_of_the_code():
    script = import_module("lab.pages.reference")
    for page in script.PAGES:
        text = page.read_text(encoding="utf8")
        assert script.ENTRY.search(text)
        assert script.fill(text) == text
