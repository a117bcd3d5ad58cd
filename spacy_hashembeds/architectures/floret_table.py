"""Tables that floret trained on raw text, to start rows of n-grams from."""

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from spacy.training.initialize import open_file, read_vectors

from ..files import quote
from ..layers.subwords import BEGIN, END, SEED, Ngrams


def read_table(path: Path, ngrams: Ngrams, width: int) -> Any:
    """Read a table that floret saved, its numbers scaled to a deviation of 1.

    *Shape:* `(rows, width)`, float32.

    path (Path): The file, or one compressed as `spacy init vectors` takes it.
    RAISES (ValueError): If it is no such table, or has other sizes, hashes or marks.
    RAISES (OSError): If the file can't be read.
    """
    sizes: dict[str, Any] = {
        **{"rows": ngrams.rows, "width": width, "minn": ngrams.minn},
        **{"maxn": ngrams.maxn, "num_hashes": ngrams.num_hashes},
        **{"seed": SEED, "begin": BEGIN, "end": END},
    }
    try:
        with closing(open_file(path)) as lines:
            header = next(lines).split()
        if len(header) != len(sizes):
            raise ValueError(f"its first line has no {len(sizes)} fields")
        found = dict(zip(sizes, header, strict=True))
        different = [
            f"{name} = {_show(found[name])} and not {value}"
            for name, value in sizes.items()
            if found[name] != str(value)
        ]
        if different:  # before room is made for what may be huge
            raise ValueError(f"it has {', '.join(different)}")
        try:
            table, keys, _ = read_vectors(path, 0, mode="floret")
        except IndexError:
            raise ValueError("it has more rows than its first line says") from None
        if keys != [str(i) for i in range(len(table))]:
            raise ValueError("its rows are not all there, one after the other")
        deviation = table.std(dtype="float64")
        scaled = (table / deviation).astype("float32") if deviation > 0 else table
        if not deviation > 0 or not np.isfinite(scaled).all():
            raise ValueError("its rows are no numbers, or all alike")
    except OSError:
        raise
    except Exception as error:  # of many readers
        raise ValueError(
            "'init' should name a table that floret saved, of the sizes of "
            f"SubwordEmbed, but '{path}' is none: {str(error) or 'it is cut off'}."
        ) from error
    return scaled


def _show(field: str) -> str:
    return field if field.isascii() and len(field) <= 20 else quote(field)
