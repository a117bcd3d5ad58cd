"""Word vectors trained with floret, as spaCy gives them."""

import resource
import sys
from pathlib import Path
from typing import Any

import floret
import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training.initialize import convert_vectors

from lab.corpora.demo import make_demo_corpus
from lab.vectors.floret import train_floret

# Small, and other than the defaults, so that each argument is seen to arrive.
SETTINGS: dict[str, Any] = {
    "model": "cbow",
    "dim": 8,
    "bucket": 500,
    "hash_count": 3,
    "minn": 2,
    "maxn": 4,
    "min_count": 2,
    "epochs": 3,
    "neg": 3,
    "lr": 0.1,
}

# Text exports have five digits: half of the last, of a number up to 10.
PRECISION = 5e-5


UNSEEN = ["Zyxwvu", "appletrees", "ox", "x", "<", "naïve", "😀😀", "Ünïcödé"]


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    """The demo corpus's training sentences, one a line."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    lines = (" ".join(words) for words, _ in make_demo_corpus()["train"])
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


#: Those that have other names there.
NAMES = {"hash_count": "hashCount", "min_count": "minCount", "epochs": "epoch"}


def train_with_floret(text: Path, mode: str) -> Any:
    """The same training by floret itself."""
    settings = {NAMES.get(name, name): value for name, value in SETTINGS.items()}
    return floret.train_unsupervised(
        str(text), mode=mode, thread=1, verbose=0, **settings
    )


def load_vectors(path: Path, mode: str) -> Language:
    """A blank pipeline with vectors, made as `spacy init vectors` makes it."""
    nlp = spacy.blank("en")
    mode = "floret" if mode == "floret" else "default"
    convert_vectors(nlp, path, truncate=0, prune=-1, mode=mode)
    return nlp


def measure_differences(nlp: Language, trained: Any, words: list[str]) -> list[float]:
    return [
        float(np.abs(nlp.vocab[word].vector - trained.get_word_vector(word)).max())
        for word in words
    ]


def test_spacy_gives_floret_s_vectors_to_seen_and_unseen_words(text, tmp_path):
    output = tmp_path / "new" / "demo.floret"
    result = train_floret(text, output, **SETTINGS)
    trained = train_with_floret(text, "floret")
    words, frequencies = trained.get_words(include_freq=True)
    assert words[0] == "</s>"
    assert not set(UNSEEN) & set(words)
    nlp = load_vectors(output, "floret")
    differences = measure_differences(nlp, trained, words[1:] + UNSEEN)
    assert max(differences) < PRECISION
    vectors = np.array([trained.get_word_vector(word) for word in words])
    assert np.linalg.norm(vectors, axis=1).min() > 100 * PRECISION
    assert (result.rows, result.words) == (500, len(words) - 1)
    assert result.tokens == frequencies[1:].sum()
    assert result.inexact_word is None


def test_fasttext_vectors_are_those_of_the_words_in_the_text(text, tmp_path):
    output = tmp_path / "demo.vec"
    result = train_floret(text, output, mode="fasttext", **SETTINGS)
    trained = train_with_floret(text, "fasttext")
    words = [word for word in trained.words if word != "</s>"]
    nlp = load_vectors(output, "fasttext")
    assert max(measure_differences(nlp, trained, words)) < PRECISION
    assert not any(nlp.vocab[word].has_vector for word in UNSEEN)
    assert (result.rows, result.words) == (len(words) + 1, len(words))
    assert result.inexact_word is None
    # n-grams of one character, which spaCy takes otherwise, are written out in words
    settings = {**SETTINGS, "minn": 1, "maxn": 3}
    train_floret(text, tmp_path / "fine.vec", mode="fasttext", **settings)


def test_the_one_word_that_spacy_gives_otherwise_is_named(text, tmp_path):
    # All on one line: no end of a line is as frequent as a word.
    long = tmp_path / "long.txt"
    long.write_text(text.read_text(encoding="utf8").replace("\n", " "))
    output = tmp_path / "long.floret"
    result = train_floret(long, output, **SETTINGS)
    trained = train_with_floret(long, "floret")
    words = [word for word in trained.words if word != "</s>"]
    differences = measure_differences(load_vectors(output, "floret"), trained, words)
    assert [
        word
        for word, difference in zip(words, differences, strict=True)
        if difference > PRECISION
    ] == [result.inexact_word]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "bloom"}, "'mode' should be 'floret' or 'fasttext', but is 'bloom'"),
        ({"model": "glove"}, "'model' should be 'skipgram' or 'cbow', but is 'glove'"),
        ({"bucket": 0}, "'bucket' should be 1 or more, but is 0"),
        *(
            ({name: 0}, f"'{name}' should be 1 ")
            for name in ("dim", "threads", "epochs", "min_count", "neg", "hash_count")
        ),
        ({"lr": float("nan")}, "'lr' should be more than 0, but is nan"),
        ({"hash_count": 5}, "'hash_count' should be 1 to 4, but is 5"),
        ({"minn": 5, "maxn": 4}, "'minn' should be from 2 to 'maxn' .* 5 and 4"),
        ({"minn": 1, "maxn": 3}, "'minn' should be from 2 to 'maxn' .* 1 and 3"),
        ({"min_count": 10**6}, "No word stands 1000000 times .* Lower 'min_count'"),
    ],
)
def test_arguments_out_of_range_are_refused(text, tmp_path, settings, message):
    output = tmp_path / "out.floret"
    output.write_text("old")
    with pytest.raises(ValueError, match=message):
        train_floret(text, output, **{**SETTINGS, **settings})
    assert output.read_text() == "old"
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize(
    ("content", "settings", "error", "message"),
    [
        (None, {}, FileNotFoundError, r"text\.txt', which 'text' names"),
        (b"good\nb\xe4d\n", {}, ValueError, r"text\.txt:2: not utf8 text"),
        (b"", {}, ValueError, r"No word stands 2 times in .*text\.txt"),
        (b"\n" * 50, {}, ValueError, r"No word stands 2 times in .*text\.txt"),
        (
            b"apple pear fig\n" * 999,
            {"lr": 1e20},
            RuntimeError,
            r"diverged .* 1e\+20\. Lower",
        ),
    ],
)
def test_a_text_that_cannot_be_trained_on_is_named(
    content, settings, error, message, tmp_path
):
    text, output = tmp_path / "text.txt", tmp_path / "out.floret"
    if content is not None:
        text.write_bytes(content)
    with pytest.raises(error, match=message):
        train_floret(text, output, **{**SETTINGS, **settings})
    assert not {*tmp_path.iterdir()} - {text}


@pytest.mark.parametrize("mode", ["floret", "fasttext"])
def test_a_file_that_floret_cannot_write_in_full_is_not_kept(text, tmp_path, mode):
    # floret itself goes on as if nothing had happened
    output = tmp_path / "vectors.floret"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
    try:
        with pytest.raises(OSError, match=r"wrote only \d+ of .*'.*/vectors.floret'"):
            train_floret(text, output, **SETTINGS, mode=mode)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_the_absence_of_floret_names_our_extra(text, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "floret", None)
    with pytest.raises(ImportError, match=r"pip install 'spacy-hashembeds\[floret\]'"):
        train_floret(text, tmp_path / "out.floret")
