"""The analysis of corpora and pipelines, in files and in memory."""

import json
import re
from copy import deepcopy

import pytest
import spacy
from spacy.cli._util import app
from spacy.tokens import Doc, DocBin, Span
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
    assert json.loads(json.dumps(analysis, allow_nan=False)) == analysis


@pytest.fixture
def few() -> dict[str, list[Doc]]:
    """Six tokens for training, and three."""
    vocab = spacy.blank("en").vocab
    train = [
        Doc(vocab, words=["New", "York", "calls"], ents=["B-LOC", "I-LOC", "O"]),
        Doc(vocab),
        Doc(vocab, words=["Ann", "calls", "calls"], ents=["B-PER", "O", "O"]),
    ]
    dev = [Doc(vocab, words=["Ann", "calls", "Bo"], ents=["B-ORG", "O", "B-PER"])]
    return {"train": train, "dev": dev}


def test_all_that_is_found_of_a_few_words(few):
    data = analyze(**few, config=CONFIG)
    assert data["lang"] == "en"
    assert list(data["splits"]) == ["train", "dev"]
    counts = data["splits"]["train"]
    assert (counts["documents"], counts["tokens"], counts["entities"]) == (3, 6, 2)
    assert data["features"]["NORM"] == {"values": 4, "once": 3, "at_least_10": 0}
    assert data["entities"].keys() == {"dev"}
    seen = data["entities"]["dev"]
    assert (seen["seen"], seen["unseen"]) == (1, 1)
    (embedder,) = data["embedders"]
    assert embedder["component"] == "tok2vec"
    assert not embedder["has_vectors"]
    assert [t["attr"] for t in embedder["tables"]] == list(data["features"])
    assert {table["kind"] for table in embedder["tables"]} == {"hash"}
    norm = embedder["tables"][0]
    assert (norm["seed"], norm["num_hashes"], norm["values"]) == (8, 1, 4)
    assert norm["with_sound_seed"]["seed"] == 9
    assert embedder["words"]["words"] == 4
    (advice,) = data["advice"]
    assert (advice["component"], advice["width"]) == ("tok2vec", 96)
    # four words are too few
    assert advice["hashing"] is None
    assert [reason[:31] for reason in advice["reasons"]] == [
        "The training corpus is too smal",
        "NORM is hashed with seed 8, a p",
    ]


def test_without_a_pipeline_the_default_attributes_are_advised(few):
    data = analyze(few["train"], bound=0.01)
    assert data["embedders"] == []
    (advice,) = data["advice"]
    assert advice["component"] is None
    assert (advice["width"], advice["bound"]) == (96, 0.01)
    assert [use["attr"] for use in advice["attributes"]] == list(data["features"])


def test_progress_sees_each_split_once(few):
    seen = []

    def watch(docs, split):
        for doc in docs:
            seen.append((split, len(doc)))
            yield doc

    analyze(**few, progress=watch)
    assert seen == [("train", 3), ("train", 0), ("train", 3), ("dev", 3)]


@pytest.mark.parametrize("config", [None, *sorted(CONFIGS.glob("multi*embed.cfg"))])
def test_an_empty_corpus_is_analysed_and_shown(config):
    analysis = analyze([], dev=[], config=config)
    assert isinstance(analysis, Analysis)
    assert analysis["splits"]["train"]["documents"] == 0
    assert analysis["features"]["NORM"]["values"] == 0
    assert analysis["entities"]["dev"] == {"seen": 0, "unseen": 0, "per_type": {}}
    assert analysis["advice"][0]["hashing"] is None
    assert "There is not a token in the training corpus" in str(analysis)
    assert "\u26a0 There is not a token" in analysis._repr_html_()


@pytest.mark.usefixtures("contractions")
def test_tokens_are_those_that_training_would_see():
    gold = Doc(spacy.blank("en").vocab, words=["do", "n't!"], spaces=[False, False])
    gold.ents = [Span(gold, 1, 2, "X")]
    data = analyze([gold])
    # counted in the gold doc; but "don't!" is tokenized as do, n't, !
    assert data["splits"]["train"]["tokens"] == 2
    assert data["features"]["NORM"]["values"] == 3


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


def test_it_prints_what_the_command_prints(files, docs, expected):
    args = ["hashembeds", "analyze", files["train"], "--dev", files["dev"]]
    printed = CliRunner().invoke(app, [*args, "--nlp.lang", "en"]).output
    shown = str(expected)
    # which has colours, and breaks long lines earlier for them
    assert shown.split() == re.sub(r"\x1b\[[\d;]*m", "", printed).split()
    assert "= Options for hashing =" in shown


def test_a_notebook_shows_the_same_with_all_text_escaped():
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=["<script>alert(1)</script>"], ents=["B-<b>&"])
    html = analyze([doc], dev=[doc])._repr_html_()
    for title in ("Corpus", "Token attributes", "Entities seen in training", "Advice"):
        assert f"<h3>{title}</h3>" in html
    assert '<td class="l">&lt;b&gt;&amp;</td>' in html
    assert "<b>&" not in html
    assert "<script" not in html


BLANK = spacy.blank("en")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"train": ["a text"]}, "'train' should be a path, or hold .* holds a str"),
        ({"dev": [1]}, "'dev' should be a path, .* holds a int"),
        ({"config": {}}, "'config' should be a spaCy config, but no pipeline can"),
        ({"model": BLANK}, r"'model' has no embedding with .*\(components: none"),
        ({"config": "a.cfg", "model": "b"}, "both came: 'a.cfg' and 'b'"),
        (
            {"model": BLANK, "config": {"nlp": {"lang": "en"}}},
            "both came: 'config' and 'model'",
        ),
        ({"vectors": BLANK}, "'vectors' should be a pipeline with word"),
        ({"bound": 0}, "'bound' should be above 0 and below 1, but is 0"),
        ({"bound": 1}, "'bound' should be above 0 and below 1, but is 1"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    with pytest.raises(ValueError, match=message):
        analyze(**{"train": [], **arguments})


def test_one_doc_is_no_corpus(docs):
    with pytest.raises(TypeError, match=r"Docs or .* is of type Doc\. A single one"):
        analyze(docs["train"][0])


def test_settings_of_a_config_in_memory_are_changed(docs):
    config = {"nlp": {"lang": "en", "pipeline": []}, "components": {}}
    with pytest.raises(ValueError, match=r"'config' should be .* language zz"):
        analyze(docs["train"], config=config, overrides={"nlp.lang": "zz"})
    assert config["nlp"]["lang"] == "en"
