"""Dictionaries of n-grams: counted, handed out, saved."""

import pickle
from collections import Counter

import numpy as np
import pytest
import spacy
from spacy.util import load_model_from_config, registry
from thinc.api import Config

from spacy_hashembeds.architectures.classifiers.dictionary import NgramKind
from spacy_hashembeds.dictionaries import (
    create_count_character_ngrams,
    create_count_ngrams,
)
from spacy_hashembeds.hashing.lsh import find_ngrams
from spacy_hashembeds.layers.symboltaker import find_symbol_takers

from .kernels.test_ngrams import list_ngrams
from .toy_classifiers import (
    get_scores,
    make_config,
    make_examples,
    make_texts,
    measure_accuracy,
    train,
)

WEIGHTED = {"importance_rows": None}
STANDARD = {"rows": None, "importance_rows": 0, "num_hashes": 1}
TEXTS = [text for text, _ in make_texts(12, seed=3)] + ["nothing known", ""]


@pytest.fixture
def reads():
    """Registers a corpus of the toy texts, and counts how often it is read."""
    reads = []

    def create(path=None):
        def read(nlp):
            reads.append(path)
            return iter(make_examples(nlp))

        return read

    registry.readers.register("toy_texts.v1", func=create)
    return reads


def make_pipeline(model, **callback):
    config = {
        "nlp": {"lang": "en", "pipeline": ["textcat"]},
        "components": {"textcat": {"factory": "textcat", "model": model}},
        "corpora": {"train": {"@readers": "toy_texts.v1"}},
        "training": {"train_corpus": "corpora.train"},
        "initialize": {
            "before_init": {
                "@callbacks": "spacy-hashembeds.count_ngrams.v1",
                "corpus": "corpora.train",
                **callback,
            }
        },
    }
    return load_model_from_config(Config(config), auto_fill=True)


def get_dictionaries(nlp):
    takers = find_symbol_takers(nlp.get_pipe("textcat").model)
    return [taker.attrs["symbols"] for taker in takers]


def count_expected(nlp, ngram_size=2):
    counter = Counter()
    for example in make_examples(nlp):
        words = [t.lower for t in example.predicted if not (t.is_punct or t.is_space)]
        counter.update(list_ngrams(words, ngram_size))
    return counter


@pytest.mark.parametrize("arguments", [WEIGHTED, STANDARD], ids=str)
def test_a_dictionary_is_counted_used_and_saved(reads, arguments, tmp_path):
    nlp = train(make_pipeline(make_config(**arguments)))
    (symbols,) = get_dictionaries(nlp)
    assert set(symbols.tolist()) == set(count_expected(nlp))
    assert measure_accuracy(nlp) > 0.9
    scores = get_scores(nlp, TEXTS)
    nlp.to_disk(tmp_path)
    n_reads = len(reads)
    loaded = spacy.load(tmp_path)
    assert get_scores(loaded, TEXTS) == scores
    copied = load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert get_scores(copied, TEXTS) == scores
    assert len(reads) == n_reads == 1


def test_the_most_frequent_ngrams_are_taken(reads):
    nlp = make_pipeline(make_config(**WEIGHTED), max_ngrams=9)
    nlp.initialize(lambda: make_examples(nlp))
    (symbols,) = get_dictionaries(nlp)
    counter = count_expected(nlp)
    least = sorted(counter.values())[-9]
    assert len(symbols) == 9
    assert {n for n, count in counter.items() if count > least} <= set(symbols.tolist())
    assert all(counter[n] >= least for n in symbols.tolist())


def test_texts_of_unknown_ngrams_get_the_same_scores(reads):
    nlp = train(make_pipeline(make_config(**STANDARD)))
    one, two = get_scores(nlp, ["qwert", "zuiop asdfg"])
    assert one == two


def test_members_share_one_reading_and_are_forgotten_about_it(reads):
    nlp = make_pipeline(make_config(num_models=3, **WEIGHTED))
    nlp.initialize(lambda: make_examples(nlp))
    assert len(reads) == 1
    one, two, three = get_dictionaries(nlp)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)
    for member in nlp.get_pipe("textcat").model.layers:
        assert member.attrs["ngram_source"].get is None


def test_other_words_are_another_reading(reads):
    config = make_config(num_models=2, **WEIGHTED)
    config["*"]["other"] = make_config(**WEIGHTED, ngram_size=1)
    nlp = make_pipeline(config)
    nlp.initialize(lambda: make_examples(nlp))
    assert len(reads) == 2
    pairs, words = get_dictionaries(nlp)
    assert set(words.tolist()) < set(pairs.tolist())


