"""TextCatVotingEnsemble: one component of several classifiers."""

import numpy as np
import pytest
from thinc.api import Adam, Softmax

from spacy_hashembeds.papers.hash_embeddings.hash_ngram_textcat import HashNgramTextCat
from spacy_hashembeds.papers.hash_embeddings.text_cat_voting_ensemble import (
    TextCatVotingEnsemble,
    soft_voting,
)

from ...toy_classifiers import SMALL, make_config, make_pipeline
from ...toy_embedders import get_nodes


def get_seeds(model) -> list[int]:
    return [node.attrs["hash_seed"] for node in get_nodes(model, "weightedhashembed")]


def test_members_of_several_kinds_take_turns():
    config = make_config(num_models=4)
    config["*"]["second"] = {**make_config(hidden_layers=1, hidden_width=6)}
    nlp = make_pipeline(config)
    model = nlp.get_pipe("textcat").model
    assert [len(get_nodes(m, "relu")) for m in model.layers] == [0, 1, 0, 1]
    assert get_seeds(model) == [9, 10, 11, 12]


@pytest.mark.parametrize(
    ("given", "seeds"), [([9, 12], [9, 12, 10, 13]), ([2**32 - 1], [2**32 - 1, 0])]
)
def test_seeds_of_members_are_kept_and_others_differ(given, seeds):
    members = [HashNgramTextCat(**SMALL, seed=seed) for seed in given]
    model = TextCatVotingEnsemble(*members, num_models=len(seeds))
    assert get_seeds(model) == seeds


EXCLUSIVE = HashNgramTextCat(**SMALL)
INDEPENDENT = HashNgramTextCat(**{**SMALL, "exclusive_classes": False})


@pytest.mark.parametrize(
    ("members", "num_models", "name"),
    [
        ([], 2, "HashNgramTextCat"),
        ([EXCLUSIVE, INDEPENDENT], 2, "exclusive_classes"),
        ([EXCLUSIVE] * 2, 1, "num_models"),
        ([EXCLUSIVE], 1001, "num_models"),
    ],
)
def test_bad_arguments_are_refused_at_once(members, num_models, name):
    with pytest.raises(ValueError, match=name):
        TextCatVotingEnsemble(*members, num_models=num_models)


# Members are trained as if each were alone


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
