"""`MultiHybridEmbed.v1`: a row for each frequent symbol, hashed rows for all others."""

import numpy as np
import pytest
from spacy.tokens import Doc

from spacy_hashembeds.architectures.embedders.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.embedders.multi_fewer_hash_embed import (
    MultiFewerHashEmbed,
)
from spacy_hashembeds.architectures.embedders.multi_hybrid_embed import MultiHybridEmbed
from spacy_hashembeds.symbols import (
    count_values,
    cut_symbols,
    load_symbols,
    save_symbols,
)

from ...toy_embedders import (
    assert_close,
    assert_gradients_close,
    get_gradients,
    get_weights,
    give_counted,
    make_gradient,
    update,
)

ATTRS = ["NORM", "SHAPE"]


def make(**options):
    options = {"attrs": ATTRS, "include_static_vectors": False, **options}
    return MultiHybridEmbed(**{"width": 8, "rows": [20, 10], **options})


@pytest.mark.parametrize("num_hashes", [1, 2, 4])
def test_without_frequent_symbols_it_is_multi_fewer_hash_embed(nlp, num_hashes):
    words = [Doc(nlp.vocab, words=[f"{'x' * (i % 9)}{i}" for i in range(300)])]
    options = {"num_hashes": num_hashes, "seed": 9, "rows": [7, 3]}
    ours = give_counted(make(**options), words, min_freq=1000).initialize(X=words)
    other = MultiFewerHashEmbed(
        attrs=ATTRS, width=8, include_static_vectors=False, **options
    ).initialize(X=words)
    for (node, name), (theirs, _) in zip(
        get_weights(ours), get_weights(other), strict=True
    ):
        theirs.set_param(name, node.get_param(name).copy())
    dY = make_gradient(ours.predict(words))
    Ys = [update(model, words, dY)[0] for model in (ours, other)]
    assert_close(*Ys)
    assert_gradients_close(get_gradients(ours), get_gradients(other))


def test_a_file_without_rare_symbols_is_for_lookup_alone(nlp, tmp_path):
    docs = [nlp.make_doc("a a b Cc X1 d"), nlp.make_doc("a b zebra dd X1 - . !")]
    path = tmp_path / "tables.npz"
    counts = count_values(docs, ATTRS)
    save_symbols(path, cut_symbols(counts, min_freq=2, lang="en"))
    with np.load(path) as arrays:
        kept = {k: v for k, v in arrays.items() if not k.startswith("rare/")}
    np.savez(path, **kept)
    assert load_symbols(path).get_table("NORM").rare is None
    options = {"attrs": ATTRS, "width": 8, "include_static_vectors": False}
    MultiEmbed(**options, tables=path).initialize(X=docs)
    with pytest.raises(ValueError, match=r"needs the rare symbols .*anew with `spacy"):
        make(tables=path).initialize(X=docs)
