"""N-grams that classifiers and hashers know: counted, handed out, saved."""

import pickle
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.util import load_model_from_config, registry
from thinc.api import Config

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


@pytest.fixture(autouse=True)
def reads() -> list[Any]:
    """Registers a corpus of the toy texts, and counts how often it is read."""
    reads = []

    def create(n=60):
        def read(nlp):
            reads.append(n)
            return iter(make_examples(nlp, n))

        return read

    registry.readers.register("toy_texts.v1", func=create)
    return reads


def make_pipeline(
    factory: str, model: dict[str, Any], callback: str, **settings: Any
) -> Language:
    """A pipeline of one component, for which something is to be counted."""
    before_init = {"@callbacks": callback, "corpus": "corpora.train", **settings}
    corpora = {
        "train": {"@readers": "toy_texts.v1"},
        "none": {"@readers": "toy_texts.v1", "n": 0},
    }
    config = {
        "nlp": {"lang": "en", "pipeline": [factory]},
        "components": {factory: {"factory": factory, "model": model}},
        "corpora": corpora,
        "training": {"train_corpus": "corpora.train"},
        "initialize": {"before_init": before_init},
    }
    return load_model_from_config(Config(config), auto_fill=True)


def initialize(nlp: Language) -> Language:
    nlp.initialize(lambda: make_examples(nlp))
    return nlp


# Both


def make_classifier(model: dict[str, Any] | None = None, **settings: Any) -> Language:
    model = make_config(**WEIGHTED) if model is None else model
    callback = "spacy-hashembeds.count_ngrams.v1"
    return make_pipeline("textcat", model, callback, **settings)


def make_hasher(**options: Any) -> dict[str, Any]:
    return {"@architectures": "spacy-hashembeds.LSHHasher.v1", **options}


def make_tok2vec(
    norm: dict[str, Any] | None = None,
    shape: dict[str, Any] | None = None,
    **settings: Any,
) -> Language:
    compressor = {"@architectures": "spacy-hashembeds.ProjCompressor.v1"}
    embed = {
        "@architectures": "spacy-hashembeds.HashFormerEmbed.v1",
        "width": 8,
        "attrs": ["NORM", "SHAPE"],
        "include_static_vectors": False,
        "hashers": {"NORM": norm or make_hasher(), "SHAPE": shape or make_hasher()},
        "compressors": {"NORM": compressor, "SHAPE": compressor},
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        **{"width": 8, "window_size": 1, "maxout_pieces": 2, "depth": 1},
    }
    model = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}
    callback = "spacy-hashembeds.count_character_ngrams.v1"
    return make_pipeline("tok2vec", model, callback, **settings)


@pytest.fixture(params=[make_classifier, make_tok2vec])
def make(request) -> Callable[..., Language]:
    return request.param


def get_ngrams(nlp: Language) -> list[np.ndarray]:
    """The dictionaries of classifiers, or what each hasher knows."""
    model = nlp.components[0][1].model
    hashers = [node for node in model.walk() if node.name == "lshhasher"]
    found = [hasher.attrs["ngrams"] for hasher in hashers]
    return found + [taker.attrs["symbols"] for taker in find_symbol_takers(model)]


def get_sources(nlp: Language) -> list[Any]:
    """What models wait for, of those that do or did."""
    names = ("ngram_source", "character_ngram_source")
    nodes = list(nlp.components[0][1].model.walk())
    return [n.attrs[name].get for n in nodes for name in names if name in n.attrs]


def test_a_corpus_is_let_go_once_its_ngrams_are_counted(make):
    assert get_sources(initialize(make())) == [None]


def test_trained_components_keep_their_ngrams(make, reads):
    nlp = initialize(make())
    before = get_ngrams(nlp)
    reads.clear()
    with nlp.select_pipes(enable=[]):
        nlp.initialize()
    assert all(a is b for a, b in zip(get_ngrams(nlp), before, strict=True))
    assert get_sources(nlp) == [None]
    assert not reads


def test_what_waits_can_be_pickled(make, reads):
    nlp = make()
    nlp.add_pipe("sentencizer")  # has no model
    with nlp.select_pipes(enable=[]):
        nlp.initialize()
    assert None not in get_sources(nlp)
    loaded = pickle.loads(pickle.dumps(nlp))
    assert get_sources(loaded) == [None]
    assert not reads
    assert len(get_ngrams(initialize(loaded))[0])


def test_a_corpus_without_words_is_refused(make):
    with pytest.raises(ValueError, match=r"not a word in the corpus 'corpora\.none'"):
        initialize(make(corpus="corpora.none"))


@pytest.mark.parametrize(
    ("create", "arguments", "message"),
    [
        (create_count_ngrams, {"max_ngrams": 0}, "'max_ngrams' should be 1 or more, b"),
        (create_count_ngrams, {"limit": -1}, "'limit' should be 0 or more, but is -1"),
        (create_count_character_ngrams, {"limit": -1}, "'limit' should be 0 or more"),
    ],
)
def test_bad_arguments_are_refused_at_once(create, arguments, message):
    with pytest.raises(ValueError, match=message):
        create(**arguments)


