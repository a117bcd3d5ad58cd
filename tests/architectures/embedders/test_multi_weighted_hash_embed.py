"""`MultiWeightedHashEmbed.v1`: its arguments, its symbols, and what it is equal to."""

import pytest
from spacy.util import registry
from thinc.api import Config, Model

from spacy_hashembeds.architectures.embedders.multi_fewer_hash_embed import (
    MultiFewerHashEmbed,
)
from spacy_hashembeds.architectures.embedders.multi_weighted_hash_embed import (
    MultiWeightedHashEmbed,
)
from spacy_hashembeds.architectures.embedders.symbol_source import SYMBOL_SOURCE
from spacy_hashembeds.symbols import count_values, cut_symbols, save_symbols

from ...toy_embedders import ATTRS, assert_close, get_nodes, make_docs, make_vocab

SETTINGS = {
    "width": 6,
    "attrs": ATTRS,
    "rows": [11, 7, 5],
    "include_static_vectors": False,
}
NAME = "spacy-hashembeds.MultiWeightedHashEmbed.v1"


@pytest.fixture
def docs():
    return make_docs(make_vocab())


def resolve(**options) -> Model:
    block = {"@architectures": NAME, **SETTINGS, **options}
    return registry.resolve(Config({"model": block}))["model"]


@pytest.mark.parametrize("num_hashes", [1, 4])
def test_with_weights_of_one_it_is_a_hash_embed(docs, num_hashes):
    options = {"num_hashes": num_hashes, "seed": 9}
    model = resolve(importance_rows=[50, 30, 20], **options).initialize(X=docs)
    for node in get_nodes(model, "weightedhashembed"):
        node.get_param("P")[...] = 1
    plain = MultiFewerHashEmbed(**SETTINGS, **options).initialize(X=docs)
    for node, other in zip(model.walk(), plain.walk(), strict=True):
        for name in other.param_names:
            other.set_param(name, node.get_param(name))
    for Y, expected in zip(model.predict(docs), plain.predict(docs), strict=True):
        assert_close(Y, expected)


def test_symbols_come_from_a_file(docs, tmp_path):
    tables = cut_symbols(count_values(docs, ATTRS), min_freq=2, lang="en")
    save_symbols(tmp_path / "tables.npz", tables)
    model = resolve(tables=str(tmp_path / "tables.npz"))
    model.initialize(X=docs)
    sizes = [
        node.get_param("P").shape for node in get_nodes(model, "weightedhashembed")
    ]
    assert sizes == [(len(tables.get_table(attr).frequent) + 1, 2) for attr in ATTRS]


def test_it_waits_for_symbols_only_where_weights_are_not_hashed():
    assert SYMBOL_SOURCE in resolve().attrs
    assert SYMBOL_SOURCE not in resolve(importance_rows=[50, 30, 20]).attrs
    with pytest.raises(ValueError, match=r"no symbols for NORM yet.*count_symbols"):
        resolve().initialize(X=make_docs(make_vocab()))


def test_side_by_side_is_wider(docs):
    options = {"combine": "concat", "append_weights": True, "num_hashes": 3}
    model = resolve(importance_rows=[50, 30, 20], **options).initialize(X=docs)
    (maxout,) = get_nodes(model, "maxout")
    assert maxout.get_dim("nI") == 3 * (3 * 6 + 3)
    assert [y.shape for y in model.predict(docs)] == [(len(doc), 6) for doc in docs]


def test_tables_of_one_model_are_hashed_with_other_seeds():
    seeds = [
        n.attrs["hash_seed"] for n in get_nodes(resolve(seed=5), "weightedhashembed")
    ]
    assert seeds == [5, 6, 7]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"rows": [1, 2]}, r"'rows' should give one number .* \[1, 2\] for 3 attrs"),
        ({"rows": 5}, r"'rows' should give one number .* is 5 for 3 attrs"),
        ({"initial_weight": float("nan")}, r"'initial_weight' .* to 100, but is nan"),
        ({"initial_weight": None}, r"'initial_weight' .* -100 to 100, but is None"),
        ({"rows": [1, 2, 0]}, r"SUFFIX:.*should be 1 to 2147483647, but is 0\. To do"),
        ({"importance_rows": [9]}, r"'importance_rows' should give one .* is \[9\] "),
        ({"importance_rows": [9, 9, -1]}, r"'importance_rows' should.*1 to 2147483647"),
        ({"num_hashes": 0}, r"'num_hashes' should be 1 to 100"),
        ({"num_hashes": 10**9}, r"'num_hashes' should be 1 to 100, but is 1000"),
        ({"width": 10**12}, r"'width' should be 1 to 1000000, but is 1000000000000"),
        ({"rows": [1, 2, 2**63]}, r"SUFFIX: 'rows' should be 1 to 2147483647"),
        ({"importance_rows": [9, 9, 10**12]}, r"'importance_rows'.*is 1000000000000"),
        ({"combine": "mean"}, r"'combine' should be 'sum' or 'concat', but is 'mean'"),
        ({"seed": 2**32 - 2}, r"'seed' should be 0 to 4294967293"),
        ({"same_hash": "no"}, r"'same_hash' should be true or false, but is 'no'"),
        ({"append_weights": 1}, r"'append_weights' should be true or false"),
        ({"dropout": 1.0}, r"'dropout' should be in \[0, 1\) or null"),
        ({"attrs": ["NORM", "X"]}, r"'attrs' holds 'X'"),
        (
            {"importance_rows": [9, 9, 9], "tables": "a.npz"},
            r"'tables' has symbols.*a\.npz.*'importance_rows'.*Leave one",
        ),
    ],
)
def test_bad_arguments_are_refused_when_built(changes, error):
    with pytest.raises((ValueError, TypeError), match=error):
        MultiWeightedHashEmbed(**{**SETTINGS, **changes})
