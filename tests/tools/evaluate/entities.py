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


@st.composite
def pairs(draw) -> tuple[list[tuple[str, int, int]], list[tuple[str, int, int]]]:
    """Gold entities, and predicted ones.

    These are drawn by themselves, or by editing the gold ones: else hardly any would be
    right, and next to none a little wrong beside another that is right.
    """
    golds = draw(entities())
    edits = st.lists(st.sampled_from(EDITS), min_size=len(golds), max_size=len(golds))
    edited = edits.map(lambda chosen: edit(golds, chosen))
    return golds, draw(st.one_of(edited, entities()))


#: What becomes of an entity in the prediction.
EDITS = ("found", "of another type", "too long", "too short", "in two parts", "missed")


def edit(golds, edits) -> list[tuple[str, int, int]]:
    predicted = []
    limits = [*(start for _, start, _ in golds[1:]), N_TOKENS]
    for (label, start, end), kind, limit in zip(golds, edits, limits, strict=False):
        if kind == "of another type":
            label = "Z" if label == "X" else "X"
        elif kind == "too long":
            end = min(end + 1, limit)
        elif kind == "too short":
            start = min(start + 1, end - 1)
        elif kind == "in two parts" and end - start > 1:
            predicted.append((label, start, start + 1))
            start += 1
        if kind != "missed":
            predicted.append((label, start, end))
    return predicted
