"""TextCatVotingEnsemble: one component of several classifiers."""

from typing import Any

import numpy as np
import pytest
from thinc.api import Adam, Model, Softmax

from spacy_hashembeds.papers.hash_embeddings.hash_ngram_textcat import HashNgramTextCat
from spacy_hashembeds.papers.hash_embeddings.text_cat_voting_ensemble import (
    TextCatVotingEnsemble,
    soft_voting,
)

from ...toy_classifiers import SMALL
from ...toy_embedders import get_nodes


def get_seeds(model) -> list[int]:
    return [node.attrs["hash_seed"] for node in get_nodes(model, "weightedhashembed")]


def make_members(*changes: dict[str, Any]) -> list[Model]:
    return [HashNgramTextCat(**{**SMALL, **of_one}) for of_one in changes]


def test_members_take_turns_and_seeds_are_kept_or_the_next():
    deep = {"seed": 12, "hidden_layers": 1, "hidden_width": 6}
    model = TextCatVotingEnsemble(*make_members({"seed": 9}, deep), num_models=4)
    assert [len(get_nodes(m, "relu")) for m in model.layers] == [0, 1, 0, 1]
    assert get_seeds(model) == [9, 12, 10, 13]
    model = TextCatVotingEnsemble(*make_members({"seed": 2**32 - 1}), num_models=2)
    assert get_seeds(model) == [2**32 - 1, 0]


@pytest.mark.parametrize(
    ("changes", "num_models", "name"),
    [
        ([], 2, "HashNgramTextCat"),
        ([{}, {"exclusive_classes": False}], 2, "exclusive_classes"),
        ([{}, {}], 1, "num_models"),
        ([{}], 1001, "num_models"),
    ],
)
def test_bad_arguments_are_refused_at_once(changes, num_models, name):
    with pytest.raises(ValueError, match=name):
        TextCatVotingEnsemble(*make_members(*changes), num_models=num_models)


def test_members_learn_as_if_they_were_alone():
    state = np.random.default_rng(0)
    X = state.normal(size=(6, 4)).astype("f")
    truth = np.eye(3, dtype="f")[state.integers(0, 3, 6)]
    is_there = np.ones_like(truth)
    is_there[[0, 2, 2], [1, 0, 1]] = 0  # labels that are missing
    alone = [Softmax(3, 4).initialize() for _ in range(3)]
    for member in alone:
        member.set_param("W", state.normal(size=(3, 4)).astype("f"))
    together = [member.copy() for member in alone]
    for model in (*alone, soft_voting(*together)):
        optimizer = Adam(0.1, L2=0, grad_clip=0)
        for _ in range(5):
            scores, backprop = model.begin_update(X)
            backprop((scores - truth) * is_there)
            model.finish_update(optimizer)
    for one, other in zip(alone, together, strict=True):
        weights = other.get_param("W")
        np.testing.assert_allclose(weights, one.get_param("W"), atol=1e-3)
