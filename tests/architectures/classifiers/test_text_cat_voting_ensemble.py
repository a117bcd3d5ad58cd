"""TextCatVotingEnsemble: one component of several classifiers."""

import numpy as np
import pytest
import spacy

from spacy_hashembeds.architectures.classifiers.hash_ngram_textcat import (
    HashNgramTextCat,
)
from spacy_hashembeds.architectures.classifiers.text_cat_voting_ensemble import (
    TextCatVotingEnsemble,
)

from ...toy_classifiers import (
    SMALL,
    get_scores,
    make_config,
    make_examples,
    make_pipeline,
    make_texts,
    train,
)

TEXTS = [text for text, _ in make_texts(12, seed=3)]


def get_embeds(model):
    return [node for node in model.walk() if node.name == "weightedhashembed"]


@pytest.fixture(scope="module")
def trained():
    return train(make_pipeline(make_config(num_models=3)))


def test_every_member_has_other_hashes_and_other_weights(trained):
    model = trained.get_pipe("textcat").model
    embeds = get_embeds(model)
    assert [embed.attrs["hash_seed"] for embed in embeds] == [9, 10, 11]
    nlp = make_pipeline(make_config(num_models=3))
    nlp.initialize(lambda: make_examples(nlp))
    one, two, _ = get_embeds(nlp.get_pipe("textcat").model)
    assert not np.array_equal(one.get_param("E"), two.get_param("E"))


def test_members_of_several_kinds_take_turns():
    config = make_config(num_models=4)
    config["*"]["second"] = {**make_config(hidden_layers=1, hidden_width=6)}
    nlp = make_pipeline(config)
    nlp.initialize(lambda: make_examples(nlp))
    members = nlp.get_pipe("textcat").model.layers
    depths = [sum(node.name == "relu" for node in m.walk()) for m in members]
    assert depths == [0, 1, 0, 1]
    seeds = [embed.attrs["hash_seed"] for m in members for embed in get_embeds(m)]
    assert seeds == [9, 10, 11, 12]


def test_labels_added_later(trained):
    nlp = spacy.util.load_model_from_config(trained.config)
    nlp.from_bytes(trained.to_bytes())
    before = get_scores(nlp, TEXTS)
    nlp.get_pipe("textcat").add_label("new")
    for old, new in zip(before, get_scores(nlp, TEXTS), strict=True):
        assert new == pytest.approx({**old, "new": 0}, abs=1e-3)
    loaded = spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert get_scores(loaded, TEXTS) == get_scores(nlp, TEXTS)


def test_seeds_start_anew_after_the_last():
    member = HashNgramTextCat(**SMALL, seed=2**32 - 1)
    embeds = get_embeds(TextCatVotingEnsemble(member, num_models=2))
    assert [embed.attrs["hash_seed"] for embed in embeds] == [2**32 - 1, 0]


def test_seeds_of_members_are_kept_where_they_differ():
    members = [HashNgramTextCat(**SMALL, seed=seed) for seed in (9, 10)]
    voters = TextCatVotingEnsemble(*members, num_models=5).layers
    seeds = [embed.attrs["hash_seed"] for v in voters for embed in get_embeds(v)]
    assert seeds == [9, 10, 11, 12, 13]


EXCLUSIVE = HashNgramTextCat(**SMALL)
INDEPENDENT = HashNgramTextCat(**{**SMALL, "exclusive_classes": False})


@pytest.mark.parametrize(
    ("members", "num_models", "message"),
    [
        ([], 2, r"but are none\. Add a section"),
        ([EXCLUSIVE, INDEPENDENT], 2, "with the same 'exclusive_classes', but are"),
        ([EXCLUSIVE] * 2, 1, "'num_models' should be 2 to 1000, but is 1"),
        ([EXCLUSIVE], 1001, "'num_models' should be 1 to 1000, but is 1001"),
    ],
)
def test_bad_arguments_are_refused_at_once(members, num_models, message):
    with pytest.raises(ValueError, match=message):
        TextCatVotingEnsemble(*members, num_models=num_models)
