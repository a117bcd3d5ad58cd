"""`python -m lab attention`: as tables, pages and JSON."""

import json
from functools import partial

import numpy as np
import pytest
import spacy
from click import unstyle

from lab.attention.attention import list_attention
from tests.components.test_attention_weights import make_pipeline

from ..calling import call, check_failure, succeed

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


def test_long_and_blank_tokens_fit_a_terminal(folder):
    result = run(folder / "att", "Internationalization  responsibilities\n\nx")
    lines = unstyle(result.stdout).splitlines()
    assert max(map(len, lines)) <= 80
    tokens = [line.split("  ")[0] for line in filter(None, lines)][-5:]
    assert tokens == ["Intern…", "' '", "respon…", "'\\n\\n'", "x"]


def test_pages_and_json_have_all_weights(folder, tmp_path):
    page, file = tmp_path / "page.html", tmp_path / "weights.json"
    for output in (page, file):
        run(folder / "att", "Rome has <b> & co", "-o", output, "-q")
    data = json.loads(file.read_text(encoding="utf8"))
    text = page.read_text(encoding="utf8")
    n = len(data["tokens"])
    assert text.count('<td style="background') == 5 * n * n
    weight = data["components"][0]["heads"][3][1][2]
    assert f'rgba(31,95,153,{weight:.3f})">{100 * weight:.0f}</td>' in text
    assert "<b>" not in text
    assert "&lt;b" in text
    assert "http" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("att", ""), "should have 1 to 200 tokens, but has 0"),
        (("att", "a " * 201), "should have 1 to 200 tokens, but has 201"),
        (("cross", "Rome"), "AttBiLSTMEncoder.v1, but has none"),
        (("att", "Rome", "-o", "x.png"), "'output' should end in .json or .html"),
    ],
)
def test_what_can_not_be_shown_is_said(folder, arguments, message):
    name, *others = arguments
    check_failure(call("attention", folder / name, *others), message)
