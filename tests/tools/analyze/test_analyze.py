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

import spacy_hashembeds.tools.cli  # noqa: F401
from spacy_hashembeds.tools.analyze.analyze import Analysis, analyze
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


def test_all_that_is_found_of_a_few_words(few, tmp_path):
    seen = []

    def watch(docs, split):
        for doc in docs:
            seen.append((split, len(doc)))
            yield doc

    text = tmp_path / "texts.txt"
    text.write_text("Ann calls Bo\n\nAnn\n")
    data = analyze(**few, config=CONFIG, text=text, progress=watch)
    docs = [("train", 3), ("train", 0), ("train", 3), ("dev", 3)]
    assert seen == [("text", 3), ("text", 1), *docs]
    assert data["lang"] == "en"
    assert list(data["splits"]) == ["train", "dev"]
    counts = data["splits"]["train"]
    assert (counts["documents"], counts["tokens"], counts["entities"]) == (3, 6, 2)
    assert data["features"]["NORM"] == {"values": 4, "once": 3, "at_least_10": 0}
    assert data["entities"].keys() == {"dev"}
    seen = data["entities"]["dev"]
    assert (seen["seen"], seen["unseen"]) == (1, 1)
    (embedder,) = data["embedders"]
    assert (embedder["component"], embedder["has_vectors"]) == ("tok2vec", False)
    assert [t["attr"] for t in embedder["tables"]] == list(data["features"])
    norm = embedder["tables"][0]
    assert (norm["kind"], norm["seed"], norm["num_hashes"]) == ("hash", 8, 1)
    assert norm["with_sound_seed"]["seed"] == 9
    assert embedder["words"]["words"] == norm["values"] == 4
    lengths = {"documents": 2, "lower": 1, "median": 1, "upper": 3}
    assert data["lengths"]["text"] == lengths
    (advice,) = data["advice"]
    assert (advice["component"], advice["width"]) == ("tok2vec", 96)
    assert advice["hashing"] is None
    assert "0% of the texts are longer" in str(data)
    assert "JoinedCorpus" not in str(data)
    text.write_text("we met Anna today")
    assert "JoinedCorpus" in str(analyze(few["train"], text=text))
    text.write_text("\n")
    with pytest.raises(ValueError, match="'text' should name a file with texts, but"):
        analyze(few["train"], text=text)


def test_without_a_pipeline_the_default_attributes_are_advised(few):
    data = analyze(few["train"], bound=0.01)
    assert data["embedders"] == []
    (advice,) = data["advice"]
    assert (advice["component"], advice["width"], advice["bound"]) == (None, 96, 0.01)
    assert [use["attr"] for use in advice["attributes"]] == list(data["features"])


@pytest.mark.parametrize("config", [None, *sorted(CONFIGS.glob("multi*embed.cfg"))])
def test_an_empty_corpus_is_analysed_and_shown(config):
    analysis = analyze([], dev=[], config=config)
    assert isinstance(analysis, Analysis)
    assert analysis["splits"]["train"]["documents"] == 0
    assert analysis["features"]["NORM"]["values"] == 0
    assert analysis["advice"][0]["hashing"] is None
    assert "There is not a token in the training corpus" in str(analysis)


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
    nlp = load_model_from_config(config, auto_fill=True)
    assert analyze(docs["train"], model=nlp) == by_path
    with pytest.raises(ValueError, match=r"'config' should be .* language zz"):
        analyze(docs["train"], config=config, overrides={"nlp.lang": "zz"})
    assert config == before


def test_it_prints_what_the_command_prints(files, expected):
    args = ["hashembeds", "analyze", files["train"], "--dev", files["dev"]]
    printed = CliRunner().invoke(app, [*args, "--nlp.lang", "en"]).output
    # which has colours, and breaks long lines earlier for them
    assert str(expected).split() == re.sub(r"\x1b\[[\d;]*m", "", printed).split()


def test_a_notebook_shows_all_text_escaped():
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=["<script>alert(1)</script>"], ents=["B-<b>&"])
    html = analyze([doc], dev=[doc])._repr_html_()
    assert '<td class="l">&lt;b&gt;&amp;</td>' in html
    assert "<b>&" not in html
    assert "<script" not in html


@pytest.mark.parametrize(("spaces", "n_words"), [(None, 1), ([False], 3)])
def test_words_without_known_spaces_are_not_tokenized_anew(spaces, n_words):
    """As in files of a token a line: training sees them as they are."""
    doc = Doc(spacy.blank("en").vocab, words=["(x)"], spaces=spaces)
    assert analyze([doc])["features"]["NORM"]["values"] == n_words


BLANK = spacy.blank("en")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"train": ["a text"]}, "'train' should be a path, or hold .* holds a str"),
        ({"dev": [1]}, "'dev' should be a path, .* holds a int"),
        ({"config": {}}, "'config' should be a spaCy config, but no pipeline can"),
        ({"model": BLANK}, r"\(components: none\) has no embedding"),
        ({"config": "a.cfg", "model": "b"}, "'config' and 'model' exclude"),
        ({"vectors": BLANK}, "'vectors' should be a pipeline with word"),
        ({"bound": 0}, "'bound' should be above 0 and below 1, but is 0"),
        ({"bound": 1}, "'bound' should be above 0 and below 1, but is 1"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    with pytest.raises(ValueError, match=message):
        analyze(**{"train": [], **arguments})


def test_one_doc_is_no_corpus(docs):
    with pytest.raises(TypeError, match="'train' should be a list"):
        analyze(docs["train"][0])
