"""Figures as pages show them, drawn with matplotlib (extra: report)."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any


def render_png(figure: Any) -> bytes:
    """Render a figure for a page, as a PNG file."""
    file = BytesIO()
    with ignoring_missing_glyphs():
        figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
    return file.getvalue()


@contextmanager
def ignoring_missing_glyphs() -> Iterator[None]:
    """Let a box stand for what the font lacks: emoji, for one."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
