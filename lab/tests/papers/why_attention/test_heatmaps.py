import re
from itertools import pairwise

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure

from lab.papers.why_attention.heatmaps import (
    ATTENTION_COMMAND,
    draw_attention,
    read_attention,
)

from .trials import make_attention, write_beside


@pytest.fixture
def drawn(monkeypatch) -> list[Figure]:
    """The figures that were saved, to be looked into."""
    figures = []
    save = Figure.savefig
    monkeypatch.setattr(
        Figure,
        "savefig",
        lambda self, *a, **k: figures.append(self) or save(self, *a, **k),
    )
    return figures


def test_a_panel_shows_what_a_head_attends_to(drawn, tmp_path):
    path = tmp_path / "wnut17/bilstm_char_cnn/att/attention.json"
    write_beside(path, make_attention())
    (picture,) = draw_attention(tmp_path)
    assert picture.png.startswith(b"\x89PNG")
    assert picture.caption == (
        "What each head of Att-BiLSTM-CNN attends to, trained on WNUT 2017 (the "
        "component tok2vec)."
    )
    (figure,) = drawn
    first, second = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["Head 1", "Head 2"]
    for axes in figure.axes:
        for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
            assert [label.get_text() for label in labels] == ["$", "_x_"]
            assert not any(label.get_parse_math() for label in labels)
    (image,) = first.images
    # rows look, from above
    assert image.get_array().tolist() == [[1.0, 0.0], [0.25, 0.75]]
    assert image.origin == "upper"
    # both panels have one scale, on which more is darker
    assert image.get_clim() == second.images[0].get_clim() == (0, 1)
    brightness = image.get_cmap()([0.0, 0.25, 0.75, 1.0])[:, :3].sum(axis=1)
    assert all(lighter > darker for lighter, darker in pairwise(brightness))


def test_each_component_of_each_file_has_a_picture(tmp_path):
    assert draw_attention(tmp_path) == []
    heads = make_attention()["components"][0]["heads"]
    components = [{"name": name, "heads": heads} for name in ("one", "two")]
    data = make_attention(components=components)
    write_beside(tmp_path / "mine/b/c/attention.json", data)
    write_beside(tmp_path / "wnut17/b/c/attention.json", make_attention())
    captions = [picture.caption for picture in draw_attention(tmp_path)]
    assert [caption.split("(")[1] for caption in captions] == [
        "the component one).",
        "the component two).",
        "the component tok2vec).",
    ]
    assert "b c attends to, trained on mine" in captions[0]


def test_long_texts_and_odd_tokens_fit(drawn, tmp_path):
    n = 200
    tokens = ["\n", "x" * 50, "\N{GRINNING FACE}", *"a" * (n - 3)]
    heads = np.full((3, n, n), 1 / n).tolist()
    data = make_attention(tokens=tokens, components=[{"name": "t", "heads": heads}])
    path = write_beside(tmp_path / "a/b/c/attention.json", data)
    (picture,) = draw_attention(tmp_path)
    (figure,) = drawn
    assert figure.get_figwidth() <= 13
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[:2] == [r"'\n'", f"{'x' * 15}…"]
    (tmp_path / "x.png").write_bytes(picture.png)
    assert matplotlib.image.imread(tmp_path / "x.png").shape[1] <= 13 * 150
    assert read_attention(path)[0].tokens == tokens


def test_the_command_writes_where_it_is_read(tmp_path):
    output = ATTENTION_COMMAND.split(" -o ")[1]
    write_beside(tmp_path / output, make_attention())
    assert len(draw_attention(tmp_path / "metrics")) == 1


def make_heads(*rows: object) -> dict[str, object]:
    return make_attention(components=[{"name": "t", "heads": [list(rows)]}])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "'tokens' is None"),
        (make_attention(tokens=[]), "'tokens' should be a list of texts, but is []"),
        (make_attention(tokens=["a", 1]), "'tokens' should be a list of texts"),
        (make_attention(tokens=["a"]), "'heads' should be matrices of 1 by 1 numbers"),
        (make_attention(tokens=["a"] * 201), "there are 201 tokens, and not 1 to 200"),
        (make_attention(components=None), "'components' is None"),
        (make_attention(components=[{"heads": []}]), "'name' is None"),
        (make_attention(components=[{"name": "a", "heads": []}]), "'heads' should be"),
        (
            make_attention(components=[{"name": "a", "heads": [[[1]]] * 65}]),
            "there are 65 heads, more than 64",
        ),
        (make_heads([1, 0]), "'heads' should be"),
        (make_heads([1, 0], [1]), "'heads' should be"),
        (make_heads([1, 0], [0, 1.5]), "'heads' should be"),
        (make_heads([1, 0], [0, -0.5]), "'heads' should be"),
        (make_heads([1, 0], [0, "1"]), "'heads' should be"),
        (make_heads([1, 0], [0, None]), "'heads' should be"),
        # numpy would take it for a number
        (make_heads([1, 0.5], [0, True]), "'heads' should be"),
    ],
)
def test_what_is_no_attention_is_refused(content, message, tmp_path):
    path = write_beside(tmp_path / "a/b/c/attention.json", content)
    message = (
        f"'{path}' should hold what `python -m lab attention` writes, but is "
        f"damaged or of another kind: {message}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        read_attention(path)
    with pytest.raises(ValueError, match="Write it again, or remove it"):
        draw_attention(tmp_path)
