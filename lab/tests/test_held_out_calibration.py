"""lab/held_out_calibration.py: what is fitted never saw what is measured."""

import numpy as np
import pytest

from lab import held_out_calibration as script
from lab.held_out_calibration import Key
from lab.pages.calibration import join
from spacy_hashembeds.components.decoding import calibrate
from spacy_hashembeds.tools.evaluate.measures import measure_calibration
from spacy_hashembeds.training.calibration import fit_calibration


def test_documents_begin_where_offsets_do():
    text = "A\t0\t1\tO\nb\t2\t3\tO\n\nC\t4\t5\tO\n\nD\t0\t1\tB-X\n"
    expected = [(("A", "b"), 0), (("C",), 0), (("D",), 1)]
    assert [*script.number_documents(text)] == expected


def test_folds_are_of_whole_and_consecutive_documents():
    keys = [Key("a", i, split) for i in range(8) for split in ("dev", "train")]
    keys += [Key("b", i, "dev") for i in range(4)]
    found = script.divide(reversed(keys), 4)
    assert [found[key] for key in keys[::2]] == [0, 0, 1, 1, 2, 2, 3, 3, 0, 2]
    assert all(found[key] == found[key._replace(split="train")] for key in keys[:16:2])


def make(source: str, split: str, shift: float = 0.0, n: int = 10):
    """Judged documents, of which scores are too high by a shift of log-odds."""
    rng, found = np.random.default_rng(len(source)), {}
    for i in range(n):
        odds = rng.normal(1, 1.5, size=20)
        is_right = rng.random(20) < 1 / (1 + np.exp(shift - odds))
        found[Key(source, i, split)] = (1 / (1 + np.exp(-odds)), is_right)
    return found


@pytest.mark.parametrize("split", ["dev", "train"])
def test_nothing_is_fitted_to_a_document_that_is_measured(split):
    """Even if its part in the other split was judged too."""
    target, source = make("a", "dev"), make("a", split, 2.0)
    pairs = []
    for key, (scores, is_right) in target.items():
        others = [of for k, of in source.items() if (k.number - key.number) % 5]
        after = calibrate(np.log(scores), fit_calibration(*join(others)))
        pairs += zip(after, is_right, strict=True)
    expected = measure_calibration(*zip(*pairs, strict=True))["error"]
    assert script.measure(target, source)["error"] == pytest.approx(expected)


def test_each_source_calibrates_and_each_fold_is_measured_by_others():
    target, dev = make("test", "test", 2.0), make("dev", "dev", 2.0)
    folds = [{**make("train", "train", 2.0)}, {**make("trains", "dev")}]
    found = script.compare(target, dev, folds)
    errors = {name: found[name]["error"] for name in ("none", "dev", "one_fold")}
    assert errors["none"] > 2 * max(errors["dev"], errors["one_fold"])
    assert errors["dev"] < found["folds"]["error"] < errors["none"]
    left_out = script.measure(folds[0], folds[1])
    assert found["left_out"][0] == left_out
