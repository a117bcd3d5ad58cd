"""Attention weights, as a component keeps them and as a command shows them."""

import json
import pickle

import numpy as np
import pytest
import spacy
from click import unstyle
from spacy.cli._util import app
from spacy.language import Language
from spacy.tokens import Doc
from typer.testing import CliRunner, Result

import spacy_hashembeds.cli  # noqa: F401
from lab.attention.attention import list_attention
from spacy_hashembeds.layers import selfattention

from ..toy_encoders import make_tok2vec

pytestmark = pytest.mark.torch

TEXTS = ["Anna met Carl in Rome", "", "Rome"]


def make_pipeline(name="AttBiLSTMEncoder", *, is_shared=True) -> Language:
    """A shared tok2vec, or a tagger with one of its own."""
    nlp = spacy.blank("en")
    tok2vec = make_tok2vec(name, 40)
    if is_shared:
        nlp.add_pipe("tok2vec", config={"model": tok2vec})
        listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 40}
        tok2vec = {**listener, "upstream": "tok2vec"}
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}
    tagger = nlp.add_pipe("tagger", config={"model": model})
    for label in "AB":
        tagger.add_label(label)
    nlp.initialize()
    return nlp


@pytest.mark.parametrize(("is_shared", "name"), [(True, "tok2vec"), (False, "tagger")])
def test_docs_have_the_weights_that_their_vectors_were_made_with(
    is_shared, name, monkeypatch
):
    nlp = make_pipeline(is_shared=is_shared)
    nlp.add_pipe("attention_weights")
    inputs = []
    find_weights = selfattention.find_weights

    def find(model, H):
        inputs.append((model, H))
        return find_weights(model, H)

    monkeypatch.setattr(selfattention, "find_weights", find)
    docs = list(nlp.pipe(TEXTS))
    for doc, (model, H) in zip(docs, inputs, strict=True):
        weights = doc._.attention_weights[name]
        assert list(doc._.attention_weights) == [name]
        assert weights.shape == (5, len(doc), len(doc))
        assert weights.dtype == "float32"
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
        # what the heads take by these weights is in the vectors
        values = (H @ model.get_param("value")).reshape(len(doc), 5, 4)
        found = np.einsum("hij,jhd->ihd", weights, values).reshape(len(doc), 20)
        if is_shared:
            np.testing.assert_allclose(found, doc.tensor[:, 20:], atol=1e-5)


def test_nothing_is_kept_unasked():
    nlp = make_pipeline()
    (doc,) = nlp.pipe(TEXTS[:1])
    assert not Doc.has_extension("attention_weights") or (
        doc._.attention_weights is None
    )


