"""Word vectors with Bloom embeddings, trained with floret (extra: floret)."""

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy_hashembeds.arguments import check_choice, check_integers
from spacy_hashembeds.files import replacing
from spacy_hashembeds.training.lines import read_lines

from ..extras import import_extra

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

    The arguments are the options of `python -m lab floret`. floret seeds its generator
    with 0 and lets nobody change it: the same text and arguments give the same bytes
    with one thread; with more they differ each time.
    """
    check_choice(("floret", "fasttext"), mode=mode)
    check_choice(("skipgram", "cbow"), model=model)
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
    deque(read_lines(text, "utf8"), maxlen=0)  # or it is no UTF-8
    extra = "'spacy-hashembeds[floret]'"
    floret = import_extra("floret", "Training vectors needs floret", extra)
    settings: dict[str, Any] = {"mode": mode, "model": model, "dim": dim, "neg": neg}
    settings |= {"bucket": bucket, "hashCount": hash_count, "minn": minn, "maxn": maxn}
    settings |= {"minCount": min_count, "epoch": epochs, "lr": lr, "thread": threads}
    too_rare = (
        f"No word stands {min_count} times in '{text}'. Lower 'min_count', or take "
        "more text."
    )
    try:
        trained = floret.train_unsupervised(
            str(text), **settings, verbose=2 if show_progress else 0
        )
    except ValueError as e:
        raise ValueError(too_rare) from e
    except RuntimeError as e:
        message = f"Training diverged ({e}) at 'lr' {lr}. Lower it."
        raise RuntimeError(message) from e
    words, frequencies = trained.get_words(include_freq=True)
    counts = {w: int(count) for w, count in zip(words, frequencies, strict=True)}
    # floret leaves a row of its own to the most frequent word, and does not save it.
    # That does no harm where this is the end of a line.
    is_inexact = mode == "floret" and words[0] != _END_OF_LINE
    counts.pop(_END_OF_LINE, None)
    if not counts:
        raise ValueError(too_rare)
    rows = bucket if mode == "floret" else len(words)
    with replacing(output) as temporary:
        is_floret = mode == "floret"
        save = trained.save_floret_vectors if is_floret else trained.save_vectors
        save(str(temporary))
        with temporary.open("rb") as file:
            n_written = sum(line.endswith(b"\n") for line in file) - 1
        if n_written != rows:  # floret does not say so
            raise OSError(
                f"floret wrote only {max(0, n_written):,} of {rows:,} rows to "
                f"'{output}'. Is there space left?"
            )
    return TrainedVectors(
        rows=rows,
        words=len(counts),
        tokens=sum(counts.values()),
        inexact_word=words[0] if is_inexact else None,
    )
