"""The source text of WNUT 2017, tokenized like the corpus."""

import re
from collections.abc import Mapping
from pathlib import Path

from .datasets import FETCH

#: The files, and whether WNUT 2017 splits their contractions ("do n ' t" or "don ' t").
RAW_FILES: Mapping[str, bool] = {
    "gurez.10000": False,  # tweets
    "ile.10000": False,
    "palm.10000": False,
    "rigo.10000": False,
    "redd.tok.uniq": True,  # Reddit, tokenized in part
    "stacko-src": True,  # StackExchange
    "yt-filter": True,  # YouTube
}

_LETTER = r"[^\W\d_]"
# A URL ends before punctuation that ends a clause or a bracket.
_ADDRESS = r"https?:\S*?(?=[)\]?.,:;]*(?:\s|$))"
_NEGATED = (
    rf"{_LETTER}+(?=[nN]['\u2019][tT](?!{_LETTER}))|[nN](?=['\u2019][tT](?!{_LETTER}))"
)
# Words may contain hyphens. Other punctuation and characters of emojis are tokens.
_WORD = rf"{_LETTER}+(?:-{_LETTER}+)*-?|\d+|\S"

_TOKEN = re.compile(f"{_ADDRESS}|{_WORD}")
_TOKEN_IN_CONTRACTION = re.compile(f"{_ADDRESS}|{_NEGATED}|{_WORD}")


def find_raw_files(folder: Path) -> list[Path]:
    """Return the raw files in a folder."""
    paths = [folder / name for name in RAW_FILES]
    if missing := [path for path in paths if not path.is_file()]:
        raise FileNotFoundError(f"There is no '{missing[0]}'. {FETCH}.")
    return paths


def tokenize(text: str, *, split_contractions: bool) -> list[str]:
    """Tokenize text like the development and test data of WNUT 2017.

    Tokens are URLs, runs of letters and hyphens, runs of digits, and other characters
    except white space. 98% of the sentences are reproduced exactly.
    """
    pattern = _TOKEN_IN_CONTRACTION if split_contractions else _TOKEN
    return pattern.findall(text)
