"""The Transformer in spaCy's pipelines."""

import pytest

from spacy_hashembeds.layers import torchlayer
from spacy_hashembeds.layers.transformer import TransformerEncoder

pytestmark = pytest.mark.torch

#: That of the embeddings of `make_tok2vec` too.
WIDTH = 12
SIZES = {"depth": 2, "num_heads": 3}


def build(**settings):
    return TransformerEncoder(**{"width": WIDTH, **SIZES, **settings})


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
        ({"num_heads": 5}, r"'width' .* a multiple of 'num_heads' \(5\), but is 12"),
        ({"depth": 101}, r"'depth' should be 1 to 100, but is 101"),
        ({"max_length": 8, "stride": 9}, r"'stride' should be 1 to 8, but is 9"),
        ({"norm": "both"}, r"'norm' should be 'post' or 'pre', but is 'both'"),
    ],
)
def test_sizes_that_can_not_be_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        build(**settings)


def test_without_pytorch_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr(torchlayer, "find_spec", lambda module: None)
    message = r"'spacy-hashembeds\.TransformerEncoder\.v1' needs PyTorch: .*\[torch\]"
    with pytest.raises(ImportError, match=message):
        build()
