"""Text classifiers, and the n-grams counted for them and for hashers."""

import copy
from collections import Counter
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_model_from_config, registry
from thinc.api import Adam, Config, Model, Softmax, fix_random_seed

from spacy_hashembeds.papers.hash_embeddings.hash_ngram_textcat import HashNgramTextCat
from spacy_hashembeds.papers.hash_embeddings.text_cat_voting_ensemble import (
    TextCatVotingEnsemble,
    soft_voting,
)
from spacy_hashembeds.papers.hashformers.lsh import find_ngrams

from ..conftest import find_configs
from ..processes import train_alone
from ..toy_classifiers import (
    MARKS,
    SMALL,
    get_scores,
    make_config,
    make_examples,
    make_texts,
    measure_accuracy,
    save_texts,
    train,
)
from ..toy_embedders import get_nodes
from .test_ngrams import list_keys

TEXTS = [text for text, _ in make_texts(12, seed=3)] + ["nothing known", "", ", . !"]


@pytest.fixture(autouse=True)
def reads() -> list[Any]:
    """Register a toy corpus, and record each read."""
    reads = []

    def read(nlp):
        reads.append(nlp)
        return iter(make_examples(nlp))

    registry.readers.register("toy_texts.v1", func=lambda: read)
    return reads


def make_pipeline(
    factory: str, model: dict[str, Any], before_init: dict[str, Any] | None
) -> Language:
    config = {
        "nlp": {"lang": "en", "pipeline": [factory]},
        "components": {factory: {"factory": factory, "model": model}},
        "corpora": {"train": {"@readers": "toy_texts.v1"}},
        "initialize": {"before_init": before_init},
    }
    fix_random_seed(0)
    return load_model_from_config(Config(config), auto_fill=True)


def get_ngrams(nlp: Language) -> list[list[int]]:
    nodes = list(nlp.components[0][1].model.walk())
    found = [node.attrs.get(name) for node in nodes for name in ("ngrams", "symbols")]
    return [ngrams.tolist() for ngrams in found if ngrams is not None]


# Classifiers

COUNT = {"@callbacks": "spacy-hashembeds.count_ngrams.v1"}
WEIGHTED: dict[str, Any] = {"importance_rows": None}
CLASSIFIERS: dict[str, dict[str, Any]] = {
    "deep": {"hidden_layers": 2, "hidden_width": 12},
    "hashing trick": {"importance_rows": 0, "num_hashes": 1, "rows": 5000},
    "weighted": WEIGHTED,
    "standard": {"rows": None, "importance_rows": 0, "num_hashes": 1},
}


def count_expected(nlp: Language) -> Counter[int]:
    counter: Counter[int] = Counter()
    for example in make_examples(nlp):
        words = [t.lower for t in example.predicted if not (t.is_punct or t.is_space)]
        counter.update(list_keys(words, 2))
    return counter


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_counting_training_and_loading(reads, kind, tmp_path):
    nlp = make_pipeline("textcat", make_config(**CLASSIFIERS[kind]), COUNT)
    nlp.initialize(lambda: make_examples(nlp))
    model = nlp.get_pipe("textcat").model
    for embed in get_nodes(model, "hashembed", "symbolembed"):
        # n-grams unseen in training have little effect
        assert 0.009 < abs(embed.get_param("E")).max() <= 0.01
    for ngrams in (found := get_ngrams(nlp)):
        assert set(ngrams) == set(count_expected(nlp))
    assert len(found) == len(reads) == (kind in ("weighted", "standard"))
    assert model.get_ref("output_layer").get_dim("nO") == 2
    train(nlp, is_new=False)
    assert measure_accuracy(nlp) > 0.9
    assert get_scores(nlp, ["great"]) == get_scores(nlp, [", great !"])
    scores = get_scores(nlp, TEXTS)
    assert all(sum(cats.values()) == pytest.approx(1) for cats in scores)
    nlp.to_disk(tmp_path)
    assert get_scores(spacy.load(tmp_path), TEXTS) == scores
    assert len(reads) == len(found)


def test_only_the_most_frequent_ngrams_are_used():
    model = make_config(**WEIGHTED)
    nlp = make_pipeline("textcat", model, {**COUNT, "max_ngrams": 9})
    nlp.initialize(lambda: make_examples(nlp))
    (symbols,), counter = get_ngrams(nlp), count_expected(nlp)
    counts = [counter[ngram] for ngram in symbols]
    assert sorted(counts) == sorted(counter.values())[-9:]
    nlp = make_pipeline("textcat", model, None)
    with pytest.raises(ValueError, match=r"count_ngrams\.v1"):
        nlp.initialize(lambda: make_examples(nlp))


