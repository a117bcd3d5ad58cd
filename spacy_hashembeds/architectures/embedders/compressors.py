"""What a `HashFormerEmbed` makes vectors of codes by."""

from typing import Any

from thinc.api import Model
from thinc.types import Floats2d

from ...checks import MAX_ROWS, check_integers
from ...layers import embcompressor, poolcompressor
from ...layers.addcompressor import AddCompressor
from ...layers.projcompressor import ProjCompressor

__all__ = ["AddCompressor", "EmbCompressor", "PoolCompressor", "ProjCompressor"]

Compressor = Model[Any, Floats2d]


def EmbCompressor(*, rows: int) -> Compressor:
    """Give each word a row of a table, which it shares with others.

    rows (int): How many rows there are, the paper's N: 50,000, or 1,000 for as many
        parameters, `rows * width`, as the others have. Up to 2**20 with `LSHHasher`.

    Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
    Transformers" (2022), §3.1 to §3.3.
    """
    check_integers(1, MAX_ROWS, rows=rows)
    return embcompressor.EmbCompressor(rows)


def PoolCompressor(*, num_bits: int = 10) -> Compressor:
    """Cut codes into codewords, and average their vectors by learned weights.

    `(2 ** num_bits + ceil(128 / num_bits)) * width` parameters for codes of 128 bits:
    a vector for each codeword, and for each place the weights that it has there.

    num_bits (int): How many bits a codeword has, the paper's k, 1 to 20. The paper has
        10, thirteen codewords. One more doubles the parameters.

    Source: Xue and Aletras (2022), §3.4, equation 1.
    """
    check_integers(1, poolcompressor.MAX_CODEWORD, num_bits=num_bits)
    return poolcompressor.PoolCompressor(num_bits)