# N-grams of words, of classifiers


def count_expected(nlp: Language, ngram_size: int = 2) -> Counter[int]:
    counter: Counter[int] = Counter()
    for example in make_examples(nlp):
        words = [t.lower for t in example.predicted if not (t.is_punct or t.is_space)]
        counter.update(list_ngrams(words, ngram_size))
    return counter


@pytest.mark.parametrize("arguments", [WEIGHTED, STANDARD], ids=str)
def test_a_dictionary_is_counted_used_and_saved(reads, arguments, tmp_path):
    nlp = train(make_classifier(make_config(**arguments)))
    (symbols,) = get_ngrams(nlp)
    assert set(symbols.tolist()) == set(count_expected(nlp))
    assert measure_accuracy(nlp) > 0.9
    scores = get_scores(nlp, TEXTS)
    nlp.to_disk(tmp_path)
    assert get_scores(spacy.load(tmp_path), TEXTS) == scores
    assert len(reads) == 1
    one, two = get_scores(nlp, ["qwert", "zuiop asdfg"])
    assert (one == two) or arguments is WEIGHTED  # of n-grams that it does not know


def test_the_most_frequent_ngrams_are_taken():
    nlp = initialize(make_classifier(max_ngrams=9))
    (symbols,) = get_ngrams(nlp)
    counter = count_expected(nlp)
    least = sorted(counter.values())[-9]
    assert len(symbols) == 9
    assert {n for n, count in counter.items() if count > least} <= set(symbols.tolist())
    assert all(counter[n] >= least for n in symbols.tolist())


def test_members_that_know_the_same_ngrams_share_one_reading(reads):
    config = make_config(num_models=3, **WEIGHTED)
    config["*"]["other"] = make_config(**WEIGHTED, ngram_size=1)
    nlp = initialize(make_classifier(config))
    pairs, words, again = get_ngrams(nlp)
    assert len(reads) == 2
    assert set(words.tolist()) < set(pairs.tolist())
    np.testing.assert_array_equal(again, pairs)


def test_classifiers_that_hash_read_nothing(reads):
    initialize(make_classifier(make_config()))
    assert not reads


def test_without_a_dictionary_it_says_how_to_get_one():
    nlp = make_classifier()
    nlp.config["initialize"]["before_init"] = None
    with pytest.raises(ValueError, match=r"no dictionary yet\. .*count_ngrams\.v1"):
        initialize(nlp)


# N-grams of characters, of hashers


def count_character_ngrams(
    nlp: Language, attr: str, ngram_size: int, n: int = 60
) -> Counter[int]:
    counts: Counter[int] = Counter()
    for text, _ in make_texts()[:n]:
        for token in nlp.make_doc(text):
            word = getattr(token, attr)
            counts.update(find_ngrams([word], ngram_size).keys.tolist())
    return counts


@pytest.mark.parametrize(("limit", "max_ngrams"), [(0, 3), (1, 1000)])
def test_character_ngrams_are_counted(limit, max_ngrams):
    shape = make_hasher(ngram_size=2, max_ngrams=max_ngrams)
    nlp = initialize(make_tok2vec(shape=shape, limit=limit))
    count = partial(count_character_ngrams, nlp, n=limit or 60)
    of_norms, of_shapes = get_ngrams(nlp)
    assert of_norms.tolist() == sorted(count("norm_", 4))
    top = count("shape_", 2).most_common(max_ngrams)
    assert of_shapes.tolist() == sorted(key for key, _ in top)


@pytest.mark.parametrize(
    ("shape", "n_reads"), [(make_hasher(max_ngrams=None), 1), (make_hasher(), 2)]
)
def test_character_ngrams_are_counted_once_for_each_kind(reads, shape, n_reads):
    initialize(make_tok2vec(shape=shape))
    assert len(reads) == n_reads


def test_what_sets_no_text_that_is_read_has_nothing_counted_again(reads):
    nlp = make_tok2vec()
    nlp.add_pipe("tagger").add_label("A")
    model = nlp.get_pipe_config("tok2vec")["model"]
    nlp.add_pipe("tok2vec", name="behind", config={"model": model})
    nlp.config["training"]["annotating_components"] = ["tagger"]
    initialize(nlp)
    assert len(get_ngrams(nlp)[0]) > 0
    assert len(reads) == 2  # of norms and of shapes


def test_components_that_pretraining_disables_get_character_ngrams():
    """`spacy pretrain` disables all, and then initialises one of them."""
    nlp = make_tok2vec()
    with nlp.select_pipes(enable=[]):
        nlp.initialize()
    nlp.get_pipe("tok2vec").model.initialize(X=[nlp.make_doc("some words")])
    assert len(get_ngrams(nlp)[0])
