"""Give each token its stem, `token._.stem`: name this file by `--code`.

For other languages than Spanish, name another stemmer of Snowball.
"""

from functools import lru_cache

import snowballstemmer
from spacy.tokens import Token

stem = lru_cache(100_000)(snowballstemmer.stemmer("spanish").stemWord)


def get_stem(token: Token) -> str:
    """Get the stem of a token. Unlike a lambda, this can be sent to processes."""
    return stem(token.lower_)


Token.set_extension("stem", getter=get_stem, force=True)
