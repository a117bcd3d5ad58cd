from threading import Barrier, Thread

import numpy as np
import pytest
from thinc.api import Model

from spacy_hashembeds.layers.columns import leave_columns, leaving_alone

ONES = np.ones((2, 4), dtype="float32")


def build() -> Model:
    return Model("ones", lambda model, X, is_train: (leave_columns(model, X), None))


def test_other_columns_are_zero_as_long_as_the_context_lasts():
    model, other = build(), build()
    with leaving_alone(model, slice(1, 3)):
        assert model.predict(ONES).tolist() == [[0, 1, 1, 0]] * 2
        assert other.predict(ONES) is ONES
    assert model.predict(ONES) is ONES
    assert np.all(ONES == 1)


def test_it_ends_with_an_error():
    model = build()
    with pytest.raises(KeyError), leaving_alone(model, slice(0, 1)):
        raise KeyError
    assert model.predict(ONES) is ONES


def test_threads_know_nothing_of_each_other():
    model, barrier = build(), Barrier(3, timeout=20)
    found = {}

    def run(name: int) -> None:
        with leaving_alone(model, slice(name, name + 1)):
            barrier.wait()
            found[name] = model.predict(ONES)[0].tolist()
            barrier.wait()

    threads = [Thread(target=run, args=(name,)) for name in (0, 1)]
    for thread in threads:
        thread.start()
    barrier.wait()
    found["main"] = model.predict(ONES)[0].tolist()
    barrier.wait()
    for thread in threads:
        thread.join()
    expected = {0: [1, 0, 0, 0], 1: [0, 1, 0, 0], "main": [1, 1, 1, 1]}
    assert found == expected
    assert model.predict(ONES) is ONES
