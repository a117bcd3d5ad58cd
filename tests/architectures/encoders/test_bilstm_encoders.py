"""BiLSTM, Cross-BiLSTM and Att-BiLSTM in spaCy's pipelines."""

import pickle

import numpy as np
import pytest
import spacy
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from spacy_hashembeds.architectures.encoders.bilstm_encoders import (
    AttBiLSTMEncoder,
    BiLSTMEncoder,
    CrossBiLSTMEncoder,
)
from spacy_hashembeds.layers import torchlayer

from ...toy_encoders import make_tok2vec

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


def make_batch(lengths, width=12, seed=0):
    state = np.random.default_rng(seed)
    return [state.normal(size=(n, width)).astype("f") for n in lengths]


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


def test_the_width_of_the_input_is_found(name):
    model = build(name)
    assert model.get_dim("nO") == WIDTHS[name]
    model.initialize(X=make_batch([3, 2]))
    assert model.get_dim("nI") == 12


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "'width' should be .*, but is 0"),
        ({"width": 21}, "'width' should be .*, but is 21"),
        ({"depth": 0}, "'depth' should be 1 to 100, but is 0"),
        ({"dropout": 1.5}, "'dropout' should be in .0, 1. or null, but is 1.5"),
        ({"dropout": "0.5"}, "'dropout' should be in .0, 1. or null, but is '0.5'"),
        ({"dropout": True}, "'dropout' should be in .0, 1. or null, but is True"),
    ],
)
def test_sizes_that_can_not_be_are_refused(name, settings, message):
    with pytest.raises(ValueError, match=message):
        ENCODERS[name](**{"width": WIDTHS[name], **settings})


def test_heads_have_equal_parts():
    message = r"'width' should be a multiple of 4 and of 2 \* num_heads \(6\), .* 40"
    with pytest.raises(ValueError, match=message):
        AttBiLSTMEncoder(width=40, num_heads=3)
    with pytest.raises(ValueError, match=r"'num_heads' should be .* is 0"):
        AttBiLSTMEncoder(width=40, num_heads=0)


def test_without_pytorch_the_error_names_the_extra(name, monkeypatch):
    monkeypatch.setattr(torchlayer, "find_spec", lambda module: None)
    message = rf"'spacy-hashembeds\.{name}\.v1' needs PyTorch: .*\[torch\]"
    with pytest.raises(ImportError, match=message):
        build(name)


