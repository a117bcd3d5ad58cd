"""Pipelines that an earlier version saved load, and predict the same.

saved_pipelines.zip has a pipeline for each config that needs no code of the lab,
trained for three steps with the smallest layers, and its predictions for `TEXTS`.
"""

import zipfile
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

SAVED = Path(__file__).with_name("saved_pipelines.zip")
TEXTS = (["Anna", "saw", "Paris", "."], ["Nobody", "was", "zzz"], ["the", "café", "😀"])


def list_names() -> list[str]:
    with zipfile.ZipFile(SAVED) as file:
        return sorted({name.partition("/")[0] for name in file.namelist()})


def make_parameter(name: str) -> object:
    return pytest.param(name, marks=[pytest.mark.torch] * name.startswith("bilstm"))


@pytest.mark.parametrize("name", [*map(make_parameter, list_names())])
def test_saved_pipelines_predict_the_same(name, tmp_path):
    with zipfile.ZipFile(SAVED) as file:
        file.extractall(
            tmp_path, [n for n in file.namelist() if n.startswith(f"{name}/")]
        )
    nlp = spacy.load(tmp_path / name)
    expected = np.load(tmp_path / name / "expected.npz")
    for i, words in enumerate(TEXTS):
        doc = nlp(Doc(nlp.vocab, words=words))
        np.testing.assert_allclose(doc.tensor, expected[f"tensor{i}"], atol=1e-5)
        np.testing.assert_allclose(
            [*doc.cats.values()], expected[f"cats{i}"], atol=1e-5
        )
        ents = [(ent.start, ent.end) for ent in doc.ents]
        assert np.array_equal(np.reshape(ents, (-1, 2)), expected[f"ents{i}"])
