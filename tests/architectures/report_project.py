"""What the report's own project registers for hashing, restated: a file for `--code`.

The public shape of `benchmarks/ner_embeddings` in explosion/projects: the name, the
arguments, the tree of nodes and their attributes, and so the files that it saves. To
import it is to register it, so tests give it to spaCy as its users do.
"""

from spacy.ml.models.tok2vec import MultiHashEmbed
from spacy.util import registry
from thinc.api import Model


@registry.architectures("spacy.MultiFewerHashEmbed.v1")
def MultiFewerHashEmbed(
    width: int,
    num_hashes: int,
    attrs: list[str | int],
    rows: list[int],
    include_static_vectors: bool,
) -> Model:
    """The tree of spaCy's `MultiHashEmbed`, with tables of another name."""
    model = MultiHashEmbed(width, attrs, rows, include_static_vectors)
    for node in model.walk():
        if node.name == "hashembed":
            node.attrs["num_hashes"] = num_hashes
            node.replace_callbacks(forward_fewer, init=node.init)
        node.name = node.name.replace("hashembed", "fewerhashembed")
    return model


def forward_fewer(model, ids, is_train):
    E, ops = model.get_param("E"), model.ops
    keys = ops.hash(ops.as_contig(ids, dtype="uint64"), model.attrs["seed"])
    rows = keys[:, : model.attrs["num_hashes"]] % E.shape[0]
    return ops.gather_add(E, rows), None  # nothing of it is trained here
