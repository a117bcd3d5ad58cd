"""The Transformer in spaCy's pipelines."""

import pickle

import numpy as np
import pytest
import spacy

from spacy_hashembeds.layers import torchlayer
from spacy_hashembeds.layers.transformer import TransformerEncoder

from ...toy_encoders import make_tok2vec

pytestmark = pytest.mark.torch

#: That of the embeddings of `make_tok2vec` too.
WIDTH = 12
SIZES = {"depth": 2, "num_heads": 3}
SPANS = {"max_length": 4, "stride": 2}


def build(**settings):
    return TransformerEncoder(**{"width": WIDTH, **SIZES, **settings})


def make_batch(lengths, seed=0):
    state = np.random.default_rng(seed)
    return [state.normal(size=(n, WIDTH)).astype("f") for n in lengths]


def test_sizes_are_those_of_bert_by_default():
    model = TransformerEncoder(width=768, depth=12, num_heads=12)
    dims = {name: model.get_dim(name) for name in model.dim_names}
    assert dims == {
        **{"nO": 768, "nI": 768, "depth": 12, "num_heads": 12},
        **{"hidden_width": 3072, "max_length": 512},
    }
    assert model.attrs == {
        **{"norm": "pre", "stride": 256, "dropout": 0.1, "attention_dropout": 0.1}
    }
    assert build(max_length=1).attrs["stride"] == 1
    assert build(max_length=7).attrs["stride"] == 4


@pytest.mark.parametrize("rate", [None, 0, 0.0])
def test_no_dropout_is_zero(rate):
    model = build(dropout=rate, attention_dropout=rate)
    assert model.attrs["dropout"] == model.attrs["attention_dropout"] == 0.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, r"'width' should be .*, but is 0"),
        ({"num_heads": 0}, r"'num_heads' should be .*, but is 0"),
        ({"num_heads": 5}, r"'width' .* a multiple of 'num_heads' \(5\), but is 12"),
        ({"depth": 101}, r"'depth' should be 1 to 100, but is 101"),
        ({"hidden_width": 0}, r"'hidden_width' should be .*, but is 0"),
        ({"max_length": 0}, r"'max_length' should be .*, but is 0"),
        ({"max_length": 8.0}, r"'max_length' should be .*, but is 8\.0"),
        ({"stride": 0}, r"'stride' should be 1 to 512, but is 0"),
        ({"max_length": 8, "stride": 9}, r"'stride' should be 1 to 8, but is 9"),
        ({"norm": "both"}, r"'norm' should be 'post' or 'pre', but is 'both'"),
        ({"dropout": 1.0}, r"'dropout' should be in \[0, 1\) or null, but is 1\.0"),
        ({"attention_dropout": "a"}, r"'attention_dropout' should be .* but is 'a'"),
    ],
)
def test_sizes_that_can_not_be_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        build(**settings)


def test_embeddings_of_another_width_are_refused():
    nlp = spacy.blank("en")
    tok2vec = make_tok2vec("TransformerEncoder", 24, **SIZES)
    nlp.add_pipe("tok2vec", config={"model": tok2vec})
    message = r"'width' of the Transformer is 24, but that of the embeddings is 12\."
    with pytest.raises(ValueError, match=message):
        nlp.initialize()


def test_without_pytorch_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr(torchlayer, "find_spec", lambda module: None)
    message = r"'spacy-hashembeds\.TransformerEncoder\.v1' needs PyTorch: .*\[torch\]"
    with pytest.raises(ImportError, match=message):
        build()


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_all_of_it_is_thinc_s_parameters(norm):
    """So that there is no pickle in what is saved, and weights load by themselves."""
    model = build(norm=norm, **SPANS).initialize(X=make_batch([4]))
    Xs = make_batch([4, 0, 9])
    assert not [node for node in model.walk() if node.shims]
    other = build(norm=norm, **SPANS).from_bytes(model.to_bytes())
    for copied in (other, model.copy(), pickle.loads(pickle.dumps(model))):
        for ours, theirs in zip(copied.predict(Xs), model.predict(Xs), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_rates_that_were_saved_win_over_those_of_the_config():
    model = build(dropout=0.3, stride=100).initialize()
    other = build(dropout=0.1).from_bytes(model.to_bytes())
    assert (other.attrs["dropout"], other.attrs["stride"]) == (0.3, 100)
