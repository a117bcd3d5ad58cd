"""The raw text that WNUT 2017 was drawn from, tokenised to train on."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.training.corpus import FILE_TYPE
from spacy.vocab import Vocab

from lab.corpora.dataset import FETCH
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.corpora.lines import decode_lines
from spacy_hashembeds.corpora.splits import SEED
from spacy_hashembeds.files import replacing

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


@dataclass(frozen=True, kw_only=True)
class RawTextCounts:
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
            for line in progress(_read_lines(path), path.name)
        )
        texts = chain(tokenized, *map(read_added, added))
        for words in filter(None, texts):
            is_held_out = _join(words) in held_out_texts
            counts["held_out"] += is_held_out
            if not is_held_out:
                counts["lines"] += 1
                counts["tokens"] += len(words)
                yield words

    is_text = output.suffix != FILE_TYPE
    # a line break among the tokens would end the line
    read_added = _read_visible if is_text else _read_words
    write = _write_lines if is_text else _write_docs
    with replacing(output) as temporary:
        write(select(), temporary)
    return RawTextCounts(
        lines=counts["lines"], tokens=counts["tokens"], held_out=counts["held_out"]
    )


def _write_lines(texts: Iterator[list[str]], path: Path) -> None:
    with path.open("w", encoding="utf8") as file:
        file.writelines(" ".join(words) + "\n" for words in texts)


def _write_docs(texts: Iterator[list[str]], path: Path) -> None:
    shuffled = list(texts)
    random.Random(SEED).shuffle(shuffled)
    vocab = Vocab()
    # without white space that is known, so that readers keep these tokens
    docs = (Doc(vocab, words=words) for words in shuffled)
    DocBin(attrs=["ORTH"], docs=docs).to_disk(path)


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


def _read_visible(path: Path) -> Iterator[list[str]]:
    for words in _read_words(path):
        yield " ".join(words).split()


def _join(words: Iterable[str]) -> str:
    """Join words without white space, which differs between copies of a text."""
    return "".join("".join(words).split())


def _read_lines(path: Path) -> Iterator[str]:
    # not `read_lines`: YouTube's comments hold carriage returns, which are white space
    return (line for _, line in decode_lines(path, "UTF-8"))
