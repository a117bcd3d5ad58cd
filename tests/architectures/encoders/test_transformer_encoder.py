"""The Transformer in spaCy's pipelines."""

import pickle

import numpy as np
import pytest
import spacy
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from spacy_hashembeds.layers import torchlayer
from spacy_hashembeds.layers.transformer import TransformerEncoder

from ...toy_encoders import make_tok2vec

pytestmark = pytest.mark.torch

#: That of the embeddings of `make_tok2vec` too.
WIDTH = 12
SIZES = {"depth": 2, "num_heads": 3}
SPANS = {"max_length": 4, "stride": 2}


def build(**settings):
    return TransformerEncoder(**{"width": WIDTH, **SIZES, **settings})


def make_batch(lengths, seed=0):
    state = np.random.default_rng(seed)
    return [state.normal(size=(n, WIDTH)).astype("f") for n in lengths]


def test_sizes_are_those_of_bert_by_default():
    model = TransformerEncoder(width=768, depth=12, num_heads=12)
    dims = {name: model.get_dim(name) for name in model.dim_names}
    assert dims == {
        **{"nO": 768, "nI": 768, "depth": 12, "num_heads": 12},
        **{"hidden_width": 3072, "max_length": 512},
    }
    assert model.attrs == {
        **{"norm": "pre", "stride": 256, "dropout": 0.1, "attention_dropout": 0.1}
    }
    assert build(max_length=1).attrs["stride"] == 1
    assert build(max_length=7).attrs["stride"] == 4


@pytest.mark.parametrize("rate", [None, 0, 0.0])
def test_no_dropout_is_zero(rate):
    model = build(dropout=rate, attention_dropout=rate)
    assert model.attrs["dropout"] == model.attrs["attention_dropout"] == 0.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, r"'width' should be .*, but is 0"),
        ({"num_heads": 0}, r"'num_heads' should be .*, but is 0"),
        ({"num_heads": 5}, r"'width' .* a multiple of 'num_heads' \(5\), but is 12"),
        ({"depth": 101}, r"'depth' should be 1 to 100, but is 101"),
        ({"hidden_width": 0}, r"'hidden_width' should be .*, but is 0"),
        ({"max_length": 0}, r"'max_length' should be .*, but is 0"),
        ({"max_length": 8.0}, r"'max_length' should be .*, but is 8\.0"),
        ({"stride": 0}, r"'stride' should be 1 to 512, but is 0"),
        ({"max_length": 8, "stride": 9}, r"'stride' should be 1 to 8, but is 9"),
        ({"norm": "both"}, r"'norm' should be 'post' or 'pre', but is 'both'"),
        ({"dropout": 1.0}, r"'dropout' should be in \[0, 1\) or null, but is 1\.0"),
        ({"attention_dropout": "a"}, r"'attention_dropout' should be .* but is 'a'"),
    ],
)
def test_sizes_that_can_not_be_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        build(**settings)


def test_embeddings_of_another_width_are_refused():
    nlp = spacy.blank("en")
    tok2vec = make_tok2vec("TransformerEncoder", 24, **SIZES)
    nlp.add_pipe("tok2vec", config={"model": tok2vec})
    message = r"'width' of the Transformer is 24, but that of the embeddings is 12\."
    with pytest.raises(ValueError, match=message):
        nlp.initialize()


def test_without_pytorch_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr(torchlayer, "find_spec", lambda module: None)
    message = r"'spacy-hashembeds\.TransformerEncoder\.v1' needs PyTorch: .*\[torch\]"
    with pytest.raises(ImportError, match=message):
        build()


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_all_of_it_is_thinc_s_parameters(norm):
    """So that there is no pickle in what is saved, and weights load by themselves."""
    model = build(norm=norm, **SPANS).initialize(X=make_batch([4]))
    Xs = make_batch([4, 0, 9])
    assert not [node for node in model.walk() if node.shims]
    other = build(norm=norm, **SPANS).from_bytes(model.to_bytes())
    for copied in (other, model.copy(), pickle.loads(pickle.dumps(model))):
        for ours, theirs in zip(copied.predict(Xs), model.predict(Xs), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_rates_that_were_saved_win_over_those_of_the_config():
    model = build(dropout=0.3, stride=100).initialize()
    other = build(dropout=0.1).from_bytes(model.to_bytes())
    assert (other.attrs["dropout"], other.attrs["stride"]) == (0.3, 100)


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
                    "cats": {"A": float(bool(names)), "B": float(not names)},
                },
            )
        )
    return found


def make_pipeline(component="ner", **settings):
    fix_random_seed(0)
    nlp = spacy.blank("en")
    rates = {"dropout": 0.1, "attention_dropout": 0.1}
    settings = {**SIZES, **SPANS, **rates, **settings}
    tok2vec = make_tok2vec("TransformerEncoder", WIDTH, **settings)
    model = {**MODELS[component], "tok2vec": tok2vec}
    nlp.add_pipe(component, config={"model": model})
    nlp.initialize(lambda: make_examples(nlp))
    return nlp


def train(nlp, steps):
    optimizer = Adam(0.01)
    for _ in range(steps):
        losses = nlp.update(make_examples(nlp), sgd=optimizer)
    return losses


@pytest.mark.parametrize("component", MODELS)
def test_spacy_s_components_train_on_it(component, tmp_path):
    nlp = make_pipeline(component)
    first = train(nlp, 1)[component]
    assert train(nlp, 60)[component] < 0.5 * first
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    texts = [*TEXTS, "", "Rome"]
    for ours, theirs in zip(loaded.pipe(texts), nlp.pipe(texts), strict=True):
        assert ours.to_json() == theirs.to_json()


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_names_are_found(norm):
    nlp = make_pipeline(norm=norm)
    train(nlp, 80)
    found = [[ent.text for ent in doc.ents] for doc in nlp.pipe(TEXTS)]
    assert found == [["Anna", "Carl", "Rome"], ["Rome", "Dora"], []]


def make_shared():
    """A shared tok2vec, to which two components listen."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    settings = {**SIZES, **SPANS, "attention_dropout": 0.0}
    tok2vec = make_tok2vec("TransformerEncoder", WIDTH, **settings)
    nlp.add_pipe("tok2vec", config={"model": tok2vec})
    listener = {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": WIDTH,
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


def test_listeners_are_replaced_by_copies():
    nlp = make_shared()
    train(nlp, 20)
    expected = annotate(nlp)
    nlp.replace_listeners("tok2vec", "ner", ["model.tok2vec"])
    assert annotate(nlp) == expected


def test_frozen_ones_stay_and_others_train():
    nlp = make_shared()
    train(nlp, 2)  # until layers above, which begin with zeros, have gradients for it
    before = nlp.get_pipe("tok2vec").model.to_bytes()
    frozen = {"exclude": ["tok2vec"], "annotates": ["tok2vec"]}
    nlp.update(make_examples(nlp), sgd=Adam(0.01), **frozen)
    assert nlp.get_pipe("tok2vec").model.to_bytes() == before
    train(nlp, 1)
    assert nlp.get_pipe("tok2vec").model.to_bytes() != before


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_worker_processes_annotate_alike():
    nlp = make_shared()
    train(nlp, 20)
    alone = annotate(nlp)
    assert annotate(nlp, n_process=2, batch_size=2) == alone


def test_all_pipelines_of_one_seed_are_equal():
    first, second = make_pipeline(), make_pipeline()
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
