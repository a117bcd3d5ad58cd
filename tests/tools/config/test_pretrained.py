"""Embedders whose weights training starts from."""

import pytest
from spacy.language import DEFAULT_CONFIG_PRETRAIN_PATH
from spacy.util import dot_to_object, load_config

from spacy_hashembeds.tools.config.configure import configure

from . import toy_configs as toys
from .toy_configs import EMBED, get_embed

#: No attribute of these words tells more than LOWER, and more rows would be advised.
EDITS = (
    (toys.ATTRS, '"LOWER", "NORM", "SHAPE", "LANG"'),
    ("rows = [5000, 1000", "num_hashes = 3\nseed = 8\nrows = [20, 1000"),
)
LINE, PATH = "init_tok2vec = ${paths.init_tok2vec}", "init_tok2vec = null"
WEIGHTS = 'init_tok2vec = "weights.bin"'


@pytest.mark.parametrize("edit", [(LINE, WEIGHTS), (PATH, WEIGHTS)])
@pytest.mark.parametrize(
    "embedder", ["multi_fewer_hash_embed", "multi_weighted_hash_embed"]
)
def test_an_embedder_with_weights_keeps_its_settings(base, tiny_corpus, edit, embedder):
    ours = ("spacy.MultiHashEmbed.v2", toys.NAMES[embedder])
    toys.edit_base(base, *EDITS, ours, edit)
    made = configure(base, embedder=embedder, train=tiny_corpus / "train.spacy")
    assert get_embed(made) == dot_to_object(load_config(base), EMBED)
    (warning,) = made.warnings
    assert "init_tok2vec" in warning
    assert "'weights.bin'" in warning
    # and nothing is put beside its tables
    assert get_embed(configure(base, embedder=embedder)).get("subwords") is None


@pytest.mark.parametrize("name", ["spacy.MultiHashEmbed.v2", toys.HASH])
@pytest.mark.parametrize("embedder", [None, "multi_weighted_hash_embed"])
def test_another_embedder_is_refused_where_there_are_weights(base, name, embedder):
    toys.edit_base(base, ("spacy.MultiHashEmbed.v2", name), (LINE, WEIGHTS))
    with pytest.raises(ValueError, match=rf"init_tok2vec .*{name}.*weights.bin"):
        configure(base, embedder=embedder)


def test_embedders_of_other_components_are_free(base):
    config = load_config(DEFAULT_CONFIG_PRETRAIN_PATH).merge(load_config(base))
    config["pretraining"]["component"] = "ner"
    config["initialize"]["init_tok2vec"] = "weights.bin"
    config.to_disk(base)
    made = configure(base, embedder="multi_embed")
    assert get_embed(made)["@architectures"] == toys.LOOKUP
    assert made.warnings == []
