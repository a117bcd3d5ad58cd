from functools import partial
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model, Relu, chain, uniform_init
from thinc.types import Floats2d

from ...architectures.dense import (
    check_dense,
    find_resizable,
    resize_output,
    score_labels,
)
from ...arguments import (
    MAX_DEPTH,
    MAX_ROWS,
    MAX_WIDTH,
    check_attributes,
    check_integers,
)
from ...hashing.murmur import MAX_HASHES
from ...layers.symbolembed import SymbolEmbed
from ...layers.tableembed import HashEmbed
from .batchnorm import BatchNorm
from .dictionary import NgramKind, set_ngrams_at_init
from .ngrams import MAX_NGRAM_SIZE, MAX_SNIPPET, extract_words, sum_ngrams
from .weightedhashembed import MAX_COMPONENTS, WeightedHashEmbed

KEY = "n-grams"

# near zero: n-grams unseen in training should have little effect
_start_small = partial(uniform_init, lo=-0.01, hi=0.01)


def HashNgramTextCat(
    *,
    exclusive_classes: bool,
    ngram_size: int,
    rows: int | None,
    width: int,
    importance_rows: int | None,
    num_hashes: int = 2,
    attr: str | int = "LOWER",
    include_punctuation: bool = False,
    min_snippet: int = 4,
    max_snippet: int | None = 100,
    hidden_layers: int = 0,
    hidden_width: int = 1000,
    seed: int = 9,
    nO: int | None = None,
) -> Model[list[Doc], Floats2d]:
    """Classify texts by the sum of the hash embeddings of their n-grams.

    For `textcat` and `textcat_multilabel`. An n-gram's vector is the sum of
    `num_hashes` rows of a shared table, weighted by the n-gram's weights. A text of
    20,000 words needs 0.5 GB with `ngram_size` 9 and width 200. [training] dropout has
    no effect.

    exclusive_classes (bool): True for `textcat`: exactly one label per text (softmax).
        False for `textcat_multilabel`: independent labels.
    ngram_size (int): Maximum number of words of an n-gram, 1 to 100. The paper uses 2
        without a dictionary, and up to 9 with one.
    rows (int | None): Rows of the table, the paper's B. 500 to 10,000 are nearly as
        good as more. If null, each n-gram of the dictionary has its row; then set
        `num_hashes = 1` and `importance_rows = 0`.
    width (int): Width of the table. The paper uses 20 without a dictionary and hidden
        layers, and 200 with both.
    importance_rows (int | None): Rows of weights, the paper's K, chosen by hashing: ten
        times `rows` or more. If null, each n-gram of the dictionary has its row. 0: no
        weights; with one hash, this is the hashing trick.
    num_hashes (int): Rows per n-gram, usually 2.
    attr (str | int): Token attribute of a word: LOWER, ORTH or NORM.
    include_punctuation (bool): Include punctuation and white space as words.
    min_snippet, max_snippet (int): Minimum and maximum length of the random snippet of
        consecutive n-grams that training reads of each text, a kind of dropout. If
        `max_snippet` is null, training reads whole texts, like prediction.
    hidden_layers (int): Number of dense ReLU layers, up to 100, with batch
        normalization between all layers. The paper uses 3 with a dictionary.
    hidden_width (int): Width of each hidden layer.
    seed (int): Hash seed, saved with the weights.
    nO (int | None): Number of labels, set by `textcat`.

    If `rows` or `importance_rows` is null, n-grams outside the dictionary are ignored.
    `spacy-hashembeds.count_ngrams.v1` counts it (`[initialize.before_init]`).

    Source: Tito Svenstrup et al., "Hash Embeddings for Efficient Word Representations"
    (2017), §5.1 to §5.4. Deviations: docs/hash-embeddings.md.
    """
    check_integers(1, MAX_NGRAM_SIZE, ngram_size=ngram_size)
    check_integers(1, MAX_WIDTH, width=width, hidden_width=hidden_width)
    check_integers(1, MAX_COMPONENTS, num_hashes=num_hashes)
    check_integers(0, MAX_DEPTH, hidden_layers=hidden_layers)
    check_integers(1, MAX_SNIPPET, min_snippet=min_snippet)
    check_integers(0, 2**32 - 1, seed=seed)
    if max_snippet is not None:
        check_integers(min_snippet, MAX_SNIPPET, max_snippet=max_snippet)
    (attr,) = check_attributes([attr])
    embed: Model
    if rows is None:
        if importance_rows != 0 or num_hashes != 1:
            raise ValueError(
                "With `rows = null`, 'importance_rows' should be 0 and 'num_hashes' 1, "
                f"but they are {importance_rows!r} and {num_hashes!r}. Change them, or "
                "set 'rows' to a number."
            )
        embed = SymbolEmbed(width, key=KEY, initializer=_start_small)
    elif importance_rows == 0:
        check_integers(1, MAX_ROWS, rows=rows)
        check_integers(1, MAX_HASHES, num_hashes=num_hashes)
        embed = HashEmbed(
            width, rows, num_hashes=num_hashes, seed=seed, initializer=_start_small
        )
    else:
        check_integers(1, MAX_ROWS, rows=rows)
        if importance_rows is not None:
            check_integers(0, MAX_ROWS, importance_rows=importance_rows)
        embed = WeightedHashEmbed(
            width, rows, nK=importance_rows, num_hashes=num_hashes, seed=seed, key=KEY
        )
    ngrams: Model = sum_ngrams(
        embed, ngram_size=ngram_size, shortest=min_snippet, longest=max_snippet
    )
    hidden: list[Model] = [BatchNorm(width)] if hidden_layers else []
    for i in range(hidden_layers):
        nI = hidden_width if i else width
        hidden += [Relu(hidden_width, nI), BatchNorm(hidden_width)]
    model: Any = chain(
        extract_words(attr, include_punctuation=include_punctuation),
        ngrams,
        *hidden,
        score_labels(nO, exclusive_classes=exclusive_classes),
    )
    check_dense(model)
    if rows is None or importance_rows is None:
        set_ngrams_at_init(model, NgramKind(attr, include_punctuation, ngram_size))
    return set_label_attrs(model, nO, exclusive_classes=exclusive_classes)


def set_label_attrs(model: Model, nO: int | None, *, exclusive_classes: bool) -> Model:
    """Set the attributes that spaCy's text categorizers require."""
    model.attrs["multi_label"] = not exclusive_classes
    model.attrs["resize_output"] = resize_output
    model.set_ref("output_layer", find_resizable(model)[0].layers[0])
    if nO is not None:
        model.set_dim("nO", nO)
    return model
