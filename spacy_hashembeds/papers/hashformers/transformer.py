"""The encoder of BERT and HashFormers (extra: torch)."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from thinc.api import Model, Ops, get_width
from thinc.types import Floats2d

from ...arguments import MAX_DEPTH, MAX_ROWS, MAX_WIDTH, check_dropout, check_integers
from ...layers import checks
from ...layers.torchlayer import Group, Params, Spans, require_torch, run_sequences

if TYPE_CHECKING:
    from torch import Tensor

InT = list[Floats2d]
OutT = list[Floats2d]

#: The encoder's normalization outside of sublayers.
NORMS = {"post": "input_norm", "pre": "output_norm"}
#: Standard deviation of a normal distribution truncated at twice this, as in BERT.
STD = 0.02
#: Added to variances, as in BERT.
EPSILON = 1e-12


def TransformerEncoder(
    *,
    width: int,
    depth: int,
    num_heads: int,
    hidden_width: int | None = None,
    norm: Literal["pre", "post"] = "pre",
    max_length: int = 512,
    stride: int | None = None,
    dropout: float = 0.1,
    attention_dropout: float = 0.1,
) -> Model[InT, OutT]:
    """Encode context with a Transformer: each token attends to all others of its Doc.

    With `norm = "post"` this is BERT's encoder without special tokens. Pretrain it if
    you have only a few thousand sentences.

    width (int): Width of input and output. BERT-base: 768.
    depth (int): Number of layers, 1 to 100. BERT-base: 12.
    num_heads (int): Heads per layer, which share the width equally. BERT-base: 12.
        Usual widths of a head are 16 to 64.
    hidden_width (int, optional): Width between the two dense layers of each layer.
        Default: four times `width`.
    norm (str): "pre" normalizes the input of each sublayer, and learns with spaCy's
        usual settings. "post" normalizes the output, as in BERT and HashFormers; the
        learning rate must start near 0 (schedule `warmup_linear.v1`).
    max_length (int): Number of positions with a vector. Longer Docs are read in
        overlapping spans of this length. Time and memory are quadratic in the length
        of a Doc up to `max_length`, and linear beyond.
    stride (int, optional): Distance between the starts of spans, 1 to `max_length`.
        Default: half of `max_length`. A token's output is from the span in which it is
        furthest from the nearest end.
    dropout (float): Share of values dropped in training, 0 to 1, in the input and each
        sublayer. `training.dropout` does not change it.
    attention_dropout (float): Share of attention weights dropped.

    *Input and output:* for each Doc a float32 array of shape `(tokens, width)`.

    Source: Xue and Aletras, "HashFormers" (2022), §4.2 and appendices A and B; Devlin
    et al., "BERT" (2019), and its code. "pre": Xiong et al., "On Layer Normalization in
    the Transformer Architecture" (2020).
    """
    require_torch("spacy-hashembeds.TransformerEncoder.v1")
    check_integers(1, MAX_WIDTH, width=width, num_heads=num_heads)
    check_integers(1, MAX_DEPTH, depth=depth)
    check_integers(1, MAX_ROWS, max_length=max_length)
    if width % num_heads:
        raise ValueError(
            f"'width' should be a multiple of 'num_heads', {num_heads}, but is {width}."
        )
    hidden_width = 4 * width if hidden_width is None else hidden_width
    stride = (max_length + 1) // 2 if stride is None else stride
    check_integers(1, 4 * MAX_WIDTH, hidden_width=hidden_width)
    check_integers(1, max_length, stride=stride)
    check_dropout(dropout)
    check_dropout(attention_dropout, name="attention_dropout")
    # dimensions, not attributes: Thinc refuses weights with other ones
    sizes = {"nO": width, "nI": width, "depth": depth, "num_heads": num_heads}
    sizes |= {"hidden_width": hidden_width, "max_length": max_length}
    rates = {"dropout": dropout or 0.0, "attention_dropout": attention_dropout or 0.0}
    attrs = {"norm": norm, "stride": stride, **rates}
    model: Model = Model("transformer", forward, init=init, dims={**sizes}, attrs=attrs)
    for name in _find_shapes(model):
        model.set_param(name, None)
    return model


def forward(
    model: Model[InT, OutT], Xs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    checks.check_once(model, _check_weights)
    lengths = [len(X) for X in Xs]
    spans = find_spans(lengths, model.get_dim("max_length"), model.attrs["stride"])
    read = partial(encode, model, is_train)
    return run_sequences(model, Xs, is_train, read, spans=spans)


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X:
        model.set_dim("nI", get_width(X[0]))  # checks the width
    for name, shape in _find_shapes(model).items():
        model.set_param(name, _draw(model.ops, name, shape))


def encode(
    model: Model, is_train: bool, params: Params, X: "Tensor", group: Group
) -> "Tensor":
    """Encode padded spans, `(m, longest, nO)`, with dropout as in BERT."""
    from torch.nn import functional

    def multiply(X: "Tensor", name: str) -> "Tensor":
        return functional.linear(X, params[f"W_{name}"], params[f"b_{name}"])

    def normalize(X: "Tensor", name: str) -> "Tensor":
        G, b = params[f"G_{name}"], params[f"b_{name}"]
        return functional.layer_norm(X, G.shape, G, b, EPSILON)

    norm, rate = model.attrs["norm"], model.attrs["dropout"]
    attention = {
        "attn_mask": group.is_token[:, None, None] if group.is_padded else None,
        "dropout_p": model.attrs["attention_dropout"] if is_train else 0.0,
    }
    X = X + params["E_positions"][: X.shape[1]]
    if norm == "post":
        X = normalize(X, NORMS[norm])
    X = functional.dropout(X, rate, is_train)
    for layer in range(1, model.get_dim("depth") + 1):
        for kind in ("attention", "feedforward"):
            name = f"{kind}_{layer}"
            Y = normalize(X, f"{name}_norm") if norm == "pre" else X
            Y = multiply(Y, f"{name}_in")
            if kind == "attention":  # heads: (m, num_heads, longest, nO / num_heads)
                heads = Y.unflatten(2, (3, model.get_dim("num_heads"), -1))
                Q, K, V = heads.permute(2, 0, 3, 1, 4)
                found = functional.scaled_dot_product_attention(Q, K, V, **attention)
                Y = found.transpose(1, 2).flatten(2)
            else:
                Y = functional.gelu(Y)
            X = X + functional.dropout(multiply(Y, f"{name}_out"), rate, is_train)
            if norm == "post":
                X = normalize(X, f"{name}_norm")
    return normalize(X, NORMS[norm]) if norm == "pre" else X


def find_spans(lengths: Sequence[int], max_length: int, stride: int) -> Spans:
    """Find the spans in which sequences are read.

    Spans of a sequence longer than `max_length` start `stride` tokens apart; the last
    ends with the sequence. A token's output is from the first span in which it is
    furthest from the nearest end.
    """
    sizes = np.asarray(lengths, dtype="int64")
    counts = 1 + -(-np.maximum(sizes - max_length, 0) // stride)
    counts[sizes == 0] = 0
    sequences = np.repeat(np.arange(len(sizes)), counts)
    numbers = np.arange(len(sequences)) - np.repeat(np.cumsum(counts) - counts, counts)
    size = sizes[sequences]
    starts = np.minimum(numbers * stride, np.maximum(size - max_length, 0))
    # midpoint between the centers of two spans
    is_first, middles = numbers == 0, 2 * starts + max_length - 1
    borders = (middles + np.roll(middles, 1)) // 4 + 1
    begins = np.where(is_first, 0, borders)
    ends = np.where(np.roll(is_first, -1), size, np.roll(borders, -1))
    offsets = (np.cumsum(sizes) - sizes)[sequences]
    cut = np.minimum(size, max_length)
    return Spans(offsets + starts, cut, begins - starts, ends - starts)


def _find_shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """Find the shapes of positions `E`, matrices `W`, biases `b` and gains `G`.

    `W_attention_1_in` has the queries of all heads, then the keys, then the values.
    """
    norm, width = model.attrs["norm"], model.get_dim("nO")
    hidden = model.get_dim("hidden_width")
    # output width of the first matrix, input width of the second
    sublayers = {"attention": (3 * width, width), "feedforward": (hidden, hidden)}
    shapes: dict[str, tuple[int, ...]] = {
        "E_positions": (model.get_dim("max_length"), width)
    }
    norms = [NORMS[norm]]
    for layer in range(1, model.get_dim("depth") + 1):
        for sublayer, (n_given, n_taken) in sublayers.items():
            name = f"{sublayer}_{layer}"
            shapes |= {f"W_{name}_in": (n_given, width), f"b_{name}_in": (n_given,)}
            shapes |= {f"W_{name}_out": (width, n_taken), f"b_{name}_out": (width,)}
            norms.append(f"{name}_norm")
    return shapes | {f"{kind}_{name}": (width,) for name in norms for kind in "Gb"}


def _draw(ops: Ops, name: str, shape: tuple[int, ...]) -> Any:
    if name.startswith(("b_", "G_")):
        return ops.xp.full(shape, name.startswith("G_"), dtype="float32")
    drawn = ops.xp.random.normal(size=shape)
    while (is_out := abs(drawn) > 2).any():
        drawn[is_out] = ops.xp.random.normal(size=int(is_out.sum()))
    return (STD * drawn).astype("float32")


def _check_weights(model: Model) -> None:
    checks.check_attr_choice(model, "norm", list(NORMS))
    checks.check_integer(model, "stride", 1, model.get_dim("max_length"))
    checks.check_number(model, "dropout", 0, 1)
    checks.check_number(model, "attention_dropout", 0, 1)
    checks.check_params(model, _find_shapes(model))
