"""Errors for bad arguments and damaged attributes."""

import numpy as np
import pytest

from spacy_hashembeds.papers.hash_embeddings.hash_ngram_textcat import HashNgramTextCat
from spacy_hashembeds.papers.hash_embeddings.text_cat_voting_ensemble import (
    TextCatVotingEnsemble,
)
from spacy_hashembeds.papers.hashformers.compressors import (
    EmbCompressor,
    ProjCompressor,
)
from spacy_hashembeds.papers.hashformers.pretrain_shuffle_random import (
    PretrainShuffleRandom,
)

from ..contract import CLASSES, IN_TORCH, REGISTERED
from ..toy_embedders import ATTRS


def make_ensemble(*changes, num_models=2):
    members = [HashNgramTextCat(**{**CLASSES, **of_one}) for of_one in changes]
    return TextCatVotingEnsemble(*members, num_models=num_models)


def of_all(block):
    return dict.fromkeys(ATTRS, block)


PROJ = ProjCompressor()
LARGE = EmbCompressor(rows=2**20 + 1)  # too many for LSHHasher
SEVERAL = "HashFormerEmbed: several, vectors"


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: make_ensemble(), "HashNgramTextCat"),
        (lambda: make_ensemble({}, {"exclusive_classes": False}), "exclusive_classes"),
        (lambda: make_ensemble({}, {}, num_models=1), "num_models"),
        (lambda: make_ensemble({}, num_models=1001), "num_models"),
        (lambda: PretrainShuffleRandom(random=1.0), "random"),
    ],
)
def test_bad_arguments_of_ensembles_and_objectives(make, name):
    with pytest.raises(ValueError, match=name):
        make()


@pytest.mark.parametrize(
    ("case", "changes", "name"),
    [
        (SEVERAL, {"maxout_pieces": None}, "maxout_pieces"),
        (SEVERAL, {"attrs": ["NORM", "IS_ALPHA", "SUFFIX"]}, "attrs"),
        (SEVERAL, {"attrs": ["NORM", "norm", "SUFFIX"]}, "attrs"),
        (SEVERAL, {"attrs": ["NORM"]}, "hashers"),
        (SEVERAL, {"hashers": of_all(PROJ)}, "hashers.NORM"),
        (SEVERAL, {"compressors": {"NORM": PROJ}}, "compressors"),
        (SEVERAL, {"compressors": of_all("x")}, "compressors.NORM"),
        (SEVERAL, {"compressors": of_all(LARGE)}, "rows"),
        *(
            pytest.param(case, changes, "width", marks=pytest.mark.torch)
            for case, changes in [
                ("BiLSTMEncoder", {"width": 21}),
                ("CrossBiLSTMEncoder", {"width": 21}),
                ("AttBiLSTMEncoder", {"width": 42, "num_heads": 3}),
                ("AttBiLSTMEncoder", {"width": 40, "num_heads": 3}),
            ]
        ),
    ],
)
def test_bad_arguments_of_layers(case, changes, name):
    with pytest.raises((ValueError, TypeError), match=f"^'{name}' should"):
        (REGISTERED | IN_TORCH)[case].make(**changes)


COUNTED = "LSHHasher, counted"


@pytest.mark.parametrize(
    ("case", "changes", "message"),
    [
        ("MD5Hasher", {"lsh_seed": 0}, "lsh_seed"),
        (COUNTED, {"md5_key": None}, "md5_key"),
        (COUNTED, {"ngrams": np.array([2, 1], "uint64")}, "ngrams"),
        (COUNTED, {"ngrams": np.array([1, 2])}, "ngrams"),
        (COUNTED, {"ngrams": None}, r"count_character_ngrams\.v1"),
    ],
)
def test_damaged_hashers_and_missing_ngrams(case, changes, message):
    model = REGISTERED[case].build()
    model.attrs.update(changes)
    with pytest.raises(ValueError, match=message):
        model.predict(["a"])
