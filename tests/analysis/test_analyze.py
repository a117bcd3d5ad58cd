"""The analysis of what is in memory, against that of the same on disk."""

import json
import re
from copy import deepcopy

import numpy
import pytest
import spacy
from spacy.cli._util import app
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import load_config, load_model_from_config
from typer.testing import CliRunner

import spacy_hashembeds.cli  # noqa: F401
from spacy_hashembeds.analysis.analyze import Analysis, analyze
from tests.configs import CONFIGS

CONFIG = CONFIGS / "multi_fewer_hash_embed.cfg"


@pytest.fixture(scope="module")
def files(tiny_corpus) -> dict[str, str]:
    return {name: str(tiny_corpus / f"{name}.spacy") for name in ("train", "dev")}


@pytest.fixture(scope="module")
def docs(files) -> dict[str, list[Doc]]:
    vocab = spacy.blank("en").vocab
    return {
        name: list(DocBin().from_disk(path).get_docs(vocab))
        for name, path in files.items()
    }


@pytest.fixture(scope="module")
def expected(files) -> dict:
    return analyze(**files, overrides={"nlp.lang": "en"})


def make_examples(docs: list[Doc]) -> list[Example]:
    """Examples whose predicted side has none of the annotation."""
    words = [[token.text for token in doc] for doc in docs]
    return [
        Example(Doc(doc.vocab, words=w), doc)
        for doc, w in zip(docs, words, strict=True)
    ]


@pytest.mark.parametrize("form", [list, iter, make_examples])
def test_what_is_in_memory_is_analysed_as_files_are(docs, expected, form):
    analysis = analyze(form(docs["train"]), dev=form(docs["dev"]))
    assert analysis == expected
    assert expected["splits"]["train"]["entities"] > 0
    assert json.loads(json.dumps(analysis)) == analysis


def test_files_have_no_language_of_their_own(files, docs):
    assert analyze(files["train"])["lang"] == "xx"
    assert analyze(files["train"], overrides={"nlp.lang": "de"})["lang"] == "de"
    assert analyze(docs["train"], overrides={"nlp.lang": "de"})["lang"] == "de"
    assert analyze([])["lang"] == "xx"


def test_configs_and_pipelines_may_be_in_memory(files, docs):
    by_path = analyze(files["train"], config=CONFIG)
    config = load_config(CONFIG)
    before = deepcopy(config)
    assert analyze(docs["train"], config=config) == by_path
    assert analyze(docs["train"], config=dict(config.interpolate())) == by_path
    assert config == before
    nlp = load_model_from_config(config, auto_fill=True)
    assert analyze(docs["train"], model=nlp) == by_path
    assert by_path["embedders"][0]["component"] == "tok2vec"


def test_vectors_may_be_in_memory(docs):
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("the", numpy.ones(2, dtype="float32"))
    counts = analyze(docs["train"], vectors=nlp)["splits"]["train"]
    assert counts["unknown"] == counts["vocabulary"] - 1


def test_it_prints_what_the_command_prints(files, docs):
    args = ["hashembeds", "analyze", files["train"], "--dev", files["dev"]]
    printed = CliRunner().invoke(app, [*args, "--nlp.lang", "en"]).output
    shown = str(analyze(docs["train"], dev=docs["dev"]))
    # which has colours, and breaks long lines earlier for them
    assert shown.split() == re.sub(r"\x1b\[[\d;]*m", "", printed).split()
    assert "= Options for hashing =" in shown


def test_a_notebook_shows_the_same_with_all_text_escaped(docs):
    vocab = docs["train"][0].vocab
    doc = Doc(vocab, words=["<script>alert(1)</script>"], ents=["B-<b>&"])
    analysis = analyze([doc], dev=[doc])
    html = analysis._repr_html_()
    for title in ("Corpus", "Token attributes", "Entities seen in training", "Advice"):
        assert f"<h3>{title}</h3>" in html
    assert '<td class="l">&lt;b&gt;&amp;</td>' in html
    assert "<b>&" not in html
    assert "<script" not in html


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"train": ["a text"]}, "'train' should be a path, or hold .* holds a str"),
        ({"train": [], "dev": [1]}, "'dev' should be a path, .* holds a int"),
        ({"config": {}}, "'config' should be a spaCy config, but no pipeline can"),
        (
            {"model": spacy.blank("en")},
            r"'model' has no embedding .*\(components: none",
        ),
        (
            {"model": spacy.blank("en"), "config": {"nlp": {"lang": "en"}}},
            "both came: 'config' and 'model'",
        ),
        (
            {"model": spacy.blank("en"), "overrides": {"nlp.lang": "de"}},
            "'nlp.lang' is a setting of a config, but the pipeline 'model' has none",
        ),
        ({"vectors": spacy.blank("en")}, "'vectors' should be a pipeline with word"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    with pytest.raises(ValueError, match=message):
        analyze(**{"train": [], **arguments})


def test_one_doc_is_no_corpus(docs):
    with pytest.raises(TypeError, match=r"Docs or .* is of type Doc\. A single one"):
        analyze(docs["train"][0])


def test_an_empty_corpus_is_shown(docs):
    analysis = analyze([])
    assert isinstance(analysis, Analysis)
    assert "There is not a token in the training corpus" in str(analysis)
    assert "\u26a0 There is not a token" in analysis._repr_html_()


def test_settings_of_a_config_in_memory_are_changed(docs):
    config = {"nlp": {"lang": "en", "pipeline": []}, "components": {}}
    with pytest.raises(ValueError, match=r"'config' should be .* language zz"):
        analyze(docs["train"], config=config, overrides={"nlp.lang": "zz"})
    assert config["nlp"]["lang"] == "en"
