"""`python -m lab attention`: as tables, pages and JSON."""

import json
from functools import partial

import numpy as np
import pytest
import spacy

from lab.attention.attention import list_attention
from lab.tests.test_attention_weights import make_pipeline

from ..calling import succeed

pytestmark = pytest.mark.torch

TEXT = "Anna met Carl in Rome"


run = partial(succeed, "attention")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attention")
    make_pipeline().to_disk(folder / "att")
    make_pipeline("CrossBiLSTMEncoder").to_disk(folder / "cross")
    return folder


def test_each_token_s_favourite_is_printed(folder):
    result = run(folder / "att", TEXT)
    data = list_attention(spacy.load(folder / "att"), TEXT)
    rows = [line.split() for line in result.stdout.splitlines()]
    head = np.array(data["components"][0]["heads"][0])
    for i, token in enumerate(data["tokens"]):
        (row,) = [row for row in rows if row[:1] == [token]]
        favourite = data["tokens"][head[i].argmax()]
        assert row[1:3] == [favourite, f"{100 * head[i].max():.0f}"]


def test_json_has_all_weights(folder, tmp_path):
    file = tmp_path / "weights.json"
    run(folder / "att", TEXT, "-o", file, "-q")
    assert json.loads(file.read_text()) == list_attention(
        spacy.load(folder / "att"), TEXT
    )
