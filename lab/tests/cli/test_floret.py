from functools import partial
from pathlib import Path

import pytest

from lab.vectors.floret import train_floret

from ..calling import squeeze, succeed

SETTINGS = ["--dim", "4", "--bucket", "50", "--min-count", "1", "--epochs", "1"]


run = partial(succeed, "floret")


@pytest.fixture
def text(tmp_path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("a b c\n" * 3 + "d\n" * 2)
    return path


def test_it_trains_as_the_function_does_and_says_what_is_next(text, tmp_path):
    output = tmp_path / "a.floret"
    result = run(text, "-o", output, *SETTINGS, "--hash-count", "3", "--model", "cbow")
    printed = squeeze(result.output)
    assert "Trained on 11 tokens of 4 words" in printed
    assert f"Saved 50 rows of 4 to {output}" in printed
    assert f"spacy init vectors LANG {output} FOLDER --mode floret" in printed
    assert "will differ" not in printed
    same = tmp_path / "b.floret"
    settings = {"dim": 4, "bucket": 50, "min_count": 1, "epochs": 1}
    train_floret(text, same, **settings, hash_count=3, model="cbow")
    assert output.read_bytes() == same.read_bytes()


def test_fasttext_s_vectors_need_no_mode_in_spacy(text, tmp_path):
    output = tmp_path / "a.vec"
    result = run(text, "-o", output, *SETTINGS, "--mode", "fasttext")
    printed = squeeze(result.output)
    assert "Saved 5 rows of 4" in printed
    assert printed.endswith("FOLDER")


def test_a_word_whose_vector_will_differ_is_warned_of(text, tmp_path):
    text.write_text("a a b\na a c\n")
    result = run(text, "-o", tmp_path / "a.floret", *SETTINGS)
    assert "spaCy's vector of 'a' will differ" in squeeze(result.output)
