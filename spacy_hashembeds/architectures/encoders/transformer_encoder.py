"""The encoder of BERT, and so of HashFormers (extra: torch)."""

from thinc.api import Model
from thinc.types import Floats2d

from ...checks import MAX_DEPTH, MAX_ROWS, MAX_WIDTH, check_choice, check_dropout
from ...checks import check_integers
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
    require_torch("spacy-hashembeds.TransformerEncoder.v1")
    return Transformer(
        width, depth=depth, num_heads=num_heads,
        hidden_width=4 * width if hidden_width is None else hidden_width,
        norm=norm, max_length=max_length,
        stride=-(-max_length // 2) if stride is None else stride,
        dropout=dropout or 0.0, attention_dropout=attention_dropout or 0.0,
    )
