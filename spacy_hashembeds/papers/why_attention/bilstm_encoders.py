"""The three encoders of "Why Attention?" (extra: torch)."""

from thinc.api import Model, chain
from thinc.types import Floats2d

from ...arguments import MAX_DEPTH, MAX_WIDTH, check_dropout, check_integers
from ...layers.torchlayer import require_torch
from .bilstm import BiLSTM
from .selfattention import SelfAttention

Encoder = Model[list[Floats2d], list[Floats2d]]


def BiLSTMEncoder(*, width: int, depth: int = 2, dropout: float = 0.35) -> Encoder:
    """Encode context with independent LSTMs in both directions.

    The baseline of the paper: patterns that depend on both sides of a token at once
    can't be learned (the "XOR limitation"), unlike with `CrossBiLSTMEncoder`,
    `AttBiLSTMEncoder` and `spacy.TorchBiLSTMEncoder.v1`, which is crossed.

    width (int): Width of the output, an even number: half per direction. Paper: 200.
    depth (int): Number of stacked LSTMs per direction, 1 to 100. Paper: 2.
    dropout (float): Share of dimensions of each LSTM's input and output dropped in
        training, 0 to 1, equal for all tokens of a Doc. Paper: 0.35, also for hidden
        states. `training.dropout` does not change it.

    *Input and output:* for each Doc a float32 array of shape `(tokens, nI)` and
    `(tokens, width)`.

    Source: Li, Fu and Ma, "Why Attention? Analyze BiLSTM Deficiency and Its Remedies in
    the Case of NER" (2020), §3.2.
    """
    return _build("BiLSTMEncoder", width, depth, dropout, is_crossed=False)


def CrossBiLSTMEncoder(*, width: int, depth: int = 2, dropout: float = 0.35) -> Encoder:
    """Encode context with LSTMs in both directions that read each other's output.

    LSTMs above the first layer read the output of both directions below. With a `depth`
    of 2 or more, patterns of both sides of a token can be learned. Others: See
    `BiLSTMEncoder`. Source: §3.5.
    """
    return _build("CrossBiLSTMEncoder", width, depth, dropout, is_crossed=True)


def AttBiLSTMEncoder(
    *, width: int, depth: int = 2, num_heads: int = 5, dropout: float = 0.35
) -> Encoder:
    """Encode context with LSTMs in both directions, and self-attention on top.

    The first half of the output is `BiLSTMEncoder`'s, the second half attention over
    all tokens of the Doc, whose time and memory are quadratic in the length of a Doc.

    width (int): Width of the output, a multiple of 4 and `2 * num_heads`. Paper: 400.
    num_heads (int): Number of heads, which share the second half equally. Paper: 5.

    Attention weights are not dropped. Others: See `BiLSTMEncoder`.
    Source: §3.6, with `d_h / 5` as the width of a head (printed: `d_p / 5`).
    """
    check_integers(1, MAX_WIDTH, width=width, num_heads=num_heads)
    unit = 2 * num_heads
    if width % 4 or width % unit:
        raise ValueError(
            f"'width' should be a multiple of 4 and of 2 * num_heads ({unit}), but is "
            f"{width}: one half is for the LSTMs, the other for the heads."
        )
    lstms = _build("AttBiLSTMEncoder", width // 2, depth, dropout, is_crossed=False)
    attention = SelfAttention(width, width // 2, num_heads=num_heads)
    return chain(lstms, attention)


def _build(
    name: str, width: int, depth: int, dropout: float, *, is_crossed: bool
) -> Encoder:
    require_torch(f"spacy-hashembeds.{name}.v1")
    check_integers(2, MAX_WIDTH, width=width)
    check_integers(1, MAX_DEPTH, depth=depth)
    check_dropout(dropout)
    if width % 2:
        raise ValueError(
            f"'width' should be even, but is {width}: half of it is for each direction."
        )
    return BiLSTM(width, depth=depth, is_crossed=is_crossed, dropout=dropout or 0.0)
