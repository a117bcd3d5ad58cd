"""The option --feature."""

from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train as train_pipeline
from spacy.tokens import DocBin, Token
from spacy.tokens.underscore import Underscore
from spacy.util import load_config

from spacy_hashembeds.tools.config.configure import configure
from tests.toy_features import FEATURES, make_docs

from . import toy_configs as toys

MINE = '{"@callbacks": "mine.v1"}'
EMBEDDERS = [name for name in toys.NAMES if name != "hash_former_embed"]


@pytest.fixture
def train(tmp_path) -> Path:
    corpus = DocBin(docs=make_docs(), store_user_data=True)
    corpus.to_disk(tmp_path / "dev.spacy")
    corpus.to_disk(tmp_path / "train.spacy")
    return tmp_path / "train.spacy"


@pytest.mark.filterwarnings("ignore:Scores of .ner. are not calibrated")
@pytest.mark.parametrize("embedder", [None, *EMBEDDERS])
def test_stored_features_are_kept_and_learned(
    base, train, tmp_path, monkeypatch, embedder
):
    monkeypatch.setattr(Underscore, "token_extensions", {})
    options = {"embedder": embedder, "train": train, "features": FEATURES}
    made = configure(base, **options)
    assert not made.warnings
    assert not Token.has_extension("mark")
    # rows are between the number of values and the default
    *_, n_mark, n_names = toys.get_embed(made).get("rows", (2, 51))
    assert 2 <= n_mark < 50 < n_names < 100
    toys.write_made(base, made)
    assert configure(base, **options).changes == []
    steps = {"training.max_steps": 30, "training.optimizer.learn_rate": 0.01}
    train_pipeline(base, tmp_path, overrides={**toys.SMALL, **steps})
    Token.remove_extension("mark")  # as in another process
    nlp = spacy.load(tmp_path / "model-best")
    doc = nlp.make_doc("the one200 sees other200")
    doc[1]._.mark, doc.spans["names"] = True, []
    assert [ent.text for ent in nlp(doc).ents] == ["one200"]


def test_other_functions_are_kept_with_a_warning(base, train):
    taken = ("before_creation = null", f"before_creation = {MINE}")
    toys.edit_base(base, taken, ("limit = 0", "limit = 7"))
    made = configure(base, train=train, features=FEATURES)
    readers = made.config["corpora"].values()
    kept = [(each["@readers"], each["keep"], each["limit"]) for each in readers]
    names = ("spacy-hashembeds.JoinedCorpus.v1", "spacy-hashembeds.Corpus.v1")
    assert kept == [(name, FEATURES, 7) for name in names]
    assert made.config["nlp"]["after_creation"]["names"] == ["mark"]
    # nothing is replaceable
    taken = ("after_creation = null", f"after_creation = {MINE}")
    toys.edit_base(base, taken, ('"spacy.Corpus.v1"', '"mine.v1"'))
    made = configure(base, train=train, features=FEATURES, embedder="multi_embed")
    assert made.config["corpora"] == load_config(base)["corpora"]
    places = [warning.split("]")[0][1:] for warning in made.warnings]
    assert places == ["corpora.train", "corpora.dev", "nlp.after_creation"]


def test_warns_about_features_not_stored(base, train):
    made = configure(base, train=train, features=["_.other", "_.size", "_.mark"])
    (warning,) = made.warnings
    assert "_.other, _.size" in warning
    assert "stores: _.cluster, _.mark, spans.names" in warning
    assert made.config["corpora"]["dev"]["keep"] == ["_.mark"]
    assert "_.mark" in configure(base, features=["_.mark"]).warnings[0]


@pytest.mark.parametrize("embedder", EMBEDDERS)
def test_features_of_the_base_are_kept_in_all_embedders(base, train, embedder):
    toys.write_made(base, configure(base, embedder="multi_embed", features=FEATURES))
    for path in (None, train):
        made = configure(base, embedder=embedder, train=path)
        assert toys.get_embed(made)["attrs"][-2:] == FEATURES
        toys.build(made)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"features": ["mark"]}, "'features'.*'mark'"),
        ({"embedder": "hash_former_embed"}, r"_\.mark.*HashFormerEmbed.*text"),
        ({"embedder": "multi_fewer_hash_embed", "raw": "a"}, r"spans\.names.*--raw"),
        ({"embedder": "multi_embed"}, r"_\.mark.*weights\.bin"),
    ],
)
def test_unsupported_features_are_refused(base, train, options, named):
    toys.write_made(base, configure(base, embedder="multi_embed"))
    toys.edit_base(base, ("init_tok2vec = null", 'init_tok2vec = "weights.bin"'))
    with pytest.raises(ValueError, match=named):
        configure(base, **{"train": train, "features": FEATURES, **options})
