"""The raw text that WNUT 2017 was drawn from, tokenised as the corpus is."""

import re
from collections.abc import Mapping
from pathlib import Path

from .datasets import FETCH

#: The files, and whether WNUT 2017 splits the contractions in each ("do n ' t"):
#: it does not in tweets ("don ' t").
RAW_FILES: Mapping[str, bool] = {
    "gurez.10000": False,  # tweets
    "ile.10000": False,
    "palm.10000": False,
    "rigo.10000": False,
    "redd.tok.uniq": True,  # Reddit, tokenised in part
    "stacko-src": True,  # StackExchange
    "yt-filter": True,  # YouTube
}

_LETTER = r"[^\W\d_]"
# An address ends before the punctuation that ends a clause or a bracket.
_ADDRESS = r"https?:\S*?(?=[)\]?.,:;]*(?:\s|$))"
_NEGATED = (
    rf"{_LETTER}+(?=[nN]['\u2019][tT](?!{_LETTER}))|[nN](?=['\u2019][tT](?!{_LETTER}))"
)
# Hyphens belong to words; all other marks, and each sign of an emoji, stand alone.
_WORD = rf"{_LETTER}+(?:-{_LETTER}+)*-?|\d+|\S"

_TOKEN = re.compile(f"{_ADDRESS}|{_WORD}")
_TOKEN_IN_CONTRACTION = re.compile(f"{_ADDRESS}|{_NEGATED}|{_WORD}")


def find_raw_files(folder: Path) -> list[Path]:
    """Find the raw files in a folder, in their order."""
    paths = [folder / name for name in RAW_FILES]
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"{path}: a file of raw text is missing. {FETCH}.")
    return paths


def tokenize(text: str, *, split_contractions: bool) -> list[str]:
    """Tokenise text as WNUT 2017's development and test data are.

    Addresses, runs of letters, with the hyphens in them, and runs of digits are tokens;
    so is all else but white space. This gives 98% of those sentences exactly.
    """
    pattern = _TOKEN_IN_CONTRACTION if split_contractions else _TOKEN
    return pattern.findall(text)