def test_it_is_saved_and_pickled_with_the_pipeline(tmp_path):
    nlp = make_pipeline()
    nlp.add_pipe("attention_weights")
    nlp.to_disk(tmp_path)
    expected = nlp(TEXTS[0])._.attention_weights["tok2vec"]
    for other in (spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
        weights = other(TEXTS[0])._.attention_weights["tok2vec"]
        np.testing.assert_array_equal(weights, expected)
    doc = nlp(TEXTS[0])
    copied = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    np.testing.assert_array_equal(copied._.attention_weights["tok2vec"], expected)


@pytest.mark.slow
def test_worker_processes_keep_them_too():
    nlp = make_pipeline()
    nlp.add_pipe("attention_weights")
    for doc, expected in zip(
        nlp.pipe(TEXTS * 2, n_process=2, batch_size=2), nlp.pipe(TEXTS * 2), strict=True
    ):
        for name, weights in expected._.attention_weights.items():
            np.testing.assert_allclose(
                doc._.attention_weights[name], weights, atol=1e-6
            )


def test_a_pipeline_without_attention_is_named():
    nlp = make_pipeline("BiLSTMEncoder")
    nlp.add_pipe("attention_weights", name="looking")
    message = r"'looking' needs .*AttBiLSTMEncoder\.v1, .* none: tok2vec, tagger, look"
    with pytest.raises(ValueError, match=message):
        nlp("Rome")


def run(*args) -> Result:
    return CliRunner().invoke(app, ["hashembeds", "attention", *map(str, args)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attention")
    make_pipeline().to_disk(folder / "att")
    make_pipeline("CrossBiLSTMEncoder").to_disk(folder / "cross")
    return folder


def test_each_token_s_favourite_is_printed(folder):
    result = run(folder / "att", TEXTS[0])
    assert result.exit_code == 0, result.output
    data = list_attention(spacy.load(folder / "att"), TEXTS[0])
    rows = [line.split() for line in result.stdout.splitlines()]
    head = np.array(data["components"][0]["heads"][0])
    for i, token in enumerate(data["tokens"]):
        (row,) = [row for row in rows if row[:1] == [token]]
        favourite = data["tokens"][head[i].argmax()]
        assert row[1:3] == [favourite, f"{100 * head[i].max():.0f}"]


def test_long_and_blank_tokens_fit_a_terminal(folder):
    result = run(folder / "att", "Internationalization  responsibilities\n\nx")
    assert result.exit_code == 0, result.output
    lines = unstyle(result.stdout).splitlines()
    assert max(map(len, lines)) <= 80
    tokens = [line.split("  ")[0] for line in filter(None, lines)][-5:]
    assert tokens == ["Intern…", "' '", "respon…", "'\\n\\n'", "x"]


def test_pages_and_json_have_all_weights(folder, tmp_path):
    page, file = tmp_path / "page.html", tmp_path / "weights.json"
    for output in (page, file):
        result = run(folder / "att", "Rome has <b> & co", "-o", output, "-q")
        assert result.exit_code == 0, result.output
    data = json.loads(file.read_text(encoding="utf8"))
    text = page.read_text(encoding="utf8")
    n = len(data["tokens"])
    assert text.count('<td style="background') == 5 * n * n
    weight = data["components"][0]["heads"][3][1][2]
    assert f'title="{100 * weight:.1f}"' in text
    assert "<b>" not in text
    assert "&lt;b" in text
    assert "http" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("att", ""), "should have 1 to 200 tokens, but has 0"),
        (("att", "a " * 201), "should have 1 to 200 tokens, but has 201"),
        (("att", "a \udcff"), "'text' should be in UTF-8"),
        (("cross", "Rome"), "AttBiLSTMEncoder.v1, but has none"),
        (("att", "Rome", "-o", "x.png"), "'output' should end in .json or .html"),
    ],
)
def test_what_can_not_be_shown_is_said(folder, arguments, message):
    name, *others = arguments
    result = run(folder / name, *others)
    assert result.exit_code == 1
    assert "".join(message.split()) in "".join(result.stderr.split())


def test_a_copied_encoder_is_found():
    """As `replace_listeners` makes it, without references."""
    nlp = make_pipeline()
    expected = list_attention(nlp, "a b")["components"][0]["heads"]
    nlp.replace_listeners("tok2vec", "tagger", ["model.tok2vec"])
    nlp.remove_pipe("tok2vec")
    (component,) = list_attention(nlp, "a b")["components"]
    assert component == {"name": "tagger", "heads": expected}


def test_several_encoders_of_a_component_are_told_apart():
    nlp = spacy.blank("en")
    model = {
        "@architectures": "spacy.Tagger.v2",
        "tok2vec": {
            "@layers": "concatenate.v1",
            "*": {n: make_tok2vec("AttBiLSTMEncoder", 40) for n in ("a", "b")},
        },
    }
    nlp.add_pipe("tagger", config={"model": model}).add_label("A")
    nlp.initialize()
    components = list_attention(nlp, "a b")["components"]
    assert [component["name"] for component in components] == ["tagger", "tagger 2"]


def test_the_component_of_another_pipeline_is_refused():
    source = make_pipeline()
    source.add_pipe("attention_weights")
    nlp = make_pipeline()
    nlp.add_pipe("attention_weights", source=source)
    with pytest.raises(ValueError, match="knows the encoders of another pipeline"):
        nlp("a b")
