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

    That of BERT, on which HashFormers stand, over the embeddings of any embedder. With
    `norm = "post"` it is BERT's down to its initialisation, but for special tokens and
    vectors that are added to all tokens alike.

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
