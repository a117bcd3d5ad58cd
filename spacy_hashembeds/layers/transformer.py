"""The encoder of BERT and of HashFormers (extra: torch)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, NumpyOps, Ops, get_width
from thinc.types import Floats2d

from ..checks import (
    MAX_DEPTH,
    MAX_ROWS,
    MAX_WIDTH,
    check_choice,
    check_dropout,
    check_integers,
)
from ..kernels.packing import split
from ..kernels.spans import Spans, find_spans, group_spans
from .checks import check_attr_choice, check_integer, check_number, check_params
from .params import check_once
from .torchlayer import require_torch, run_empty, run_torch, to_torch

if TYPE_CHECKING:
    from torch import Tensor

InT = list[Floats2d]
OutT = list[Floats2d]

#: Where layers are normalised, and what else is normalised there: in a Transformer with
#: norms after its sublayers the input, and in one with norms before them the output.
NORMS = {"post": "input_norm", "pre": "output_norm"}

#: Of a normal distribution that is cut at twice that, as BERT's.
STD = 0.02

#: Added to variances, as in BERT.
EPSILON = 1e-12

#: How many rows go through the layer at once, unless a single span has more. On a GPU
#: more are needed to keep it busy.
_MAX_ROWS = 2**12
_MAX_ROWS_ON_GPU = 2**15


def TransformerEncoder(
    *,
    width: int,
    depth: int,
    num_heads: int,
    hidden_width: int | None = None,
    norm: str = "pre",
    max_length: int = 512,
    stride: int | None = None,
    dropout: float = 0.1,
    attention_dropout: float = 0.1,
) -> Model[InT, OutT]:
    """Encode context with a Transformer: each token looks at all others of its Doc.

    That of BERT, on which HashFormers stand, over the embeddings of any embedder. With
    `norm = "post"` it is BERT's down to its initialisation, but for special tokens and
    vectors that are added to all tokens alike. Matrices and positions are drawn from a
    normal distribution with a standard deviation of 0.02, cut at twice that; biases are
    0, and gains 1.

    To each vector that of its position is added. Then each of the layers has the tokens
    of a Doc look at each other, by several heads, and sends what each has found through
    two dense layers with GELU between them. Both is added to what was there before.

    It has no preference for neighbours, and has to learn one: trained on a few thousand
    sentences alone, expect less of it than of `MaxoutWindowEncoder`. BERT and
    HashFormers are pretrained, as `spacy pretrain` does it.

    width (int): The width of input and output: that of the embedder. BERT-base has 768.
    depth (int): The layers, 1 to 100. BERT-base has 12.
    num_heads (int): The heads of each layer, which share the width in equal parts.
        BERT-base has 12; parts of 16 to 64 numbers are usual.
    hidden_width (int, optional): The width between the two dense layers of each layer.
        By default, as in BERT, four times `width`.
    norm (str): "pre" normalises what each sublayer reads, and learns with any of
        spaCy's usual settings; "post" what it leaves, as BERT and HashFormers do. It
        has to begin with a learning rate near 0 (the schedule `warmup_linear.v1`).
    max_length (int): How many positions have a vector of their own. Docs with more
        tokens are read in overlapping spans of so many. BERT has 512. Time and memory
        grow with the square of a Doc's length up to here, and from here on in
        proportion. With fewer, what is learned of the last positions needs less text.
    stride (int, optional): From the start of a span to that of the next, 1 to
        `max_length`; half of that by default. The output for a token is of the span in
        which it is furthest from the nearest end. With less, tokens have more of their
        surroundings, and a long Doc takes longer, by `max_length / stride`.
    dropout (float): The share of numbers that are dropped in training, 0 to 1: from the
        embeddings with their positions, and from what each sublayer finds. Appendix A
        of the paper has 0.1. `training.dropout` does not change it.
    attention_dropout (float): The share of attention weights, likewise.

    *Input and output:* for each Doc a float32 array of shape `(tokens, width)`.
    RAISES (ImportError): If there is no PyTorch.

    Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
    Transformers" (2022), §4.2 and appendices A and B; Devlin et al., "BERT:
    Pre-training of Deep Bidirectional Transformers for Language Understanding" (2019),
    and its code. "pre": Xiong et al., "On Layer Normalization in the Transformer
    Architecture" (2020).
    """
    require_torch("spacy-hashembeds.TransformerEncoder.v1")
    check_integers(1, MAX_WIDTH, width=width, num_heads=num_heads)
    check_integers(1, MAX_DEPTH, depth=depth)
    check_integers(1, MAX_ROWS, max_length=max_length)
    if width % num_heads:
        raise ValueError(
            f"'width' should be a multiple of 'num_heads' ({num_heads}), but is "
            f"{width}: the heads have equal parts of it."
        )
    hidden_width = 4 * width if hidden_width is None else hidden_width
    stride = (max_length + 1) // 2 if stride is None else stride
    check_integers(1, 4 * MAX_WIDTH, hidden_width=hidden_width)
    check_integers(1, max_length, stride=stride)
    check_choice(list(NORMS), norm=norm)
    check_dropout(dropout)
    check_dropout(attention_dropout, name="attention_dropout")
    # dimensions all of them: Thinc refuses weights that have others
    sizes = {"nO": width, "nI": width, "depth": depth, "num_heads": num_heads}
    sizes |= {"hidden_width": hidden_width, "max_length": max_length}
    return Model(
        "transformer",
        forward,
        init=init,
        dims={**sizes},
        params=dict.fromkeys(find_shapes(norm, sizes)),
        attrs={
            "norm": norm,
            "stride": stride,
            "dropout": dropout or 0.0,
            "attention_dropout": attention_dropout or 0.0,
        },
    )


def forward(
    model: Model[InT, OutT], Xs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_once(model, _check_weights)
    xp, lengths = model.ops.xp, [len(X) for X in Xs]
    if not sum(lengths):
        return run_empty(model, Xs)
    X = xp.concatenate(Xs)
    _check_width(model, X)
    compute = partial(encode, model, read_groups(model, lengths), is_train)
    Y, backprop_torch = run_torch(model, compute, X, is_train)

    def backprop(dYs: OutT) -> InT:
        return split(backprop_torch(xp.concatenate(dYs)), lengths)

    return split(Y, lengths), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X:
        _check_width(model, X[0])
    for name, shape in find_shapes(model.attrs["norm"], _get_dims(model)).items():
        model.set_param(name, _draw(model.ops, name, shape))


class Group:
    """Spans of similar length, padded to the longest with their last token once more.

    Which tokens of all Docs they are, `(n_spans, longest)`; where there is a token, for
    all heads and queries, `(n_spans, 1, 1, longest)`, or None if there is no padding;
    which of these rows are used, and which tokens they are.
    """

    def __init__(self, ops: Any, spans: Spans) -> None:
        lengths = spans.lengths[:, None]
        steps = np.arange(lengths.max())
        rows = spans.starts[:, None] + np.minimum(steps, lengths - 1)
        is_token = steps < lengths
        is_kept = (steps >= spans.kept_from[:, None]) & (steps < spans.kept_to[:, None])
        self.rows = to_torch(ops, ops.asarray(rows))
        self.is_token = None
        if not is_token.all():
            self.is_token = to_torch(ops, ops.asarray(is_token[:, None, None]))
        self.kept = to_torch(ops, ops.asarray(np.flatnonzero(is_kept)))
        self.tokens: NDArray[np.int64] = rows[is_kept]


def read_groups(model: Model, lengths: Sequence[int]) -> list[Group]:
    """Group the spans of Docs by length, so that little is padded."""
    spans = find_spans(lengths, model.get_dim("max_length"), model.attrs["stride"])
    max_rows = _MAX_ROWS if isinstance(model.ops, NumpyOps) else _MAX_ROWS_ON_GPU
    return [
        Group(model.ops, Spans(*(column[numbers] for column in spans)))
        for numbers in group_spans(spans.lengths.tolist(), max_rows)
    ]


def encode(
    model: Model,
    groups: Sequence[Group],
    is_train: bool,
    params: Mapping[str, "Tensor"],
    X: "Tensor",
) -> "Tensor":
    """Let all layers read a batch, group by group, shape `(n, nO)`."""
    import torch

    ops: Any = model.ops
    layers = Layers(model, params, is_train)
    found = [
        layers.encode(X[group.rows], group.is_token).flatten(0, 1)[group.kept]
        for group in groups
    ]
    order = np.argsort(np.concatenate([group.tokens for group in groups]))
    return torch.cat(found)[to_torch(ops, ops.asarray(order))]


class Layers:
    """The layers, for one batch. `X` is of shape `(n_spans, longest, nO)` everywhere.

    Numbers are dropped where BERT drops them, and not between the two dense layers, as
    PyTorch's own modules do.
    """

    def __init__(
        self, model: Model, params: Mapping[str, "Tensor"], is_train: bool
    ) -> None:
        from torch.nn import functional

        self._functional, self._params = functional, params
        self._depth = model.get_dim("depth")
        self._num_heads = model.get_dim("num_heads")
        attrs = model.attrs
        self._norm = attrs["norm"]
        self._dropout = attrs["dropout"] if is_train else 0.0
        self._attention_dropout = attrs["attention_dropout"] if is_train else 0.0

    def encode(self, X: "Tensor", is_token: "Tensor | None") -> "Tensor":
        """Let all layers read spans that are padded alike."""
        X = X + self._params["E_positions"][: X.shape[1]]
        if self._norm == "post":
            X = self._normalize(X, NORMS["post"])
        X = self._drop(X)
        attend = partial(self._attend, is_token=is_token)
        for layer in range(1, self._depth + 1):
            X = self._add(X, attend, f"attention_{layer}")
            X = self._add(X, self._feed_forward, f"feedforward_{layer}")
        if self._norm == "pre":
            X = self._normalize(X, NORMS["pre"])
        return X

    def _add(
        self, X: "Tensor", find: Callable[["Tensor", str], "Tensor"], name: str
    ) -> "Tensor":
        """Add what a sublayer finds, and normalise."""
        if self._norm == "pre":
            found = find(self._normalize(X, f"{name}_norm"), name)
            return X + self._drop(found)
        return self._normalize(X + self._drop(find(X, name)), f"{name}_norm")

    def _attend(self, X: "Tensor", name: str, is_token: "Tensor | None") -> "Tensor":
        """Find what each head of each token takes of the tokens of its span."""
        # each (n_spans, num_heads, longest, nO / num_heads)
        Q, K, V = (
            part.unflatten(2, (self._num_heads, -1)).transpose(1, 2)
            for part in self._multiply(X, f"{name}_in").chunk(3, dim=2)
        )
        found = self._functional.scaled_dot_product_attention(
            Q, K, V, attn_mask=is_token, dropout_p=self._attention_dropout
        )
        return self._multiply(found.transpose(1, 2).flatten(2), f"{name}_out")

    def _feed_forward(self, X: "Tensor", name: str) -> "Tensor":
        hidden = self._functional.gelu(self._multiply(X, f"{name}_in"))
        return self._multiply(hidden, f"{name}_out")

    def _multiply(self, X: "Tensor", name: str) -> "Tensor":
        W, b = self._params[f"W_{name}"], self._params[f"b_{name}"]
        return self._functional.linear(X, W, b)

    def _normalize(self, X: "Tensor", name: str) -> "Tensor":
        G, b = self._params[f"G_{name}"], self._params[f"b_{name}"]
        return self._functional.layer_norm(X, G.shape, G, b, EPSILON)

    def _drop(self, X: "Tensor") -> "Tensor":
        return self._functional.dropout(X, self._dropout) if self._dropout else X


def find_shapes(norm: str, dims: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Find the shapes of positions `E`, matrices `W`, biases `b` and norms' gains `G`.

    `W_attention_1_in` has the queries of all heads, then the keys, then the values.
    """
    width, hidden = dims["nO"], dims["hidden_width"]
    # the numbers that the first product gives, and those that the second one takes
    sublayers = {"attention": (3 * width, width), "feedforward": (hidden, hidden)}
    shapes: dict[str, tuple[int, ...]] = {"E_positions": (dims["max_length"], width)}
    norms = [NORMS[norm]]
    for layer in range(1, dims["depth"] + 1):
        for sublayer, (n_given, n_taken) in sublayers.items():
            name = f"{sublayer}_{layer}"
            shapes |= {f"W_{name}_in": (n_given, width), f"b_{name}_in": (n_given,)}
            shapes |= {f"W_{name}_out": (width, n_taken), f"b_{name}_out": (width,)}
            norms.append(f"{name}_norm")
    return shapes | {f"{kind}_{name}": (width,) for name in norms for kind in "Gb"}


