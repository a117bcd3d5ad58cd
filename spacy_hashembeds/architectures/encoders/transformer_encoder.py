"""The encoder of BERT and of HashFormers (extra: torch)."""

from thinc.api import Model
from thinc.types import Floats2d

from ...checks import (
    MAX_DEPTH,
    MAX_ROWS,
    MAX_WIDTH,
    check_choice,
    check_dropout,
    check_integers,
)
from ...layers.torchlayer import require_torch
from ...layers.transformer import NORMS, Transformer


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
) -> Model[list[Floats2d], list[Floats2d]]:
    """Encode context with a Transformer: each token looks at all others of its Doc.

    With `norm = "post"` it is BERT's down to its initialisation, but for special tokens
    and vectors that are added to all tokens alike. How to train it: docs/reference.md.

    width (int): The width of input and output: that of the embedder. BERT-base has 768.
    depth (int): The layers, 1 to 100. BERT-base has 12.
    num_heads (int): The heads of each layer, with equal parts of the width: 16 to 64.
    hidden_width (int, optional): The width between the two dense layers of each layer:
        four times `width` by default.
    norm (str): "pre" normalises what each sublayer reads; "post" what it leaves, as
        BERT does, and has to begin with a learning rate near 0.
    max_length (int): Positions that have a vector. Docs with more tokens are read in
        overlapping spans of so many.
    stride (int, optional): From the start of a span to that of the next, 1 to
        `max_length`; half of that by default.
    dropout (float): The share of numbers dropped in training, 0 to 1, from embeddings
        and from what each sublayer finds. `training.dropout` does not change it.
    attention_dropout (float): The share of attention weights, likewise.

    *Input and output:* for each Doc a float32 array of shape `(tokens, width)`.
    RAISES (ImportError): If there is no PyTorch.

    Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
    Transformers" (2022), §4.2 and appendices A and B; Devlin et al., "BERT:
    Pre-training of Deep Bidirectional Transformers for Language Understanding" (2019).
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
    return Transformer(
        width,
        depth=depth,
        num_heads=num_heads,
        hidden_width=hidden_width,
        norm=norm,
        max_length=max_length,
        stride=stride,
        dropout=dropout or 0.0,
        attention_dropout=attention_dropout or 0.0,
    )
