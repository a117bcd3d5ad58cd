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
    measure_accuracy,
    train,
)

TEXTS = [text for text, _ in make_texts(12, seed=3)]


def get_embeds(model):
    return [node for node in model.walk() if node.name == "weightedhashembed"]


@pytest.fixture(scope="module")
def trained():
    return train(make_pipeline(make_config(num_models=3)))


def test_it_learns_and_comes_back(trained, tmp_path):
    assert measure_accuracy(trained) > 0.95
    scores = get_scores(trained, TEXTS)
    trained.to_disk(tmp_path)
    config = trained.config
    for loaded in (
        spacy.load(tmp_path),
        spacy.util.load_model_from_config(config).from_bytes(trained.to_bytes()),
    ):
        assert get_scores(loaded, TEXTS) == scores


def test_every_member_has_other_hashes_and_other_weights(trained):
    model = trained.get_pipe("textcat").model
    embeds = get_embeds(model)
    assert [embed.attrs["hash_seed"] for embed in embeds] == [9, 10, 11]
    nlp = make_pipeline(make_config(num_models=3))
    nlp.initialize(lambda: make_examples(nlp))
    one, two, _ = get_embeds(nlp.get_pipe("textcat").model)
    assert not np.array_equal(one.get_param("E"), two.get_param("E"))


def test_scores_are_the_mean_of_the_members_scores(trained):
    model = trained.get_pipe("textcat").model
    docs = [trained.make_doc(text) for text in TEXTS]
    members = [member.predict(docs) for member in model.layers]
    assert not np.allclose(members[0], members[1])
    np.testing.assert_allclose(model.predict(docs), np.mean(members, axis=0), rtol=1e-5)


def test_members_learn_what_they_learn_alone():
    """With whole texts, since snippets are of one sequence of random numbers."""
    config = make_config(num_models=3, max_snippet=None)
    nlp = make_pipeline(config)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    docs = [nlp.make_doc(text) for text in TEXTS]
    alone = []
    for i, member in enumerate(nlp.get_pipe("textcat").model.layers):
        single = make_pipeline(make_config(max_snippet=None, seed=9 + i))
        optimizer = single.initialize(lambda: examples)
        optimizer.learn_rate = 0.02
        model = single.get_pipe("textcat").model.from_bytes(member.to_bytes())
        for _ in range(5):
            single.update(examples, sgd=optimizer)
        alone.append(model.predict(docs))
    optimizer = nlp.create_optimizer()
    optimizer.learn_rate = 0.02
    for _ in range(5):
        nlp.update(examples, sgd=optimizer)
    members = nlp.get_pipe("textcat").model.layers
    for member, expected in zip(members, alone, strict=True):
        np.testing.assert_allclose(member.predict(docs), expected, atol=1e-3)


def test_members_of_several_kinds_take_turns():
    config = make_config(num_models=4)
    config["*"]["second"] = {**make_config(hidden_layers=1, hidden_width=6)}
    nlp = train(make_pipeline(config))
    members = nlp.get_pipe("textcat").model.layers
    depths = [sum(node.name == "relu" for node in m.walk()) for m in members]
    assert depths == [0, 1, 0, 1]
    seeds = [embed.attrs["hash_seed"] for m in members for embed in get_embeds(m)]
    assert seeds == [9, 10, 11, 12]
    assert measure_accuracy(nlp) > 0.95


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


def test_bad_arguments_are_refused_at_once():
    exclusive = HashNgramTextCat(**SMALL)
    other = HashNgramTextCat(**{**SMALL, "exclusive_classes": False})
    with pytest.raises(ValueError, match=r"but are none\. Add a section"):
        TextCatVotingEnsemble(num_models=2)
    with pytest.raises(ValueError, match="with the same 'exclusive_classes', but are"):
        TextCatVotingEnsemble(exclusive, other, num_models=2)
    with pytest.raises(ValueError, match="'num_models' should be 2 to 1000, but is 1"):
        TextCatVotingEnsemble(exclusive, exclusive, num_models=1)
    with pytest.raises(ValueError, match=r"'num_models'.*1 to 1000, but is 1001"):
        TextCatVotingEnsemble(exclusive, num_models=1001)
