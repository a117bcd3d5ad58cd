"""Damaged files of other commands beside the results of trials."""

import re

import pytest

from lab.papers.listings import Ablation, Attention, Importance, read_listing
from lab.papers.page import make_page

from ..recorded import write_categories, write_result
from .trials import make_ablation, make_attention, make_importance, write_beside


def make_table(*names: str, **changes: object) -> dict[str, object]:
    return {"tables": [make_importance(*names, **changes)]}


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        (Importance, make_table("a", attr=3), "'tables.0.attr': "),
        (Importance, make_table(), "'tables.0.largest.0.values': "),
        (Ablation, make_ablation(support=-1), "'chunks.O.support': "),
        (Ablation, make_ablation(recall=1.5), "'chunks.O.recall': "),
        (Attention, make_attention(components=[{"name": "t"}]), "'components.0.heads'"),
        (Attention, None, "it should be an object, but is None"),
    ],
)
def test_what_no_command_wrote_is_refused(kind, content, message, tmp_path):
    path = write_beside(tmp_path / kind.NAME, content)
    message = (
        f"'{path}' should hold what `{kind.COMMAND}` writes, but is damaged or of "
        f"another kind: {message}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        read_listing(kind, path)


@pytest.mark.parametrize(
    ("kind", "paper"),
    [
        (Ablation, "why-attention"),
        (Attention, "why-attention"),
        (Importance, "hash-embeddings"),
    ],
)
def test_no_page_is_made_of_damaged_files(kind, paper, tmp_path):
    write_result(tmp_path, "a", "b", "c")
    path = write_categories(tmp_path, "a", "d", "e").with_name(kind.NAME)
    path.write_text("{}")
    with pytest.raises(ValueError, match="Write it again, or remove it"):
        make_page(tmp_path, paper)