def test_trained_classifiers_keep_their_dictionary(reads):
    nlp = train(make_pipeline(make_config(**WEIGHTED)))
    (before,) = get_dictionaries(nlp)
    nlp.config["initialize"]["before_init"]["max_ngrams"] = 3
    with nlp.select_pipes(disable=["textcat"]):
        nlp.initialize(lambda: make_examples(nlp))
    (after,) = get_dictionaries(nlp)
    np.testing.assert_array_equal(before, after)


def test_classifiers_that_hash_read_nothing(reads):
    nlp = make_pipeline(make_config())
    nlp.initialize(lambda: make_examples(nlp))
    assert not reads


def test_without_a_dictionary_it_says_how_to_get_one(reads):
    nlp = make_pipeline(make_config(**WEIGHTED))
    nlp.config["initialize"]["before_init"] = None
    with pytest.raises(ValueError, match=r"no dictionary yet\. .*count_ngrams\.v1"):
        nlp.initialize(lambda: make_examples(nlp))


def test_a_corpus_without_words_is_refused(reads):
    nlp = make_pipeline(make_config(**WEIGHTED))
    nlp.config["initialize"]["before_init"]["corpus"] = "corpora.none"
    registry.readers.register(
        "no_texts.v1", func=lambda: lambda nlp: iter(make_examples(nlp, 0))
    )
    nlp.config["corpora"]["none"] = {"@readers": "no_texts.v1"}
    with pytest.raises(ValueError, match=r"not a word in the corpus 'corpora\.none'"):
        nlp.initialize(lambda: make_examples(nlp))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_ngrams": 0}, "'max_ngrams' should be 1 or more, but is 0"),
        ({"limit": -1}, "'limit' should be 0 or more, but is -1"),
    ],
)
def test_bad_arguments_are_refused_at_once(arguments, message):
    with pytest.raises(ValueError, match=message):
        create_count_ngrams(**arguments)


def test_a_kind_of_ngrams_reads_docs():
    doc = spacy.blank("en")("A film , a plot")
    words = [t.lower for t in doc if not t.is_punct]
    keys = NgramKind("LOWER", False, 3).read([doc, doc])
    assert keys.tolist() == list_ngrams(words, 3) * 2


# Character n-grams of HashFormers

HASH_FORMER = {
    "@architectures": "spacy-hashembeds.HashFormerEmbed.v1",
    "width": 8,
    "attrs": ["NORM", "SHAPE"],
    "include_static_vectors": False,
    "compressors": {
        attr: {"@architectures": "spacy-hashembeds.ProjCompressor.v1"}
        for attr in ("NORM", "SHAPE")
    },
}


def make_hasher(**options):
    return {"@architectures": "spacy-hashembeds.LSHHasher.v1", **options}


def make_tok2vec(norm=None, shape=None, **callback):
    hashers = {"NORM": norm or make_hasher(), "SHAPE": shape or make_hasher()}
    encode = {"@architectures": "spacy.MaxoutWindowEncoder.v2", "width": 8}
    model = {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {**HASH_FORMER, "hashers": hashers},
        "encode": {**encode, "window_size": 1, "maxout_pieces": 2, "depth": 1},
    }
    before_init = {
        "@callbacks": "spacy-hashembeds.count_character_ngrams.v1",
        "corpus": "corpora.train",
        **callback,
    }
    config = {
        "nlp": {"lang": "en", "pipeline": ["tok2vec"]},
        "components": {"tok2vec": {"factory": "tok2vec", "model": model}},
        "corpora": {"train": {"@readers": "toy_texts.v1"}},
        "training": {"train_corpus": "corpora.train"},
        "initialize": {"before_init": before_init},
    }
    return load_model_from_config(Config(config), auto_fill=True)


def get_hashers(nlp):
    model = nlp.get_pipe("tok2vec").model
    return [node for node in model.walk() if node.name == "lshhasher"]


def get_embedder(nlp):
    model = nlp.get_pipe("tok2vec").model
    (embedder,) = [
        node for node in model.walk() if "character_ngram_source" in node.attrs
    ]
    return embedder


def count_character_ngrams(nlp, attr, ngram_size) -> Counter:
    counts: Counter = Counter()
    for text, _ in make_texts():
        for token in nlp.make_doc(text):
            word = getattr(token, attr)
            counts.update(find_ngrams([word], ngram_size).keys.tolist())
    return counts