def _draw(ops: Ops, name: str, shape: tuple[int, ...]) -> Any:
    xp = ops.xp
    if name.startswith("b_"):
        return xp.zeros(shape, dtype="float32")
    if name.startswith("G_"):
        return xp.ones(shape, dtype="float32")
    drawn = xp.random.normal(size=shape)
    while (is_out := abs(drawn) > 2).any():
        drawn[is_out] = xp.random.normal(size=int(is_out.sum()))
    return (STD * drawn).astype("float32")


def _check_width(model: Model, X: Floats2d) -> None:
    nO, width = model.get_dim("nO"), get_width(X)
    if width != nO:
        raise ValueError(
            f"The 'width' of the Transformer is {nO}, but that of the embeddings is "
            f"{width}. They should be equal, since what the layers find is added to "
            "the embeddings: set the 'width' of the one to that of the other."
        )


def _check_weights(model: Model) -> None:
    check_attr_choice(model, "norm", list(NORMS))
    check_integer(model, "stride", 1, model.get_dim("max_length"))
    check_number(model, "dropout", 0, 1)
    check_number(model, "attention_dropout", 0, 1)
    check_params(model, find_shapes(model.attrs["norm"], _get_dims(model)))


def _get_dims(model: Model) -> dict[str, int]:
    return {name: model.get_dim(name) for name in model.dim_names}