def test_all_of_it_is_thinc_s_parameters(name):
    """So that there is no pickle in what is saved, and weights load by themselves."""
    model, Xs = build(name).initialize(X=make_batch([4])), make_batch([4, 0, 9])
    assert not [node for node in model.walk() if node.shims]
    other = build(name).from_bytes(model.to_bytes())
    copies = [other, model.copy(), pickle.loads(pickle.dumps(model))]
    for copied in copies:
        for ours, theirs in zip(copied.predict(Xs), model.predict(Xs), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_what_else_is_in_a_batch_changes_nothing(name):
    model, Xs = build(name).initialize(X=make_batch([4])), make_batch([4, 0, 60, 1, 9])
    for X, Y in zip(Xs, model.predict(Xs), strict=True):
        np.testing.assert_allclose(Y, model.predict([X])[0], atol=1e-6)


MODELS = {
    "ner": {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": 16,
        "maxout_pieces": 2,
        "use_upper": True,
    },
    "tagger": {"@architectures": "spacy.Tagger.v2"},
    "parser": {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "extra_state_tokens": False,
        "hidden_width": 16,
        "maxout_pieces": 2,
        "use_upper": True,
    },
    "textcat": {
        "@architectures": "spacy.TextCatReduce.v1",
        "exclusive_classes": True,
        "use_reduce_first": False,
        "use_reduce_last": False,
        "use_reduce_max": False,
        "use_reduce_mean": True,
    },
}
TEXTS = ["Anna met Carl in Rome", "Rome has seen Dora", "Nobody was there ."]


def make_examples(nlp):
    found = []
    for text in TEXTS:
        doc = nlp.make_doc(text)
        names = [t for t in doc if t.text in ("Anna", "Carl", "Dora", "Rome")]
        found.append(
            Example.from_dict(
                doc,
                {
                    "entities": [(t.idx, t.idx + len(t), "NAME") for t in names],
                    "tags": ["N" if t in names else "O" for t in doc],
                    "heads": [0] * len(doc),
                    "deps": ["ROOT"] + ["dep"] * (len(doc) - 1),
                    "cats": {"A": float(bool(names)), "B": float(not names)},
                },
            )
        )
    return found


def make_pipeline(name, component="ner"):
    fix_random_seed(0)
    nlp = spacy.blank("en")
    model = {**MODELS[component], "tok2vec": make_tok2vec(name, WIDTHS[name])}
    rare = {"min_action_freq": 1} if component == "parser" else {}
    nlp.add_pipe(component, config={"model": model, **rare})
    nlp.initialize(lambda: make_examples(nlp))
    return nlp


def train(nlp, steps):
    optimizer = Adam(0.01)
    for _ in range(steps):
        losses = nlp.update(make_examples(nlp), sgd=optimizer)
    return losses


@pytest.mark.parametrize("component", MODELS)
def test_spacy_s_components_train_on_them(name, component, tmp_path):
    nlp = make_pipeline(name, component)
    first = train(nlp, 1)[component]
    assert train(nlp, 40)[component] < 0.5 * first
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    texts = [*TEXTS, "", "Rome"]
    for ours, theirs in zip(loaded.pipe(texts), nlp.pipe(texts), strict=True):
        assert ours.to_json() == theirs.to_json()


def test_names_are_found(name):
    nlp = make_pipeline(name)
    train(nlp, 60)
    found = [[ent.text for ent in doc.ents] for doc in nlp.pipe(TEXTS)]
    assert found == [["Anna", "Carl", "Rome"], ["Rome", "Dora"], []]


def make_shared(name):
    """A shared tok2vec, to which two components listen."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": make_tok2vec(name, WIDTHS[name])})
    listener = {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": WIDTHS[name],
        "upstream": "tok2vec",
    }
    for component in ("ner", "tagger"):
        model = {**MODELS[component], "tok2vec": listener}
        nlp.add_pipe(component, config={"model": model})
    nlp.initialize(lambda: make_examples(nlp))
    return nlp


def annotate(nlp, **settings):
    docs = nlp.pipe([*TEXTS, "", "Rome"] * 3, **settings)
    return [(doc.to_json()["ents"], [t.tag_ for t in doc]) for doc in docs]


def test_listeners_are_replaced_by_copies(name):
    nlp = make_shared(name)
    train(nlp, 20)
    expected = annotate(nlp)
    nlp.replace_listeners("tok2vec", "ner", ["model.tok2vec"])
    assert annotate(nlp) == expected


def test_frozen_ones_stay_and_others_train(name):
    nlp = make_shared(name)
    train(nlp, 2)  # until layers above, which begin with zeros, have gradients for it
    before = nlp.get_pipe("tok2vec").model.to_bytes()
    frozen = {"exclude": ["tok2vec"], "annotates": ["tok2vec"]}
    nlp.update(make_examples(nlp), sgd=Adam(0.01), **frozen)
    assert nlp.get_pipe("tok2vec").model.to_bytes() == before
    train(nlp, 1)
    assert nlp.get_pipe("tok2vec").model.to_bytes() != before


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_worker_processes_annotate_alike(name):
    nlp = make_shared(name)
    train(nlp, 20)
    alone = annotate(nlp)
    assert annotate(nlp, n_process=2, batch_size=2) == alone


def test_all_pipelines_of_one_seed_are_equal(name):
    first, second = make_pipeline(name), make_pipeline(name)
    for nlp in (first, second):
        fix_random_seed(1)
        train(nlp, 3)
    models = [nlp.get_pipe("ner").model for nlp in (first, second)]
    assert models[0].to_bytes() == models[1].to_bytes()
