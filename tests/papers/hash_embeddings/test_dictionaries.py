"""N-grams that classifiers and hashers know: counted, handed out, saved."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.util import load_model_from_config, registry
from thinc.api import Config

from spacy_hashembeds.papers.hashformers.lsh import find_ngrams

from ...toy_classifiers import (
    get_scores,
    make_config,
    make_examples,
    make_texts,
    measure_accuracy,
    train,
)
from .test_ngrams import list_ngrams

WEIGHTED = {"importance_rows": None}
STANDARD = {"rows": None, "importance_rows": 0, "num_hashes": 1}
TEXTS = [text for text, _ in make_texts(12, seed=3)] + ["nothing known", ""]


@pytest.fixture(autouse=True)
def reads() -> list[Any]:
    """Registers a corpus of the toy texts, and counts how often it is read."""
    reads = []

    def read(nlp):
        reads.append(nlp)
        return iter(make_examples(nlp))

    registry.readers.register("toy_texts.v1", func=lambda: read)
    return reads


def make_pipeline(
    factory: str, model: dict[str, Any], before_init: dict[str, Any] | None
) -> Language:
    """A pipeline of one component, for which something is to be counted."""
    config = {
        "nlp": {"lang": "en", "pipeline": [factory]},
        "components": {factory: {"factory": factory, "model": model}},
        "corpora": {"train": {"@readers": "toy_texts.v1"}},
        "initialize": {"before_init": before_init},
    }
    return load_model_from_config(Config(config), auto_fill=True)


def get_ngrams(nlp: Language) -> list[np.ndarray]:
    """The dictionaries of classifiers, or what each hasher knows."""
    nodes = list(nlp.components[0][1].model.walk())
    found = [node.attrs.get(name) for node in nodes for name in ("ngrams", "symbols")]
    return [ngrams for ngrams in found if ngrams is not None]


# N-grams of words, of classifiers

COUNT = {"@callbacks": "spacy-hashembeds.count_ngrams.v1"}


def count_expected(nlp: Language) -> Counter[int]:
    counter: Counter[int] = Counter()
    for example in make_examples(nlp):
        words = [t.lower for t in example.predicted if not (t.is_punct or t.is_space)]
        counter.update(list_ngrams(words, 2))
    return counter


@pytest.mark.parametrize("arguments", [WEIGHTED, STANDARD], ids=str)
def test_a_dictionary_is_counted_used_and_saved(reads, arguments, tmp_path):
    nlp = train(make_pipeline("textcat", make_config(**arguments), COUNT))
    (symbols,) = get_ngrams(nlp)
    assert set(symbols.tolist()) == set(count_expected(nlp))
    assert measure_accuracy(nlp) > 0.9
    scores = get_scores(nlp, TEXTS)
    nlp.to_disk(tmp_path)
    assert get_scores(spacy.load(tmp_path), TEXTS) == scores
    assert len(reads) == 1


def test_the_most_frequent_ngrams_are_taken_or_asked_for():
    model = make_config(**WEIGHTED)
    nlp = make_pipeline("textcat", model, {**COUNT, "max_ngrams": 9})
    nlp.initialize(lambda: make_examples(nlp))
    (symbols,), counter = get_ngrams(nlp), count_expected(nlp)
    counts = [counter[ngram] for ngram in symbols.tolist()]
    assert sorted(counts) == sorted(counter.values())[-9:]
    nlp = make_pipeline("textcat", model, None)
    with pytest.raises(ValueError, match=r"count_ngrams\.v1"):
        nlp.initialize(lambda: make_examples(nlp))


# N-grams of characters, of hashers


def make_embedder(**shape: Any) -> dict[str, Any]:
    """What embeds norms by usual n-grams, and shapes by n-grams of other settings."""
    hasher = {"@architectures": "spacy-hashembeds.LSHHasher.v1"}
    compressor = {"@architectures": "spacy-hashembeds.ProjCompressor.v1"}
    return {
        "@architectures": "spacy-hashembeds.HashFormerEmbed.v1",
        **{"width": 8, "attrs": ["NORM", "SHAPE"], "include_static_vectors": False},
        "hashers": {"NORM": hasher, "SHAPE": {**hasher, **shape}},
        "compressors": {"NORM": compressor, "SHAPE": compressor},
    }


@pytest.mark.parametrize(
    ("limit", "shape", "n_reads"),
    [
        (0, {"ngram_size": 2, "max_ngrams": 3}, 2),
        (1, {"ngram_size": 4}, 2),  # of another attribute
        (0, {"max_ngrams": None}, 1),  # of which any counts
    ],
)
def test_character_ngrams_are_counted_once_for_each_kind(reads, limit, shape, n_reads):
    count = {"@callbacks": "spacy-hashembeds.count_character_ngrams.v1", "limit": limit}
    nlp = make_pipeline("tok2vec", make_embedder(**shape), count)
    nlp.initialize(lambda: make_examples(nlp))
    assert len(reads) == n_reads
    texts = [text for text, _ in make_texts()[: limit or None]]
    tokens = [token for text in texts for token in nlp.make_doc(text)]
    expected = [Counter(find_ngrams([t.norm_ for t in tokens], 4).keys.tolist())]
    if n_reads == 2:
        found = find_ngrams([t.shape_ for t in tokens], shape["ngram_size"]).keys
        most = Counter(found.tolist()).most_common(shape.get("max_ngrams"))
        expected.append(Counter(dict(most)))
    found = [ngrams.tolist() for ngrams in get_ngrams(nlp)]
    assert found == [*map(sorted, expected)]
