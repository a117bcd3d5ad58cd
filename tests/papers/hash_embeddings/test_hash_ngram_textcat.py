"""HashNgramTextCat: what it computes, learns, refuses and keeps."""

import copy

import pytest
import spacy
from spacy.training import Example

from ...conftest import find_configs
from ...processes import train_alone
from ...toy_classifiers import (
    MARKS,
    get_scores,
    make_config,
    make_examples,
    make_pipeline,
    make_texts,
    measure_accuracy,
    save_texts,
    train,
)
from ...toy_embedders import get_nodes

DEEP = {"hidden_layers": 2, "hidden_width": 12}
TRICK = {"importance_rows": 0, "num_hashes": 1, "rows": 5000}
TEXTS = [text for text, _ in make_texts(12, seed=3)] + ["", ", . !", "great"]


@pytest.mark.parametrize("arguments", [DEEP, TRICK], ids=str)
def test_it_learns_and_comes_back(arguments, tmp_path):
    nlp = make_pipeline(make_config(**arguments))
    nlp.initialize(lambda: make_examples(nlp))
    for embed in get_nodes(nlp.get_pipe("textcat").model, "hashembed"):
        # n-grams that training has not shown must not matter
        assert 0.009 < abs(embed.get_param("E")).max() <= 0.01
    assert nlp.get_pipe("textcat").model.get_ref("output_layer").get_dim("nO") == 2
    train(nlp)
    assert measure_accuracy(nlp) > 0.95
    scores = get_scores(nlp, TEXTS)
    assert all(sum(cats.values()) == pytest.approx(1) for cats in scores)
    nlp.to_disk(tmp_path)
    assert get_scores(spacy.load(tmp_path), TEXTS) == scores


@pytest.mark.slow
def test_spacy_train_needs_no_code(tmp_path):
    configs, overrides = find_configs("textcat"), {"training.max_steps": 2}
    for split, n in (("train", 120), ("dev", 30)):
        save_texts(tmp_path / f"{split}.spacy", n, seed=n)
        overrides[f"paths.{split}"] = str(tmp_path / f"{split}.spacy")
    train_alone(configs, tmp_path, overrides)
    for path in configs:
        nlp = spacy.load(tmp_path / path.stem / "model-last")
        assert set(nlp("a great film").cats) == set(MARKS)


@pytest.mark.parametrize("exclusive", [True, False])
def test_labels_added_later(exclusive):
    factory = "textcat" if exclusive else "textcat_multilabel"
    nlp = train(make_pipeline(make_config(exclusive_classes=exclusive), factory))
    before = get_scores(nlp, TEXTS)
    pipe = nlp.get_pipe("textcat")
    assert pipe.add_label("new") == 1
    after = get_scores(nlp, TEXTS)
    for old, new in zip(before[:-2], after[:-2], strict=True):
        if old != dict.fromkeys(old, 0.0):  # spaCy's scores of texts without tokens
            assert {label: new[label] for label in old} == pytest.approx(old, abs=1e-3)
            assert new["new"] == pytest.approx(0 if exclusive else 0.5, abs=1e-3)
    assert pipe.model.get_dim("nO") == pipe.model.get_ref("output_layer").get_dim("nO")
    cats = {**dict.fromkeys(MARKS, 0.0), "new": 1.0}
    examples = [Example.from_dict(nlp.make_doc("a brand"), {"cats": cats})] * 4
    examples += make_examples(nlp)
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.1
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    assert nlp("a brand").cats["new"] > 0.5
    loaded = spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert get_scores(loaded, TEXTS) == get_scores(nlp, TEXTS)


def test_rehearsal_goes_on_after_a_label_was_added():
    """spaCy's rehearsal model is a deep copy, which must not share the output."""
    nlp = train(make_pipeline(make_config()))
    optimizer = nlp.resume_training()
    copied = copy.deepcopy(nlp.get_pipe("textcat").model)
    assert nlp.rehearse(make_examples(nlp), sgd=optimizer)
    copied.attrs["resize_output"](copied, 3)
    for model, n_labels in ((copied, 3), (nlp.get_pipe("textcat").model, 2)):
        assert model.predict([nlp.make_doc("great")]).shape == (1, n_labels)
