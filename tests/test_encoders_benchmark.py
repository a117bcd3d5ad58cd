"""The benchmark of LSTM encoders in a tiny setting."""

from typing import Any

import numpy
import pytest

from benchmarks import _encoders, encoders
from benchmarks._data import Corpus, load_corpus

from .toy_benchmarks import ONCE, assert_timing, assert_writes

pytestmark = pytest.mark.torch

NAMES = [
    "TorchBiLSTMEncoder",
    "BiLSTMEncoder",
    "CrossBiLSTMEncoder",
    "AttBiLSTMEncoder",
]
WAYS = [
    "prediction, 20 Docs",
    "prediction, a short Doc",
    "training, 1,000 words",
    "training, a short Doc",
]


@pytest.fixture(scope="module")
def corpus(tiny_corpus) -> Corpus:
    return load_corpus(tiny_corpus / "train.spacy")


@pytest.fixture(scope="module")
def results(corpus) -> dict[str, Any]:
    return encoders.measure_encoders(corpus, ONCE, docs=20, updates=1)


def test_encoders_are_timed_in_prediction_and_training(results):
    assert list(results["timings"]) == WAYS
    for timed in results["timings"].values():
        assert list(timed["contenders"]) == NAMES
        us = {name: t["us_per_word"] for name, t in timed["contenders"].items()}
        for name, timing in timed["contenders"].items():
            assert_timing(timing)
            ratio = timed["times_as_fast_as_spacy"][name]
            assert ratio == pytest.approx(us["TorchBiLSTMEncoder"] / us[name])
    assert [*encoders.find_baselines(results)] == [
        f"TorchBiLSTMEncoder ({what})" for what in WAYS
    ]


def test_encoders_are_of_equal_size(results):
    def count(above: int, n_biases: int) -> int:
        """Gates of a cell of each direction and layer, with their weights."""
        return 2 * 400 * ((200 + 100) + (above + 100) + 2 * n_biases)

    assert results["parameters"] == {
        "TorchBiLSTMEncoder": count(200, 2),
        "BiLSTMEncoder": count(100, 1),
        "CrossBiLSTMEncoder": count(200, 1),
        "AttBiLSTMEncoder": count(100, 1) + 3 * 200 * 200,
    }


def test_the_crossed_encoder_computes_what_spacy_s_does(results):
    agreement = results["agreement"]
    assert 0 < agreement["largest_output"] < 1
    assert agreement["largest_difference"] < 1e-5 * agreement["largest_output"]


def test_wrong_numbers_are_not_timed(corpus):
    models = _encoders.make_encoders()
    U = models["CrossBiLSTMEncoder"].get_param("U_backward_2")
    models["CrossBiLSTMEncoder"].set_param("U_backward_2", U + 0.01)
    with pytest.raises(RuntimeError, match="should be within 1e-05 of each other"):
        _encoders.compare_outputs(models, [corpus.docs[:3]])


def test_encoders_drop_at_one_rate_in_training_alone(corpus):
    for model in _encoders.make_encoders().values():
        rates = [n.attrs["dropout"] for n in model.walk() if "dropout" in n.attrs]
        rates += [shim._model.dropout for n in model.walk() for shim in n.shims]
        assert rates == [0.35]
        (Xs,) = _encoders.make_vectors([corpus.docs[:2]], 200)
        one, other = model.predict(Xs), model.predict(Xs)
        numpy.testing.assert_array_equal(one[0], other[0])
        assert (model.begin_update(Xs)[0][0] != one[0]).any()


def test_encoders_write_data_and_chart(results, tmp_path, capsys):
    assert_writes(encoders, results, "measure_encoders", tmp_path)
    assert "| CrossBiLSTMEncoder |" in capsys.readouterr().out
