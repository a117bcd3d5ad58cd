"""Attributes that components set: read as training sees them, and never dropped."""

from io import StringIO
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config

from spacy_hashembeds.layers.symboltaker import find_symbol_takers
from spacy_hashembeds.tools.analyze.analyze import analyze
from spacy_hashembeds.tools.config.configure import configure

from . import toy_configs as toys

LETTERS = "bdgk"
RULER = """
[components]

[components.ruler]
factory = "attribute_ruler"
"""
PATTERNS = """
[initialize.components]

[initialize.components.ruler]

[initialize.components.ruler.patterns]
@readers = "srsly.read_json.v1"
path = "patterns.json"
"""
EDITS = {
    '["tok2vec", "ner"]': '["ruler", "tok2vec", "ner"]',
    "\n[components]\n": RULER,
    "\n[initialize.components]\n": PATTERNS,
    toys.ATTRS: '"NORM", "TAG"',
    toys.ROWS: "rows = [5000, 100]",
    "width = 96": "width = 32",
    "depth = 4": "depth = 1",
    "learn_rate = 0.001": "learn_rate = 0.02",
    "max_steps = 20000": "max_steps = 60",
    "eval_frequency = 200": "eval_frequency = 60",
    "annotating_components = []": 'annotating_components = ["ruler"]',
}


@pytest.fixture
def base(base, tmp_path, monkeypatch) -> Path:
    """A pipeline whose entities are the words of one tag, and no word comes twice."""
    monkeypatch.chdir(tmp_path)
    patterns = [
        {"patterns": [[{"TEXT": {"REGEX": f"{c}$"}}]], "attrs": {"TAG": c}}
        for c in LETTERS
    ]
    srsly.write_json("patterns.json", patterns)
    vocab = spacy.blank("en").vocab
    for split, n_docs in {"train": 60, "dev": 20}.items():
        docs = []
        for n in range(n_docs):
            words = [f"{split}{n}x{i}{LETTERS[(n + i * i) % 4]}" for i in range(8)]
            tags = ["B-X" if word.endswith("k") else "O" for word in words]
            docs.append(Doc(vocab, words=words, ents=tags))
        DocBin(docs=docs).to_disk(f"{split}.spacy")
    return toys.edit_base(base, *EDITS.items())


def start(text: str) -> Language:
    """Make a pipeline, as `spacy train` does at first."""
    Path("new.cfg").write_text(text)
    paths = {"paths.train": "train.spacy", "paths.dev": "dev.spacy"}
    return init_nlp(load_config("new.cfg", paths))


def train_and_score(text: str) -> float:
    nlp = start(text)
    train(nlp, stdout=StringIO(), stderr=StringIO())
    return nlp.evaluate([*Corpus("dev.spacy")(nlp)])["ents_f"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Each TAG of the corpus has a row of its own")
@pytest.mark.parametrize(
    ("embedder", "corpus"),
    [
        (None, "train.spacy"),
        ("multi_fewer_hash_embed", "train.spacy"),
        ("hash_former_embed", None),
    ],
)
def test_what_a_component_sets_is_learned_from(base, embedder, corpus):
    made = configure(base, embedder=embedder, train=corpus)
    assert train_and_score(made.text) == 1


def count(text: str) -> dict[str, set[str]]:
    """Give the symbols of each attribute once a pipeline is initialised."""
    nlp = start(text)
    return {
        taker.attrs["key"]: {nlp.vocab.strings[int(s)] for s in taker.attrs["symbols"]}
        for taker in find_symbol_takers(nlp.get_pipe("tok2vec").model)
    }


def write_gold() -> None:
    vocab = spacy.blank("en").vocab
    annotation = {
        "words": "a b c d".split(),
        "tags": "T U T U".split(),
        "pos": ["X"] * 4,
        "lemmas": "a b c d".split(),
        "heads": [1] * 4,
        "deps": "nsubj ROOT obj obj".split(),
        "ents": ["B-P", "O", "O", "B-Q"],
    }
    # read as "do" and "n't", and as one word of two tags
    other = Doc(vocab, ["don't", "f", "g"], [True, False, True], tags=["V", "W", "Z"])
    docs = [Doc(vocab, **annotation), other]
    for split in ("train", "dev"):
        DocBin(docs=docs).to_disk(f"{split}.spacy")


@pytest.mark.parametrize(
    ("factory", "attr", "expected"),
    [
        ("tagger", "TAG", {"T", "U", "V"}),
        ("parser", "DEP", {"nsubj", "ROOT", "obj"}),
        ("morphologizer", "POS", {"X"}),
        ("trainable_lemmatizer", "LEMMA", {*"abcd"}),
        ("token_ner", "ENT_TYPE", {"P", "Q"}),
    ],
)
def test_of_what_has_yet_to_learn_gold_annotation_counts(base, factory, attr, expected):
    write_gold()
    toys.edit_base(
        base,
        ("attribute_ruler", factory),
        ('"TAG"', f'"{attr}"'),
        (PATTERNS, "\n[initialize.components]\n"),
    )
    made = configure(base, embedder="multi_embed").text
    made = made.replace("min_freq = 2", "min_freq = 1")
    assert count(made)[attr] - {""} == expected
    alone = made.replace('_components = ["ruler"]', "_components = []")
    assert alone != made
    with pytest.warns(UserWarning, match=f"No token .* has a value for {attr}.*ahead"):
        assert not count(alone)[attr] - {""}


@pytest.mark.parametrize("frozen", ['["ruler"]', "[]"])
def test_what_was_trained_before_annotates(base, frozen):
    write_gold()
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger", name="ruler").add_label("LEARNED")
    nlp.initialize()
    nlp.to_disk("trained")
    toys.edit_base(
        base,
        ('factory = "attribute_ruler"', 'source = "trained"'),
        ("frozen_components = []", f"frozen_components = {frozen}"),
        (PATTERNS, "\n[initialize.components]\n"),
    )
    made = configure(base, embedder="multi_embed").text
    made = made.replace("min_freq = 2", "min_freq = 1")
    assert count(made)["TAG"] == {"LEARNED"}
    after = made.replace('["ruler", "tok2vec", "ner"]', '["tok2vec", "ner", "ruler"]')
    with pytest.warns(UserWarning, match="No token .* has a value for TAG"):
        assert count(after)["TAG"] == {""}


def test_what_a_component_ahead_may_set_is_not_judged(base):
    assert analyze("train.spacy", config=base)["advice"][0]["attrs"] == ["NORM", "TAG"]
    toys.edit_base(base, ('"NORM", "TAG"', '"NORM", "ENT_IOB"'))
    with pytest.raises(ValueError, match="embeds ENT_IOB"):
        configure(base, embedder="hash_former_embed")
    Path("raw.txt").write_text("a b c")
    with pytest.raises(ValueError, match=r"embeds ENT_IOB.*--raw"):
        configure(base, embedder="multi_embed", raw="raw.txt")
    configure(base, embedder="multi_fewer_hash_embed", raw="raw.txt")
    toys.edit_base(base, ('["ruler", "tok2vec", "ner"]', '["tok2vec", "ner"]'))
    assert analyze("train.spacy", config=base)["advice"][0]["attrs"] == ["NORM"]
    made = configure(base, embedder="hash_former_embed")
    assert toys.get_embed(made)["attrs"] == ["NORM"]
