"""Columns for features: what a corpus stores of them is kept, and what not is told."""

import json
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train as train_pipeline
from spacy.tokens import Doc, DocBin, Span
from spacy.tokens.underscore import Underscore
from spacy.util import load_config
from spacy.vocab import Vocab

from spacy_hashembeds.tools.config.configure import configure
from spacy_hashembeds.tools.config.edits import get_value

from . import toy_configs as toys

FEATURES = ["_.mark", "spans.names"]
MINE = {"@callbacks": "mine.v1"}
HOOK = {"@callbacks": "spacy-hashembeds.set_extensions.v1", "names": ["mark"]}
READERS = ["spacy-hashembeds.JoinedCorpus.v1", "spacy-hashembeds.Corpus.v1"]
EMBEDDERS = [name for name in toys.NAMES if name != "hash_former_embed"]


@pytest.fixture(autouse=True)
def _extensions(monkeypatch):
    monkeypatch.setattr(Underscore, "token_extensions", {})


@pytest.fixture
def train(tmp_path) -> Path:
    """A corpus in which the entities, and no other words, are marked."""
    docs = []
    for i in range(100):
        words = ["the", f"one{i}", "sees", f"other{i}"]
        doc = Doc(Vocab(), words=words, sent_starts=[True, *[False] * 3])
        place = 1 + 2 * (i % 2)
        doc.set_ents([Span(doc, place, place + 1, "A")])
        doc.user_data["._.", "mark", doc[place].idx, None] = True
        doc.user_data["._.", "size", 0, None] = 1.5
        doc.spans["names"] = [Span(doc, 1, 2, f"L{i % 50}")]
        docs.append(doc)
    for split in ("train", "dev"):
        DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / f"{split}.spacy")
    return tmp_path / "train.spacy"


@pytest.mark.filterwarnings("ignore:Scores of .ner. are not calibrated")
@pytest.mark.parametrize("embedder", [None, *EMBEDDERS])
def test_what_is_stored_is_kept_and_a_trained_pipeline_reads_it(
    base, train, tmp_path, monkeypatch, embedder
):
    options = {"embedder": embedder, "train": train, "features": FEATURES}
    made = configure(base, **options)
    embed = toys.get_embed(made)
    assert embed["attrs"][-2:] == FEATURES
    if "rows" in embed:  # few values get few, and at least one each
        assert 2 <= embed["rows"][-2] < 50 < embed["rows"][-1] < 100
    (why,) = [c.why for c in made.changes if c.key == "attrs"]
    assert all(attr in why for attr in FEATURES)
    assert made.warnings == made.advice == []
    toys.write_made(base, made)
    again = configure(base, **options)
    assert (again.config, again.changes) == (made.config, [])
    settings = {"training.max_steps": 30, "training.eval_frequency": 30}
    fast = {"training.optimizer.learn_rate": 0.01}
    train_pipeline(base, tmp_path, overrides={**toys.SMALL, **settings, **fast})
    monkeypatch.setattr(Underscore, "token_extensions", {})
    nlp = spacy.load(tmp_path / "model-best")
    for place in (1, 3):
        doc = nlp.make_doc("the one200 sees other200")
        doc[place]._.mark = True
        doc.spans["names"] = []
        assert [ent.start for ent in nlp(doc).ents] == [place]


def test_what_stands_in_the_place_stays_and_is_told(base, train):
    taken = f"before_creation = {json.dumps(MINE)}"
    toys.edit_base(base, ("before_creation = null", taken), ("limit = 0", "limit = 7"))
    made = configure(base, train=train, features=FEATURES)
    corpora = made.config["corpora"]
    assert [each["keep"] for each in corpora.values()] == [FEATURES] * 2
    assert [each["limit"] for each in corpora.values()] == [7, 7]
    assert [each["@readers"] for each in corpora.values()] == READERS
    hooks = "before_creation", "after_creation"
    assert [made.config["nlp"][hook] for hook in hooks] == [MINE, HOOK]
    assert not made.warnings
    # neither a reader nor the other place is free
    taken = f"after_creation = {json.dumps(MINE)}"
    reader = ('"spacy.Corpus.v1"', '"mine.v1"')
    toys.edit_base(base, ("after_creation = null", taken), reader)
    made = configure(base, train=train, features=FEATURES, embedder="multi_embed")
    assert made.config["corpora"] == load_config(base)["corpora"]
    assert made.config["nlp"]["after_creation"] == MINE
    places = [warning.split("]")[0][1:] for warning in made.warnings]
    assert places == ["corpora.train", "corpora.dev", "nlp.after_creation"]


def test_what_no_corpus_stores_is_told_and_not_kept(base, train):
    for path in (None, train):
        made = configure(
            base, train=path, features=["_.other", *FEATURES[: bool(path)]]
        )
        (warning,) = made.warnings
        assert "_.other." in warning
        kept = get_value(made.config, "corpora.dev.keep")
        assert kept == (FEATURES[:1] if path else None)
    (advice,) = configure(base, train=train).advice
    # neither spans nor what can't be embedded
    assert "stores _.mark (1 values, 25.0% of tokens): " in advice
    assert "--feature _.mark`" in advice


@pytest.mark.parametrize("embedder", EMBEDDERS)
def test_features_of_the_base_stay_in_any_embedder(base, train, embedder):
    made = configure(base, embedder="multi_embed", features=FEATURES)
    toys.write_made(base, made)
    for path in (None, train):
        made = configure(base, embedder=embedder, train=path)
        assert toys.get_embed(made)["attrs"][-2:] == FEATURES
        toys.build(made)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"features": ["mark"]}, "'features'.*'mark'"),
        ({"features": ["_.size"]}, r"'_\.size' .* 1\.5"),
        ({"embedder": "hash_former_embed"}, r"_\.mark.*HashFormerEmbed.*text"),
        *(
            ({"embedder": name, "raw": "raw.txt"}, r"spans\.names.*--raw")
            for name in EMBEDDERS
        ),
    ],
)
def test_what_can_not_be_embedded_is_named(base, train, options, named):
    with pytest.raises((TypeError, ValueError), match=named):
        configure(base, **{"train": train, "features": FEATURES, **options})


def test_weights_get_no_column(base, train):
    toys.write_made(base, configure(base, embedder="multi_embed"))
    toys.edit_base(base, ("init_tok2vec = null", 'init_tok2vec = "weights.bin"'))
    with pytest.raises(ValueError, match=r"_\.mark.* starts from weights"):
        configure(base, embedder="multi_embed", train=train, features=FEATURES)
