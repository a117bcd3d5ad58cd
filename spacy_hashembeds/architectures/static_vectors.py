"""Column of the pipeline's word vectors."""

from collections.abc import Sequence
from contextvars import ContextVar

from spacy.errors import Errors
from spacy.tokens import Doc
from spacy.vectors import Mode, Vectors
from spacy.vocab import Vocab
from thinc.api import Model, Ops

from ..layers.checks import check_once, check_param, peek
from ..layers.column import Array, Backprop, Column
from ..layers.tables import apply_dropout

#: Docs that this thread embeds. A context variable, since cached columns must not hold
#: a vocab.
DOCS: ContextVar[Sequence[Doc]] = ContextVar("DOCS")


class VectorColumn(Column):
    """Column of word vectors, projected as in spaCy's StaticVectors. The vocab of the
    first of `DOCS` supplies the vectors, as in spaCy.
    """

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Return projected vectors of distinct keys, zeros for keys without a vector.

        *Shapes:* `(m,)` to `(m, nO)`.
        """
        model = self.model
        check_once(model, _check_weights)
        W = peek(model, "W")
        V, is_missing = get_vectors(model.ops, DOCS.get()[0].vocab, keys)
        if V.shape[1] != W.shape[1]:
            raise RuntimeError(Errors.E896)
        projected = V @ W.T
        projected[is_missing] = 0
        output, backprop_dropout = apply_dropout(model, projected, is_train)

        def backprop(d_output: Array) -> None:
            # as in spaCy, including words without a vector
            dY = backprop_dropout(d_output)
            model.inc_grad("W", dY.T @ V)

        return output, backprop


def _check_weights(model: Model) -> None:
    check_param(model, "W", (model.get_dim("nO"), model.get_dim("nM")))


def get_key_attr(vocab: Vocab) -> str | int:
    """Return the token attribute used as vector key."""
    return getattr(vocab.vectors, "attr", "ORTH")


def get_vectors_width(vocab: Vocab) -> int:
    """Return the width of the vocab's vectors. Raise ValueError if there are none."""
    width: int = vocab.vectors.shape[1]
    if not width:
        raise ValueError(
            "'include_static_vectors' is true, but the pipeline has no vectors. Set "
            "[initialize] vectors to a package or folder with vectors, or "
            "include_static_vectors = false."
        )
    return width


def get_vectors(ops: Ops, vocab: Vocab, keys: Array) -> tuple[Array, Array]:
    """Return the vectors of keys, and a mask of missing ones, as arrays of `ops`."""
    vectors = vocab.vectors
    keys = ops.to_numpy(keys)
    if isinstance(vectors, Vectors) and vectors.mode == Mode.default:
        rows = vectors.find(keys=keys)
        return ops.asarray(vectors.data[rows]), ops.asarray(rows < 0)
    if not hasattr(vectors, "get_batch"):
        raise RuntimeError(Errors.E896)
    # floret and other packages: every key has a vector
    return ops.asarray(vectors.get_batch(keys)), ops.xp.zeros(len(keys), dtype=bool)
