"""Entities of one doc, made by hypothesis."""

import hypothesis.strategies as st

#: The tokens of the doc.
N_TOKENS = 16


@st.composite
def entities(draw) -> list[tuple[str, int, int]]:
    """Up to eight entities of three types, side by side or apart."""
    bounds = sorted(draw(st.lists(st.integers(0, N_TOKENS), max_size=16)))
    pairs = zip(bounds[::2], bounds[1::2], strict=False)
    return [
        (draw(st.sampled_from("XYZ")), start, end)
        for start, end in pairs
        if start < end
    ]
