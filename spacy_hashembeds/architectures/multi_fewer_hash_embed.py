from functools import partial

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..arguments import check_attributes, check_integers, check_rows
from ..hashing.murmur import MAX_HASHES
from ..layers.tableembed import HashColumn, HashEmbed
from .descriptions import EmbedderDescription
from .mix_attributes import check_seed, mix_attributes

NAME = "multi_fewer_hash_embed"

#: Seed of the first table of `spacy.MultiHashEmbed.v2`.
SPACY_SEED = 8


def MultiFewerHashEmbed(
    *,
    width: int,
    num_hashes: int = MAX_HASHES,
    attrs: list[str | int],
    rows: list[int],
    include_static_vectors: bool,
    seed: int = SPACY_SEED,
    maxout_pieces: int = 3,
    subwords: Model | None = None,
) -> Model[list[Doc], list[Floats2d]]:
    """Embed several attributes of each token with one to four hashes each.

    With `num_hashes = 4`, equivalent to `spacy.MultiHashEmbed.v2`: equal weights give
    equal outputs and gradients, and weights are interchangeable. Weights saved by spaCy
    do not contain the number of hashes: load them with four. Unlike in spaCy, training
    accepts batches of only empty Docs.

    width (int): The width of the output and of each table, usually 64 to 300. Run time
        grows quadratically.
    num_hashes (int): The number of rows summed per token and table, 1 to 4. Fewer are
        faster; more reduce collisions. The report finds little difference on small
        corpora (tables 13 and 14), and 5 F1 points between 1 and 3 on OntoNotes. Use 3
        or 4 for adversarial input: with 1, a word that collides with a given word can
        be found in a fraction of a second.
    attrs (list[str | int]): The token attributes to embed, one table each. Usually
        NORM, PREFIX, SUFFIX and SHAPE. "_.name" and "spans.key" are features: see
        docs/features.md.
    rows (list[int]): The rows of each table. `spacy init config` writes [5000, 1000,
        2500, 2500]; the report uses 2500 for PREFIX too. Both exceed what PREFIX and
        SHAPE need in most languages (report, table 4).
    include_static_vectors (bool): Mix in the pipeline's word vectors.
    seed (int): The hash seed of the first table, incremented for each further table,
        and saved with the weights. Set `seed = 9` in new pipelines: see "Seed 8" in
        docs/analyze.md.
    maxout_pieces (int): Linear pieces of the Maxout layer that mixes the tables.
    subwords (Model, optional): An additional table of character n-grams: see
        `SubwordEmbed`.

    Source: Miranda et al., "Multi hash embeddings in spaCy", §3.1, §3.3 and §5.4.
    """
    names = check_attributes(attrs, with_features=True)
    check_integers(1, MAX_HASHES, num_hashes=num_hashes)
    check_seed(seed, len(names))
    check_rows(names, rows=rows)
    make = partial(HashEmbed, width, num_hashes=num_hashes, dropout=0.0)
    return mix_attributes(
        NAME,
        attrs=names,
        tables=[make(nV, seed=seed + i, column=i) for i, nV in enumerate(rows)],
        width=width,
        maxout_pieces=maxout_pieces,
        dropout=0.0,
        include_static_vectors=include_static_vectors,
        subwords=subwords,
    )


DESCRIPTION = EmbedderDescription(
    name=NAME,
    architecture="spacy-hashembeds.MultiFewerHashEmbed.v1",
    aliases=["spacy.MultiFewerHashEmbed.v1"],
    purpose="the same tables, faster on the CPU, with hashes and a seed to choose.",
    tables={"hashembed": HashColumn},
    increases_rows=True,
)