def test_character_ngrams_are_counted(reads):
    nlp = make_tok2vec(shape=make_hasher(ngram_size=2, max_ngrams=3))
    nlp.initialize()
    norm, shape = get_hashers(nlp)
    expected = count_character_ngrams(nlp, "norm_", 4)
    assert norm.attrs["ngrams"].tolist() == sorted(expected)
    top = count_character_ngrams(nlp, "shape_", 2).most_common(3)
    assert shape.attrs["ngrams"].tolist() == sorted(key for key, _ in top)


def test_character_ngrams_are_counted_once_for_each_kind(reads):
    model = make_tok2vec(shape=make_hasher(max_ngrams=None))
    model.initialize()
    assert len(reads) == 1
    reads.clear()
    make_tok2vec().initialize()
    assert len(reads) == 2


@pytest.mark.parametrize(
    "make", [make_tok2vec, lambda: make_pipeline(make_config(**WEIGHTED))]
)
def test_components_without_a_model_need_no_ngrams(reads, make):
    nlp = make()
    nlp.add_pipe("sentencizer", first=True)
    nlp.initialize(lambda: make_examples(nlp))
    assert reads


def test_only_so_many_docs_are_read_for_character_ngrams(reads):
    nlp = make_tok2vec(limit=1)
    nlp.initialize()
    first = nlp.make_doc(make_texts()[0][0])
    keys = {k for t in first for k in find_ngrams([t.norm_], 4).keys.tolist()}
    assert set(get_hashers(nlp)[0].attrs["ngrams"].tolist()) == keys


def test_counted_character_ngrams_are_saved(reads, tmp_path):
    nlp = make_tok2vec()
    nlp.initialize()
    nlp.to_disk(tmp_path)
    loaded, docs = spacy.load(tmp_path), [nlp.make_doc(text) for text in TEXTS]
    model, loaded_model = (n.get_pipe("tok2vec").model for n in (nlp, loaded))
    for Y, expected in zip(
        loaded_model.predict(docs), model.predict(docs), strict=True
    ):
        np.testing.assert_array_equal(Y, expected)


def test_what_sets_no_text_that_is_read_has_nothing_counted_again(reads):
    nlp = make_tok2vec()
    nlp.add_pipe("tagger").add_label("A")
    nlp.add_pipe(
        "tok2vec",
        name="behind",
        config={"model": nlp.get_pipe_config("tok2vec")["model"]},
    )
    nlp.config["training"]["annotating_components"] = ["tagger"]
    nlp.initialize(lambda: make_examples(nlp))
    n_reads = len(reads)
    assert len(get_hashers(nlp)[0].attrs["ngrams"]) > 0
    alone = make_tok2vec()
    reads.clear()
    alone.initialize()
    assert n_reads == len(reads)


def test_a_corpus_is_let_go_once_its_character_ngrams_are_counted(reads):
    nlp = make_tok2vec()
    nlp.initialize()
    assert get_embedder(nlp).attrs["character_ngram_source"].get is None


def test_components_that_pretraining_disables_get_character_ngrams(reads):
    """`spacy pretrain` disables all, and then initialises one of them."""
    nlp = make_tok2vec()
    with nlp.select_pipes(enable=[]):
        nlp.initialize()
    nlp.get_pipe("tok2vec").model.initialize(X=[nlp.make_doc("some words")])
    assert len(get_hashers(nlp)[0].attrs["ngrams"])


def test_frozen_components_keep_their_character_ngrams(reads):
    nlp = make_tok2vec()
    nlp.initialize()
    before = get_hashers(nlp)[0].attrs["ngrams"]
    reads.clear()
    with nlp.select_pipes(disable=["tok2vec"]):
        nlp.initialize()
    assert get_hashers(nlp)[0].attrs["ngrams"] is before
    assert not reads
    assert get_embedder(nlp).attrs["character_ngram_source"].get is None


def test_what_waits_for_character_ngrams_can_be_pickled(reads):
    nlp = make_tok2vec()
    with nlp.select_pipes(enable=[]):
        nlp.initialize()
    assert get_embedder(nlp).attrs["character_ngram_source"].get is not None
    loaded = pickle.loads(pickle.dumps(nlp))
    assert get_embedder(loaded).attrs["character_ngram_source"].get is None
    loaded.initialize()
    assert len(get_hashers(loaded)[0].attrs["ngrams"])


def test_a_corpus_without_words_has_no_character_ngrams(reads, monkeypatch):
    monkeypatch.setattr(f"{__name__}.make_examples", lambda nlp: [])
    with pytest.raises(ValueError, match=r"not a word in the corpus 'corpora.train'"):
        make_tok2vec().initialize()


def test_a_bad_limit_for_character_ngrams_is_refused():
    with pytest.raises(ValueError, match=r"'limit' should be 0 or more, but is -1"):
        create_count_character_ngrams(limit=-1)
