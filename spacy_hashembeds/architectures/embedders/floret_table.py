"""Tables that floret trained on raw text, to start rows of n-grams from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from spacy.training.initialize import read_vectors

from ...layers.subwords import BEGIN, END, SEED

#: What floret says of hashes and marks, where n-grams have the rows of `Ngrams`.
_MARKS = {"hash_seed": SEED, "bow": BEGIN, "eow": END}


def read_table(path: Path, expected: Mapping[str, int]) -> Any:
    """Read a table that floret saved. *Shape:* `(rows, width)`, float32.

    path (Path): The file, or one compressed as `spacy init vectors` takes it.
    expected (Mapping[str, int]): Its `rows`, `width`, `minn`, `maxn` and `num_hashes`.
    RAISES (ValueError): If it is no such table, or has others of these.
    RAISES (OSError): If the file can't be read.
    """
    try:
        table, numbers, found = read_vectors(path, 0, mode="floret")
        if len(numbers) < len(table):
            raise ValueError(f"{len(numbers)} of {len(table)} rows are there")
        if not np.isfinite(table).all() or not table.any():
            raise ValueError("its rows are no numbers, or zero")
    except (ValueError, IndexError, RuntimeError) as error:
        raise ValueError(
            f"'init' should name a table that floret saved, but '{path}' is none: "
            f"{error or 'it is empty'}."
        ) from error
    rows, width = table.shape
    found |= {"rows": rows, "width": width, "num_hashes": found["hash_count"]}
    wanted: dict[str, Any] = {**expected, **_MARKS}
    different = [
        f"{name} = {found[name]} and not {value}"
        for name, value in wanted.items()
        if found[name] != value
    ]
    if different:
        raise ValueError(
            f"'init' should name a table of the sizes of SubwordEmbed, but '{path}' "
            f"has {', '.join(different)}. Change the layer's, or train it anew."
        )
    return table
