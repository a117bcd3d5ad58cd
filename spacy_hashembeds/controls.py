"""Control characters in what people read.

A word or a label of a corpus may hold any character. Printed as it is, an escape
sequence would move the cursor of a terminal, or write its title.
"""

import re

# All but tabs and ends of lines, which texts for people have.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def show_controls(text: str) -> str:
    r"""Write control characters as Python does, such as `\x1b`.

    text (str): Text for people, without colours.
    RETURNS (str): The same, with tabs and ends of lines as they are.
    """
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
