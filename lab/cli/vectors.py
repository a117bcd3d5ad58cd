"""`python -m lab rawtext` and `floret`: raw text, and word vectors trained on it."""

import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Literal

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
from ..extras import import_extra
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
    """Tokenise the raw text behind WNUT 2017 as the corpus itself is, one text a line,
    to train word vectors or a tok2vec on.

    Nearly every sentence of the development and test data stands in that text: leave
    them out with --held-out, or scores on them say less than they seem to. A .spacy
    file has a Doc for each text, in an order that is drawn, the same each time.
    """
    counts: Counter[str] = Counter()
    with failing("Can't make the text"):
        check_targets([output], [folder, *held_out, *added])
        hidden = {_join(words) for path in held_out for words in _read_words(path)}
        texts = chain(
            *(_tokenize_file(path) for path in find_raw_files(folder)),
            *(_read_words(path) for path in added),
        )

        def select() -> Iterator[list[str]]:
            for words in filter(None, texts):
                is_hidden = _join(words) in hidden
                counts["hidden"] += is_hidden
                if not is_hidden:
                    counts["lines"] += 1
                    counts["tokens"] += len(words)
                    yield words

        with replacing(output) as temporary:
            if output.suffix == FILE_TYPE:
                # `spacy pretrain` takes them as they come, and files are of one kind
                kept = list(select())
                random.Random(SEED).shuffle(kept)
                vocab = Vocab()
                # without white space that is known, so that readers keep these tokens
                docs = (Doc(vocab, words=words) for words in kept)
                DocBin(attrs=["ORTH"], docs=docs).to_disk(temporary)
            else:
                # a line break among the tokens would end the line
                lines = (" ".join(" ".join(words).split()) for words in select())
                with temporary.open("w", encoding="utf8") as file:
                    file.writelines(f"{line}\n" for line in lines)
    msg.info(f"Left out {counts['hidden']:,} lines of held-out data")
    saved = f"{counts['lines']:,} lines of {counts['tokens']:,} tokens"
    msg.good(f"Saved {saved} to {output}")


def _tokenize_file(path: Path) -> Iterator[list[str]]:
    # not `read_lines`: comments hold carriage returns, which are white space
    lines = (line for _, line in decode_lines(path))
    for line in show_progress(lines, f"Tokenising {path.name}", unit="lines"):
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
        ..., help="UTF-8 text, tokenised, with one text a line.", dir_okay=False
    ),
    output: Path = file_output(
        "The file of vectors to write, .floret, or .vec in mode fasttext", default=...
    ),
    mode: Literal["floret", "fasttext"] = Opt(
        "floret", "--mode", "-m", help="What to train."
    ),
    model: Literal["skipgram", "cbow"] = Opt(
        "skipgram", "--model", help="How to train it."
    ),
    dim: int = Opt(100, "--dim", "-d", help="The width of the vectors.", min=1),
    bucket: int = Opt(50_000, "--bucket", "-b", help="The rows of the table.", min=1),
    hash_count: int = Opt(
        2, help="The rows of each word or n-gram (mode floret).", min=1, max=4
    ),
    minn: int = Opt(4, help="The shortest n-gram, in characters."),
    maxn: int = Opt(5, help="The longest n-gram, in characters."),
    min_count: int = Opt(
        5, help="How often a word must be seen to be trained on.", min=1
    ),
    epochs: int = Opt(5, help="How often to go through the text.", min=1),
    neg: int = Opt(5, help="The number of negative examples for each word.", min=1),
    lr: float = Opt(0.05, help="The learning rate at the start.", min=1e-9),
    threads: int = Opt(
        1,
        help="How many threads to use; with more than one, results differ each time.",
        min=1,
    ),
    quiet: bool = QUIET,
) -> None:
    """Train word vectors on text with floret (extra: floret), for `spacy init vectors`.

    In mode floret every word has a vector, known or not; in mode fasttext, those that
    were trained on. With one thread the same text gives the same vectors: floret seeds
    its generator with 0.
    """
    is_floret = mode == "floret"
    settings: dict[str, Any] = {"mode": mode, "model": model, "dim": dim, "neg": neg}
    settings |= {"bucket": bucket, "hashCount": hash_count, "minn": minn, "maxn": maxn}
    settings |= {"minCount": min_count, "epoch": epochs, "lr": lr, "thread": threads}
    settings["verbose"] = 2 if sys.stderr.isatty() and not is_quiet() else 0
    with failing("Can't train the vectors", RuntimeError):
        check_targets([output], [text])
        # spaCy takes shorter ones otherwise than floret does
        if not 2 * is_floret <= minn <= maxn:
            raise ValueError(
                f"'minn' should be from {2 * is_floret} to 'maxn' in mode {mode}, but "
                f"is {minn}. For most alphabets take 4 and 5, for Korean 2 and 3."
            )
        for _ in decode_lines(text):  # or it is no UTF-8
            pass
        extra = "'spacy-hashembeds[floret]'"
        floret = import_extra("floret", "Training vectors needs floret", extra)
        trained = floret.train_unsupervised(str(text), **settings)
        words, frequencies = trained.get_words(include_freq=True)
        counts = {w: int(count) for w, count in zip(words, frequencies, strict=True)}
        counts.pop(_END_OF_LINE, None)
        if not counts:
            raise ValueError(f"No word stands 'min_count' times in '{text}'. Lower it.")
        rows = bucket if is_floret else len(words)
        with replacing(output) as temporary:
            save = trained.save_floret_vectors if is_floret else trained.save_vectors
            save(str(temporary))
            with temporary.open("rb") as file:
                n_written = sum(line.endswith(b"\n") for line in file) - 1
            if n_written != rows:  # floret does not say so
                raise OSError(
                    f"floret wrote only {max(0, n_written):,} of {rows:,} rows to "
                    f"'{output}'. Is there space left?"
                )
    # floret leaves a row of its own to the most frequent word, and does not save it.
    # That does no harm where this is the end of a line.
    if is_floret and words[0] != _END_OF_LINE:
        msg.warn(
            f"spaCy's vector of {words[0]!r} will differ a little",
            "floret keeps a row of its own for the most frequent word and does not "
            "save it. Break the text into shorter lines, so that no word is as "
            "frequent as the ends of lines are.",
        )
    msg.info(f"Trained on {sum(counts.values()):,} tokens of {len(counts):,} words")
    msg.good(f"Saved {rows:,} rows of {dim} to {output}")
    option = " --mode floret" if is_floret else ""
    msg.text(f"Next: spacy init vectors LANG {output} FOLDER{option}")
