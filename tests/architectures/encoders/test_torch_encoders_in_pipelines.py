"""The encoders on PyTorch under spaCy's components: trained, saved, shared, frozen."""

import pytest
import spacy
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from ...toy_encoders import make_tok2vec

pytestmark = pytest.mark.torch

#: Name, width and other settings of each.
TRANSFORMER = ("TransformerEncoder", 12)
SIZES = {"depth": 2, "num_heads": 3, "max_length": 4, "stride": 2}
ENCODERS = {
    "BiLSTM": ("BiLSTMEncoder", 20, {}),
    "Cross-BiLSTM": ("CrossBiLSTMEncoder", 20, {}),
    "Att-BiLSTM": ("AttBiLSTMEncoder", 40, {}),
    "Transformer, pre-norm": (*TRANSFORMER, {**SIZES, "norm": "pre"}),
    "Transformer, post-norm": (*TRANSFORMER, {**SIZES, "norm": "post"}),
}
TRANSITIONS = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "extra_state_tokens": False,
    "hidden_width": 16,
    "maxout_pieces": 2,
    "use_upper": True,
}
MODELS = {
    "ner": {**TRANSITIONS, "state_type": "ner"},
    "tagger": {"@architectures": "spacy.Tagger.v2"},
    "parser": {**TRANSITIONS, "state_type": "parser"},
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


@pytest.fixture(params=ENCODERS)
def tok2vec(request):
    name, width, settings = ENCODERS[request.param]
    return make_tok2vec(name, width, **{"dropout": 0.1, **settings})


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


def make_pipeline(tok2vec, component="ner"):
    fix_random_seed(0)
    nlp = spacy.blank("en")
    model = {**MODELS[component], "tok2vec": tok2vec}
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
def test_spacy_s_components_train_on_them(tok2vec, component, tmp_path):
    nlp = make_pipeline(tok2vec, component)
    first = train(nlp, 1)[component]
    assert train(nlp, 60)[component] < 0.5 * first
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    texts = [*TEXTS, "", "Rome"]
    for ours, theirs in zip(loaded.pipe(texts), nlp.pipe(texts), strict=True):
        assert ours.to_json() == theirs.to_json()


def test_names_are_found(tok2vec):
    nlp = make_pipeline(tok2vec)
    train(nlp, 80)
    found = [[ent.text for ent in doc.ents] for doc in nlp.pipe(TEXTS)]
    assert found == [["Anna", "Carl", "Rome"], ["Rome", "Dora"], []]


@pytest.fixture
def shared(tok2vec):
    """A pipeline with a shared tok2vec, to which two components listen."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": tok2vec})
    listener = {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": tok2vec["encode"]["width"],
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


def test_listeners_are_replaced_by_copies(shared):
    train(shared, 20)
    expected = annotate(shared)
    shared.replace_listeners("tok2vec", "ner", ["model.tok2vec"])
    assert annotate(shared) == expected


def test_frozen_ones_stay_and_others_train(shared):
    train(shared, 2)  # until layers above, which begin with zeros, have gradients
    before = shared.get_pipe("tok2vec").model.to_bytes()
    frozen = {"exclude": ["tok2vec"], "annotates": ["tok2vec"]}
    shared.update(make_examples(shared), sgd=Adam(0.01), **frozen)
    assert shared.get_pipe("tok2vec").model.to_bytes() == before
    train(shared, 1)
    assert shared.get_pipe("tok2vec").model.to_bytes() != before


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_worker_processes_annotate_alike(shared):
    train(shared, 20)
    alone = annotate(shared)
    assert annotate(shared, n_process=2, batch_size=2) == alone


def test_all_pipelines_of_one_seed_are_equal(tok2vec):
    first, second = make_pipeline(tok2vec), make_pipeline(tok2vec)
    for nlp in (first, second):
        fix_random_seed(1)
        train(nlp, 3)
    models = [nlp.get_pipe("ner").model for nlp in (first, second)]
    assert models[0].to_bytes() == models[1].to_bytes()
    fix_random_seed(2)  # of dropout
    train(first, 1)
    fix_random_seed(3)
    train(second, 1)
    assert models[0].to_bytes() != models[1].to_bytes()
