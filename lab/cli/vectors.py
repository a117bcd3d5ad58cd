"""`python -m lab rawtext` and `floret`: raw text, and word vectors."""

import random
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Literal

from spacy.cli._util import Arg, Opt
from spacy.tokens import Doc, DocBin
from spacy.training.corpus import FILE_TYPE
from spacy.vocab import Vocab
from wasabi import msg

from spacy_hashembeds.files import check_targets, replacing
from spacy_hashembeds.tools.cli._app import failing
from spacy_hashembeds.tools.cli._output import (
    QUIET,
    file_output,
    is_quiet,
    show_progress,
)
from spacy_hashembeds.tools.prepare.splits import SEED
from spacy_hashembeds.training.docbin import read_docs
from spacy_hashembeds.training.lines import decode_lines

from ..corpora.rawtext import RAW_FILES, find_raw_files, tokenize
from ._app import lab_cli

_END_OF_LINE = "</s>"


@lab_cli.command("rawtext")
def rawtext_cli(
    folder: Path = Arg(..., help="The raw files, assets/wnut17-raw.", file_okay=False),
    output: Path = file_output(
        "The text file to write, or a .spacy file for `spacy pretrain`", default=...
    ),
    held_out: list[Path] = Opt(
        [], help="A .spacy file, or a folder of them, whose texts are left out."
    ),
    added: list[Path] = Opt(
        [], "--add", help="A .spacy file, or a folder of them, whose tokens are added."
    ),
    quiet: bool = QUIET,
) -> None:
    """Tokenize the source text of WNUT 2017 like the corpus, one text per line, to
    train word vectors or a tok2vec.

    The text contains most sentences of the development and test data. Exclude them with
    --held-out; otherwise scores on them are too high. In a .spacy file, each text is a
    Doc, in a fixed random order.
    """
    with failing("Can't make the text"):
        check_targets([output], [folder, *held_out, *added])
        hidden = {_join(words) for path in held_out for words in _read_words(path)}
        raw = map(_tokenize_file, find_raw_files(folder))
        texts = [*filter(None, chain(*raw, *map(_read_words, added)))]
        kept = [words for words in texts if _join(words) not in hidden]
        with replacing(output) as temporary:
            if output.suffix == FILE_TYPE:
                # `spacy pretrain` does not shuffle, and each raw file has its own style
                random.Random(SEED).shuffle(kept)
                vocab = Vocab()
                docs = (Doc(vocab, words=words) for words in kept)
                DocBin(attrs=["ORTH"], docs=docs).to_disk(temporary)
            else:
                # tokens may contain line breaks
                lines = (" ".join(" ".join(words).split()) for words in kept)
                temporary.write_text("".join(f"{line}\n" for line in lines), "utf8")
    msg.info(f"Left out {len(texts) - len(kept):,} lines of held-out data")
    saved = f"{len(kept):,} lines of {sum(map(len, kept)):,} tokens"
    msg.good(f"Saved {saved} to {output}")


def _tokenize_file(path: Path) -> Iterator[list[str]]:
    # unlike `read_lines`, `decode_lines` accepts carriage returns within a line
    lines = (line for _, line in decode_lines(path))
    for line in show_progress(lines, f"Tokenizing {path.name}", unit="lines"):
        yield tokenize(line, split_contractions=RAW_FILES[path.name])


def _read_words(path: Path) -> Iterator[list[str]]:
    for doc in read_docs(path, Vocab()):
        yield [token.text for token in doc]


def _join(words: Iterable[str]) -> str:
    """Join words without white space, which differs between copies of a text."""
    return "".join("".join(words).split())


@lab_cli.command("floret")
def floret_cli(
    text: Path = Arg(
        ..., help="UTF-8 text, tokenized, with one text a line.", dir_okay=False
    ),
    output: Path = file_output(
        "The file of vectors to write, .floret, or .vec in mode fasttext", default=...
    ),
    mode: Literal["floret", "fasttext"] = Opt(
        "floret", "--mode", "-m", help="The kind of vectors."
    ),
    dim: int = Opt(100, "--dim", "-d", help="The width of the vectors.", min=1),
    bucket: int = Opt(50_000, "--bucket", "-b", help="The rows of the table.", min=1),
    hash_count: int = Opt(
        2, help="The rows of each word or n-gram (mode floret).", min=1, max=4
    ),
    minn: int = Opt(4, help="The shortest n-gram, in characters."),
    maxn: int = Opt(5, help="The longest n-gram, in characters."),
    min_count: int = Opt(5, help="Exclude words that occur less often.", min=1),
    epochs: int = Opt(5, help="The number of passes over the text.", min=1),
    threads: int = Opt(
        1, help="The number of threads. With several, results vary.", min=1
    ),
    quiet: bool = QUIET,
) -> None:
    """Train word vectors on text with floret, for `spacy init vectors`.

    In mode floret every word has a vector; in mode fasttext, only the words of the
    training text. With one thread, equal texts give equal vectors.
    """
    least = 2 if mode == "floret" else 0
    with failing("Can't train the vectors", RuntimeError):
        check_targets([output], [text])
        # spaCy and floret treat n-grams of one character differently
        if not least <= minn <= maxn:
            raise ValueError(
                f"'minn' should be {least} to 'maxn' in mode {mode}, but is {minn}."
            )
        trained = import_module("floret").train_unsupervised(
            str(text),
            **{"mode": mode, "dim": dim, "bucket": bucket, "hashCount": hash_count},
            **{"minn": minn, "maxn": maxn, "minCount": min_count, "epoch": epochs},
            thread=threads,
            verbose=2 if sys.stderr.isatty() and not is_quiet() else 0,
        )
        words, frequencies = trained.get_words(include_freq=True)
        name = "save_floret_vectors" if mode == "floret" else "save_vectors"
        with replacing(output) as temporary:
            getattr(trained, name)(str(temporary))
    counts = dict(zip(words, map(int, frequencies), strict=True))
    counts.pop(_END_OF_LINE, None)
    rows = bucket if mode == "floret" else len(words)
    msg.info(f"Trained on {sum(counts.values()):,} tokens of {len(counts):,} words")
    msg.good(f"Saved {rows:,} rows of {dim} to {output}")
    option = " --mode floret" if mode == "floret" else ""
    msg.text(f"Next: spacy init vectors LANG {output} FOLDER{option}")
