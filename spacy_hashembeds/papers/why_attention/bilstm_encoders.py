"""The three encoders of "Why Attention?" (extra: torch)."""

from thinc.api import Model, chain
from thinc.types import Floats2d

from ...arguments import MAX_DEPTH, MAX_WIDTH, check_dropout, check_integers
from ...layers.torchlayer import require_torch
from .bilstm import BiLSTM
from .selfattention import SelfAttention

Encoder = Model[list[Floats2d], list[Floats2d]]


def BiLSTMEncoder(*, width: int, depth: int = 2, dropout: float = 0.35) -> Encoder:
    """Encode context with LSTMs from either end that know nothing of each other.

    The baseline of the paper: patterns that take both sides of a token at once are
    beyond it (the "XOR limitation"), unlike `CrossBiLSTMEncoder`, `AttBiLSTMEncoder`
    and `spacy.TorchBiLSTMEncoder.v1`, which is crossed.

    width (int): The width of the output, an even number: half of it is of each
        direction. The paper has 200.
    depth (int): The LSTMs of each direction, on top of each other, 1 to 100. The paper
        has 2.
    dropout (float): The share of dimensions that are dropped in training, 0 to 1, of
        what each LSTM reads and of the output, the same ones for all tokens of a Doc.
        The paper has 0.35, of hidden states too. `training.dropout` changes nothing.

    *Input and output:* for each Doc a float32 array of shape `(tokens, nI)` and
    `(tokens, width)`.

    Source: Li, Fu and Ma, "Why Attention? Analyze BiLSTM Deficiency and Its Remedies in
    the Case of NER" (2020), §3.2.
    """
    return _build("BiLSTMEncoder", width, depth, dropout, is_crossed=False)


def CrossBiLSTMEncoder(*, width: int, depth: int = 2, dropout: float = 0.35) -> Encoder:
    """Encode context with LSTMs from either end that read each other's findings.

    Each LSTM above the first layer reads what both directions below have found: with a
    `depth` of 2 or more, any pattern of both sides of a token can be learned. All else
    is as for `BiLSTMEncoder`; source: §3.5.
    """
    return _build("CrossBiLSTMEncoder", width, depth, dropout, is_crossed=True)


def AttBiLSTMEncoder(
    *, width: int, depth: int = 2, num_heads: int = 5, dropout: float = 0.35
) -> Encoder:
    """Encode context with LSTMs from either end, and self-attention on top.

    The first half of the output is what `BiLSTMEncoder` finds, the second what the
    heads take of it from all tokens of the Doc. Time and memory for the latter grow
    with the square of a Doc's length.

    width (int): The width of the output, a multiple of 4 and of `2 * num_heads`. The
        paper has 400.
    num_heads (int): The heads, which have equal parts of the second half.

    All else is as for `BiLSTMEncoder`. Attention weights are not dropped. Source: §3.6,
    which prints `d_p / 5` for the width of a head: only `d_h / 5` fits its matrices.
    """
    check_integers(1, MAX_WIDTH, width=width, num_heads=num_heads)
    unit = 2 * num_heads
    if width % 4 or width % unit:
        raise ValueError(
            f"'width' should be a multiple of 4 and of 2 * num_heads ({unit}), but is "
            f"{width}: half of it is of the LSTMs, and half of the heads."
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
            f"'width' should be even, but is {width}: half of it is of each direction."
        )
    return BiLSTM(width, depth=depth, is_crossed=is_crossed, dropout=dropout or 0.0)
