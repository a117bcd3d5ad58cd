"""What every layer that hashes words does in the same way.

A hasher turns words into codes, each word on its own, and has no parameters:

- bits, eight to a byte, as many as its dimension `nO`: *shape* `(n, ceil(nO / 8))`,
  uint8, the first bit the highest of the first byte;
- or, once it is told by its dimension `nV` how many rows a table has, one of these:
  *shape* `(n, 1)`, uint32.

Codes depend on nothing but words, attributes and dimensions.
"""

import unicodedata
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from thinc.api import Model

from .checks import check_choice

#: Unicode's normal forms.
FORMS = ("NFC", "NFD", "NFKC", "NFKD")

# To bring combining marks into their order takes the square of their number. Longer
# words are cut.
_LONGEST = 1000


def get_settings(model: Model) -> tuple:
    """Say what the codes of a hasher depend on beside words."""
    # their number, since an attribute that was loaded may be one more
    return (len(model.attrs), model.maybe_get_dim("nV"), *model.attrs.values())


def normalize(words: Sequence[str], form: str | None) -> Sequence[str]:
    """Bring words into the Unicode form that they are hashed in, if there is one.

    Words of more than 1,000 characters in parts of so many, each on its own.
    """
    if form is None:
        return words
    to_form = partial(unicodedata.normalize, cast(Any, form))
    return [
        "".join(to_form(word[i : i + _LONGEST]) for i in range(0, len(word), _LONGEST))
        for word in words
    ]


def check_form(model: Model) -> None:
    if model.attrs["form"] is not None:
        check_choice(model, "form", FORMS)
