"""BiLSTM, Cross-BiLSTM and Att-BiLSTM in spaCy's pipelines."""

import pytest

from spacy_hashembeds.architectures.encoders.bilstm_encoders import (
    AttBiLSTMEncoder,
    BiLSTMEncoder,
    CrossBiLSTMEncoder,
)
from spacy_hashembeds.layers import torchlayer

from ...layers.lstms import make_batch

pytestmark = pytest.mark.torch

ENCODERS = {
    "BiLSTMEncoder": BiLSTMEncoder,
    "CrossBiLSTMEncoder": CrossBiLSTMEncoder,
    "AttBiLSTMEncoder": AttBiLSTMEncoder,
}
WIDTHS = {"BiLSTMEncoder": 20, "CrossBiLSTMEncoder": 20, "AttBiLSTMEncoder": 40}


@pytest.fixture(params=ENCODERS)
def name(request) -> str:
    return request.param


def build(name, **settings):
    return ENCODERS[name](width=WIDTHS[name], **settings)


def test_sizes_are_those_of_the_paper():
    """§3.2: two LSTMs of 100 in each direction; §3.6: five heads of 40."""
    Xs = make_batch([3], width=364)
    expected = {
        "BiLSTMEncoder": (200, 2 * (186_000 + 80_400)),
        "CrossBiLSTMEncoder": (200, 2 * (186_000 + 120_400)),
        "AttBiLSTMEncoder": (400, 2 * (186_000 + 80_400) + 3 * 200 * 200),
    }
    for name, (width, n_parameters) in expected.items():
        model = ENCODERS[name](width=width).initialize(X=Xs)
        assert model.predict(Xs)[0].shape == (3, width)
        sizes = [n.get_param(p).size for n in model.walk() for p in n.param_names]
        assert sum(sizes) == n_parameters


def test_directions_have_equal_parts(name):
    with pytest.raises(ValueError, match=r"'width' should be .*, but is 21"):
        ENCODERS[name](width=21)


def test_heads_have_equal_parts():
    with pytest.raises(ValueError, match=r"'width' should be a multiple.*\(6\), .* 40"):
        AttBiLSTMEncoder(width=40, num_heads=3)


def test_without_pytorch_the_error_names_the_extra(name, monkeypatch):
    monkeypatch.setattr(torchlayer, "find_spec", lambda module: None)
    message = rf"'spacy-hashembeds\.{name}\.v1' needs PyTorch: .*\[torch\]"
    with pytest.raises(ImportError, match=message):
        build(name)
