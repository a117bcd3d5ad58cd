"""Columns of token files that number or name sentences, or number words."""

import re
from collections.abc import Sequence
from itertools import chain, groupby, pairwise

# In CoNLL-U, "3-4" is what 3 and 4 are written as, and "4.1" is a word left out.
NO_WORD = re.compile(r"[0-9]+[-.][0-9]+")


def name_sentences(blocks: Sequence[Sequence[str]]) -> bool:
    """Tell names of sentences from flags: none comes back, or they are numbers that
    grow from each blank line to the next, as in documents.
    """
    runs = [[cell for cell, _ in groupby(cells) if cell] for cells in blocks]
    names = [cell for cell, _ in groupby(chain(*blocks)) if cell]
    if len(set(names)) == len(names):
        return True
    numbers = [list(map(_parse_number, cells)) for cells in runs]
    return set(chain(*numbers)) != {0, 1} and all(
        before is not None and after is not None and before < after
        for block in numbers
        for before, after in pairwise(block)
    )


def number_sentences(columns: Sequence[Sequence[str]]) -> bool:
    """Tell the numbers of sentences, such as "Sentence: 1", in each row, or in the
    first row of each sentence alone. They may begin anew, and some blocks have one.
    """
    numbers: set[int] = set()
    has_several = False
    for cells in columns:
        marks = [_parse_number(cell) for cell in cells if cell]
        found = [mark for mark in marks if mark is not None]
        steps = {b - a for a, b in pairwise(found) if not a > b == found[0]}
        several = {0, 1} if len(found) == len(cells) else {1}
        if (
            not cells[0]
            or None in marks
            or steps not in (several, several - {1}, set())
        ):
            return False
        numbers.update(found)
        has_several = has_several or steps == several
    # Of nothing but these, a flag of tokens.
    return has_several and numbers != {0, 1}


def _parse_number(cell: str) -> int | None:
    """Take the number of "Sentence: 1" or "1.0"."""
    match = re.fullmatch(r"\D*([0-9]{1,9})(\.0)?", cell)
    return int(match[1]) if match else None


def number_words(cells: Sequence[tuple[int, str]]) -> bool:
    """Tell the numbers of words, given with their lines, as CoNLL-U has them."""
    if not all(re.fullmatch(r"[0-9]{1,9}([-.][0-9]+)?", cell) for _, cell in cells):
        return False
    words = [cell.isdecimal() for _, cell in cells]
    numbers = [(line, int(re.split("[-.]", cell)[0])) for line, cell in cells]
    return any(words) and all(
        after == before + 1
        or (after == before and not (is_word and was_word))
        or (line > last + 1 and after in (0, 1))
        for ((last, before), was_word), ((line, after), is_word) in pairwise(
            zip(numbers, words, strict=True)
        )
    )


def are_numbers(words: list[str]) -> bool:
    """Tell the numbers of the words of a sentence, or of the sentence, from words."""
    numbers = [word for word in words if not NO_WORD.fullmatch(word)]
    if not all(re.fullmatch("[0-9]{1,9}", number) for number in numbers):
        return False
    steps = {int(after) - int(before) for before, after in pairwise(numbers)}
    return steps <= {1} or steps <= {0}  # the number of the sentence, all the way
