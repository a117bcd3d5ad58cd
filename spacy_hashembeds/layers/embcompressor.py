from collections.abc import Callable
from typing import Any

from thinc.api import Model
from thinc.initializers import uniform_init
from thinc.types import Floats2d, Ints2d
from thinc.util import partial

from .params import check_once
from .table import check_table, finish_forward, get_table, init_table

InT = Ints2d
OutT = Floats2d


def EmbCompressor(nV: int) -> Model[InT, OutT]:
    """Map each code, a row of a table `E`, to that row: see `compressors.py`.

    *Input shape:* `(n, 1)`, unsigned integers. *Output shape:* `(n, nO)`, float32.
    """
    return Model(
        "embcompressor",
        forward,
        init=partial(init_table, uniform_init),
        params={"E": None},
        dims={"nO": None, "nV": nV},
        attrs={"dropout_rate": 0.0},
    )


def forward(
    model: Model[InT, OutT], rows: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], Any]]:
    check_once(model, check_table)
    # a copy, as long as rows are integers: nobody gets hold of the table
    output: Any = get_table(model)[rows[:, 0]]
    return finish_forward(model, rows, output, is_train)
