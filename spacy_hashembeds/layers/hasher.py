"""What hashers do in the same way: layers without parameters, from words to codes.

Each word has its own, which depends on nothing but attributes and dimensions:

- bits, eight to a byte, as many as the dimension `nO`: *shape* `(n, ceil(nO / 8))`,
  uint8, the first bit the highest of the first byte;
- or, once the dimension `nV` says how many rows a table has, one of these: *shape*
  `(n, 1)`, uint32.
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
    """Bring words into the Unicode form that they are hashed in, if there is one."""
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