@pytest.mark.slow
def test_configs_train_without_code(tmp_path):
    configs, overrides = find_configs("textcat"), {"training.max_steps": 2}
    for split, n in (("train", 120), ("dev", 30)):
        save_texts(tmp_path / f"{split}.spacy", n, seed=n)
        overrides[f"paths.{split}"] = str(tmp_path / f"{split}.spacy")
    train_alone(configs, tmp_path, overrides)
    for path in configs:
        nlp = spacy.load(tmp_path / path.stem / "model-last")
        assert set(nlp("a great film").cats) == set(MARKS)


@pytest.mark.parametrize("factory", ["textcat", "textcat_multilabel"])
def test_labels_added_later(factory):
    """spaCy's copy for rehearsal is not changed."""
    is_exclusive = factory == "textcat"
    config = make_config(exclusive_classes=is_exclusive)
    nlp = train(make_pipeline(factory, config, None))
    optimizer, pipe = nlp.resume_training(), nlp.get_pipe(factory)
    assert nlp.rehearse(make_examples(nlp), sgd=optimizer)
    before, copied = get_scores(nlp, TEXTS), copy.deepcopy(pipe.model)
    assert pipe.add_label("new") == 1
    for old, new in zip(before[:-3], get_scores(nlp, TEXTS)[:-3], strict=True):
        assert {label: new[label] for label in old} == pytest.approx(old, abs=1e-3)
        assert new["new"] == pytest.approx(0 if is_exclusive else 0.5, abs=1e-3)
    assert pipe.model.get_dim("nO") == pipe.model.get_ref("output_layer").get_dim("nO")
    assert copied.predict([nlp.make_doc("great")]).shape == (1, 2)
    cats = {**dict.fromkeys(MARKS, 0.0), "new": 1.0}
    examples = [Example.from_dict(nlp.make_doc("a brand"), {"cats": cats})] * 4
    examples += make_examples(nlp)
    optimizer.learn_rate = 0.1
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    assert nlp("a brand").cats["new"] > 0.5
    loaded = load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert get_scores(loaded, TEXTS) == get_scores(nlp, TEXTS)


# Ensembles


def make_members(*changes: dict[str, Any]) -> list[Model]:
    return [HashNgramTextCat(**{**SMALL, **of_one}) for of_one in changes]


def test_members_alternate_with_unique_seeds():
    deep = {"seed": 2**32 - 1, "hidden_layers": 1, "hidden_width": 6}
    model = TextCatVotingEnsemble(*make_members({"seed": 9}, deep), num_models=4)
    assert [len(get_nodes(m, "relu")) for m in model.layers] == [0, 1, 0, 1]
    seeds = [n.attrs["hash_seed"] for n in get_nodes(model, "weightedhashembed")]
    assert seeds == [9, 2**32 - 1, 10, 0]


def test_members_learn_independently():
    state = np.random.default_rng(0)
    X = state.normal(size=(6, 4)).astype("f")
    truth = np.eye(3, dtype="f")[state.integers(0, 3, 6)]
    is_there = np.ones_like(truth)
    is_there[[0, 2, 2], [1, 0, 1]] = 0  # missing labels
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


# Character n-grams


@pytest.mark.parametrize(
    ("limit", "shape", "n_reads"),
    [
        (0, {"ngram_size": 2, "max_ngrams": 3}, 2),
        (1, {"ngram_size": 4}, 2),  # two attributes
        (0, {"max_ngrams": None}, 1),  # no limit: not counted
    ],
)
def test_character_ngrams_are_counted_once_per_kind(reads, limit, shape, n_reads):
    """NORM has default settings; those of SHAPE vary."""
    hasher = {"@architectures": "spacy-hashembeds.LSHHasher.v1"}
    compressor = {"@architectures": "spacy-hashembeds.ProjCompressor.v1"}
    model = {
        "@architectures": "spacy-hashembeds.HashFormerEmbed.v1",
        **{"width": 8, "attrs": ["NORM", "SHAPE"], "include_static_vectors": False},
        "hashers": {"NORM": hasher, "SHAPE": {**hasher, **shape}},
        "compressors": {"NORM": compressor, "SHAPE": compressor},
    }
    count = {"@callbacks": "spacy-hashembeds.count_character_ngrams.v1", "limit": limit}
    nlp = make_pipeline("tok2vec", model, count)
    nlp.initialize(lambda: make_examples(nlp))
    assert len(reads) == n_reads
    texts = [text for text, _ in make_texts()[: limit or None]]
    tokens = [token for text in texts for token in nlp.make_doc(text)]
    expected = [Counter(find_ngrams([t.norm_ for t in tokens], 4).keys.tolist())]
    if n_reads == 2:
        found = find_ngrams([t.shape_ for t in tokens], shape["ngram_size"]).keys
        most = Counter(found.tolist()).most_common(shape.get("max_ngrams"))
        expected.append(Counter(dict(most)))
    assert get_ngrams(nlp) == [*map(sorted, expected)]
