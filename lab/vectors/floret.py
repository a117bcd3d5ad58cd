"""Word vectors with Bloom embeddings, trained with floret (extra: floret)."""

import errno
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy_hashembeds.checks import check_choice, check_integers
from spacy_hashembeds.corpora.lines import read_lines
from spacy_hashembeds.files import replacing

from ..extras import import_extra

MODES = ("floret", "fasttext")
MODELS = ("skipgram", "cbow")

#: How talkative floret has to be.
_SHOW_PROGRESS = 2

_END_OF_LINE = "</s>"


@dataclass(frozen=True, kw_only=True)
class TrainedVectors:
    """Sizes of trained vectors."""

    rows: int  # of the table, or in mode fasttext of words and the end of a line
    words: int  # distinct ones that were frequent enough
    tokens: int  # how often these stand in the text
    inexact_word: str | None  # whose vector spaCy won't give as floret does


def train_floret(
    text: Path,
    output: Path,
    *,
    mode: str = "floret",
    model: str = "skipgram",
    dim: int = 100,
    bucket: int = 50_000,
    hash_count: int = 2,
    minn: int = 4,
    maxn: int = 5,
    min_count: int = 5,
    epochs: int = 5,
    neg: int = 5,
    lr: float = 0.05,
    threads: int = 1,
    show_progress: bool = False,
) -> TrainedVectors:
    """Train word vectors and write them as `spacy init vectors` reads them.

    The arguments are the options of `python -m lab floret`, which docs/vectors.md says
    more of. floret seeds its generator with 0 and lets nobody change it: the same text
    and arguments give the same bytes with one thread; with more they differ each time.

    RAISES (ValueError): An argument out of its range, a text that is not UTF-8, as
        `path:line: …`, or one in which no word is frequent enough.
    RAISES (OSError): If there is no such text, or not all vectors can be written.
    RAISES (RuntimeError): If training diverges.
    """
    check_choice(MODES, mode=mode)
    check_choice(MODELS, model=model)
    # floret itself hangs, or ends the process, at some of these
    check_integers(1, dim=dim, bucket=bucket, min_count=min_count, epochs=epochs)
    check_integers(1, neg=neg, threads=threads)
    check_integers(1, 4, hash_count=hash_count)
    if not lr > 0:
        raise ValueError(f"'lr' should be more than 0, but is {lr}.")
    # spaCy takes shorter ones otherwise than floret does
    least = 2 if mode == "floret" else 0
    if not least <= minn <= maxn:
        raise ValueError(
            f"'minn' should be from {least} to 'maxn' in mode {mode}, but they are "
            f"{minn} and {maxn}. For most alphabets take 4 and 5, for Korean 2 and 3."
        )
    if not text.is_file():
        raise FileNotFoundError(f"There is no file '{text}', which 'text' names.")
    deque(read_lines(text, "utf8"), maxlen=0)  # or it is no UTF-8
    trained = _train(
        text,
        mode=mode,
        model=model,
        dim=dim,
        bucket=bucket,
        hashCount=hash_count,
        minn=minn,
        maxn=maxn,
        minCount=min_count,
        epoch=epochs,
        neg=neg,
        lr=lr,
        thread=threads,
        verbose=_SHOW_PROGRESS if show_progress else 0,
    )
    words, frequencies = trained.get_words(include_freq=True)
    counts = {w: int(count) for w, count in zip(words, frequencies, strict=True)}
    # floret leaves a row of its own to the most frequent word, and does not save it.
    # That does no harm where this is the end of a line.
    is_inexact = mode == "floret" and words[0] != _END_OF_LINE
    counts.pop(_END_OF_LINE, None)
    if not counts:
        raise _make_too_rare_error(text, min_count)
    rows = bucket if mode == "floret" else len(words)
    with replacing(output) as temporary:
        if mode == "floret":
            trained.save_floret_vectors(str(temporary))
        else:
            trained.save_vectors(str(temporary))
        _check_complete(temporary, rows)
    return TrainedVectors(
        rows=rows,
        words=len(counts),
        tokens=sum(counts.values()),
        inexact_word=words[0] if is_inexact else None,
    )


def _check_complete(path: Path, rows: int) -> None:
    """Check that floret wrote a header and all rows: it does not say if it can't."""
    with path.open("rb") as file:
        n_lines = sum(line.endswith(b"\n") for line in file)
    if n_lines != rows + 1:
        raise OSError(
            errno.EIO,
            f"floret wrote only {max(0, n_lines - 1):,} of {rows:,} rows. Is there "
            "space left?",
            str(path),
        )


def _train(text: Path, **settings: Any) -> Any:
    extra = "'spacy-hashembeds[floret]'"
    floret = import_extra("floret", "Training vectors needs floret", extra)
    try:
        return floret.train_unsupervised(str(text), **settings)
    except ValueError as e:
        raise _make_too_rare_error(text, settings["minCount"]) from e
    except RuntimeError as e:
        raise RuntimeError(
            f"Training diverged ({e}) at 'lr' {settings['lr']}. Lower it."
        ) from e


def _make_too_rare_error(text: Path, min_count: int) -> ValueError:
    return ValueError(
        f"No word stands {min_count} times in '{text}'. Lower 'min_count', or take "
        "more text."
    )
