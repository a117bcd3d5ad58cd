"""The raw text that WNUT 2017 was drawn from, tokenised to train on."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from spacy.tokens import Doc, DocBin
from spacy.training.corpus import FILE_TYPE
from spacy.vocab import Vocab

from lab.corpora.datasets import FETCH
from spacy_hashembeds.files import replacing
from spacy_hashembeds.tools.prepare.splits import SEED
from spacy_hashembeds.training.docbin import read_docs
from spacy_hashembeds.training.lines import decode_lines

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

Progress = Callable[[Iterator[str], str], Iterable[str]]

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


class RawTextCounts(NamedTuple):
    """Numbers of lines and tokens that were written, and of lines left out."""

    lines: int
    tokens: int
    held_out: int


def write_raw_text(
    folder: Path,
    output: Path,
    *,
    held_out: Iterable[Path] = (),
    added: Iterable[Path] = (),
    progress: Progress = lambda lines, name: lines,
) -> RawTextCounts:
    """Tokenise the raw files as WNUT 2017's development and test data are.

    A text file gets one text a line, with a space between tokens, in the order of the
    raw files. A `.spacy` file gets a Doc for each text, in an order that is drawn, the
    same each time: `spacy pretrain` takes them as they come, and the raw files are of
    one kind of text each.

    held_out: A line that has the text of one of their Docs, white space aside, is left
        out. Retweets with another beginning or end are still there.
    added: Docs whose tokens come after the raw files, if their texts are not held out.
    """
    paths = [Path(folder) / name for name in RAW_FILES]
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"{path}: a file of raw text is missing. {FETCH}.")
    held_out_texts = {_join(words) for path in held_out for words in _read_words(path)}
    counts: Counter[str] = Counter()

    def select() -> Iterator[list[str]]:
        tokenized = (
            tokenize(line, split_contractions=RAW_FILES[path.name])
            for path in paths
            # not `read_lines`: comments hold carriage returns, which are white space
            for line in progress((x for _, x in decode_lines(path, "UTF-8")), path.name)
        )
        own = (words for path in added for words in _read_words(path))
        # a line break among the tokens would end the line
        visible = (" ".join(words).split() if is_text else words for words in own)
        for words in filter(None, chain(tokenized, visible)):
            is_held_out = _join(words) in held_out_texts
            counts["held_out"] += is_held_out
            if not is_held_out:
                counts["lines"] += 1
                counts["tokens"] += len(words)
                yield words

    is_text = output.suffix != FILE_TYPE
    with replacing(output) as temporary:
        if is_text:
            with temporary.open("w", encoding="utf8") as file:
                file.writelines(" ".join(words) + "\n" for words in select())
        else:
            texts = list(select())
            random.Random(SEED).shuffle(texts)
            vocab = Vocab()
            # without white space that is known, so that readers keep these tokens
            docs = (Doc(vocab, words=words) for words in texts)
            DocBin(attrs=["ORTH"], docs=docs).to_disk(temporary)
    return RawTextCounts(counts["lines"], counts["tokens"], counts["held_out"])


def tokenize(text: str, *, split_contractions: bool) -> list[str]:
    """Tokenise text as WNUT 2017's development and test data are.

    Addresses, runs of letters, with the hyphens in them, and runs of digits are tokens;
    so is all else but white space. This gives 98% of those sentences exactly.
    """
    pattern = _TOKEN_IN_CONTRACTION if split_contractions else _TOKEN
    return pattern.findall(text)


def _read_words(path: Path) -> Iterator[list[str]]:
    for doc in read_docs(path, Vocab()):
        yield [token.text for token in doc]


def _join(words: Iterable[str]) -> str:
    """Join words without white space, which differs between copies of a text."""
    return "".join("".join(words).split())
