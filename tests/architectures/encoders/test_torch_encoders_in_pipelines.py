"""The encoders on PyTorch under spaCy's components: trained and saved."""

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
NER = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "state_type": "ner",
    "extra_state_tokens": False,
    "hidden_width": 16,
    "maxout_pieces": 2,
    "use_upper": True,
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
        entities = [(t.idx, t.idx + len(t), "NAME") for t in names]
        found.append(Example.from_dict(doc, {"entities": entities}))
    return found


def make_pipeline(tok2vec):
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("ner", config={"model": {**NER, "tok2vec": tok2vec}})
    nlp.initialize(lambda: make_examples(nlp))
    return nlp


def train(nlp, steps):
    optimizer = Adam(0.01)
    for _ in range(steps):
        nlp.update(make_examples(nlp), sgd=optimizer)


def test_they_are_trained_and_saved(tok2vec, tmp_path):
    nlp = make_pipeline(tok2vec)
    train(nlp, 80)
    found = [[ent.text for ent in doc.ents] for doc in nlp.pipe(TEXTS)]
    assert found == [["Anna", "Carl", "Rome"], ["Rome", "Dora"], []]
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    texts = [*TEXTS, "", "Rome"]
    for ours, theirs in zip(loaded.pipe(texts), nlp.pipe(texts), strict=True):
        assert ours.to_json() == theirs.to_json()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_worker_processes_annotate_alike(tok2vec):
    nlp = make_pipeline(tok2vec)
    train(nlp, 20)
    alone, parallel = (
        [doc.to_json()["ents"] for doc in nlp.pipe([*TEXTS, ""] * 3, **settings)]
        for settings in ({}, {"n_process": 2, "batch_size": 2})
    )
    assert parallel == alone
