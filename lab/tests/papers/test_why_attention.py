from itertools import pairwise

import matplotlib.image
import numpy as np
import pytest

from lab.papers.heatmaps import show_attention
from lab.papers.listings import Attention, read_listing
from lab.papers.paper import read_paper
from lab.papers.why_attention import make_chunk_table
from lab.trials.results import Estimate

from .trials import fill, get_row, make_ablation, make_attention, write_beside, write_f1

NAME = "why-attention"
PAPER = read_paper(NAME)

#: The columns of tables 3 and 4 that compare an encoder with the baseline.
COLUMNS = [
    ("bilstm_char_cnn", "default", "baseline", "cross"),
    ("bilstm_char_cnn", "att", "baseline", "att"),
    ("bilstm_char_cnn", "floret", "baseline_floret", "floret_cross"),
    ("bilstm_char_cnn", "att_floret", "baseline_floret", "floret_att"),
    ("bilstm_token_ner", "default", "baseline", "hash_cross"),
    ("bilstm_token_ner", "att", "baseline", "hash_att"),
]


@pytest.mark.parametrize(("embedder", "variant", "baseline", "column"), COLUMNS)
def test_changes_are_to_the_baseline_of_the_same_family(
    embedder, variant, baseline, column, tmp_path
):
    parts = [
        {"type": {"group": (f, 5)}, "length": {"4+": (f + 0.25, 6)}}
        for f in (0.5, 0.25)
    ]
    write_f1(tmp_path, "wnut17", f"{embedder}/{variant}", [0.5], parts=parts[0])
    write_f1(tmp_path, "wnut17", f"{embedder}/{baseline}", [0.5], parts=parts[1])
    tables = fill(NAME, tmp_path)
    for number, name, support in ((3, "group", 5), (4, "4+", 6)):
        cells = get_row(tables[str(number)], "WNUT 2017", name)
        found = {key: cell.ours for key, cell in cells.items() if cell.ours}
        change = Estimate(mean=0.25, n=1)
        assert found == {"support": Estimate(mean=support), column: change}


def test_changes_are_averaged_over_the_seeds_that_both_have(tmp_path):
    family = "bilstm_char_cnn"
    for seed, (cross, baseline) in enumerate(zip((0.5, 0.7), (0.4, 0.4), strict=True)):
        for variant, f in (("default", cross), ("baseline", baseline)):
            parts = {"type": {"location": (f, 3)}}
            write_f1(
                *(tmp_path, "wnut17", f"{family}/{variant}", [f]),
                parts=parts,
                first_seed=seed,
            )
    others = {"type": {"location": (0.9, 3)}}
    write_f1(
        *(tmp_path, "wnut17", f"{family}/default", [0.9]), parts=others, first_seed=2
    )
    cells = get_row(fill(NAME, tmp_path)["3"], "WNUT 2017", "location")
    ours = cells["cross"].ours
    assert ours.mean == pytest.approx(0.2)
    assert (ours.deviation, ours.n) == (pytest.approx(0.1), 2)
    # printed is +8.6, without a deviation: ours stands in
    assert cells["cross"].printed == Estimate(mean=0.086)
    assert not cells["cross"].differs


def test_all_types_with_entities_are_there(tmp_path):
    types = {"product": (0.5, 4), "group": (0.5, 3), "wrong": (0.0, 0)}
    trials = "bilstm_token_ner/att"
    write_f1(tmp_path, "wnut17", trials, [0.5], parts={"type": types})
    write_f1(tmp_path, "conll2002_es", trials, [0.5], parts={"type": {"LOC": (0.5, 2)}})
    rows = fill(NAME, tmp_path)["3"].rows
    printed = ["corporation", "creative-work", "location"]
    found = [name for dataset, name in (row.stub for row in rows[5:])]
    assert found == [*sorted([*printed, "group", "product"]), "LOC"]


def test_a_trial_without_scores_by_length_leaves_the_cell_empty(tmp_path):
    types = {"type": {"location": (0.5, 3)}}
    write_f1(tmp_path, "wnut17", "bilstm_char_cnn/att", [0.5], parts=types)
    write_f1(tmp_path, "wnut17", "bilstm_char_cnn/baseline", [0.5], parts=types)
    tables = fill(NAME, tmp_path)
    cells = get_row(tables["3"], "WNUT 2017", "location")
    assert cells["att"].ours == Estimate(mean=0, n=1)
    cells = get_row(tables["4"], "WNUT 2017", "1")
    assert not any(cell.ours for cell in cells.values())
    assert cells["att"].printed == Estimate(mean=0.015)


def test_the_paper_comes_first_as_it_is_printed(tmp_path):
    table = make_chunk_table(PAPER, tmp_path)
    assert [row.stub[2] for row in table.rows] == list("OSBIE")
    assert [column.label for column in table.columns] == [
        *("Tokens", "HC all", "H", "C all", "C1", "C2", "C3", "C4", "C5", "Baseline")
    ]
    for row in table.rows:
        assert not row.has_ours
        printed = [row.cells[column.key].printed for column in table.columns]
        assert printed[0] is None
        assert None not in printed[1:]
    assert table.rows[3].cells["H"].printed.mean == -0.2818


def test_ours_are_changes_of_the_recall_of_the_whole(tmp_path):
    data = make_ablation()
    data["chunks"]["I"].update(support=0, recall=None)
    write_beside(tmp_path / "wnut17/bilstm_char_cnn/att/ablation.json", data)
    write_beside(tmp_path / "a/mine/v/ablation.json", make_ablation(other=None))
    table = make_chunk_table(PAPER, tmp_path)
    mine, ours = table.rows[5:10], table.rows[10:]
    assert [row.stub for row in mine] == [("a, dev", "mine v", tag) for tag in "OSBIE"]
    assert ours[0].stub == ("WNUT 2017, dev", "Att-BiLSTM-CNN", "O")
    found = {key: cell.ours and cell.ours.mean for key, cell in ours[0].cells.items()}
    parts = {"H": 0.25, "C": None, "C1": -0.5}
    more = dict.fromkeys([f"C{i}" for i in range(2, 6)])
    whole = {"support": 7, "whole": 0.5}
    assert found == {**whole, **parts, **more, "other": -0.25}
    assert mine[0].cells["other"].ours is None
    # nothing to find
    found = {key: cell.ours and cell.ours.mean for key, cell in ours[3].cells.items()}
    assert found == {**dict.fromkeys(found), "support": 0}


def test_other_parts_have_columns_of_their_own(tmp_path):
    data = make_ablation(parts={"forward": 0.25, "backward": 0.5})
    write_beside(tmp_path / "a/b/c/ablation.json", data)
    table = make_chunk_table(PAPER, tmp_path)
    labels = [column.label for column in table.columns]
    assert labels[-3:] == ["forward", "backward", "Baseline"]
    assert table.rows[-1].cells["forward"].ours.mean == -0.25
    assert table.rows[0].cells["forward"].printed is None


def test_a_panel_shows_what_a_head_attends_to(drawn, tmp_path):
    path = tmp_path / "wnut17/bilstm_char_cnn/att/attention.json"
    write_beside(path, make_attention())
    (picture,) = show_attention(PAPER, tmp_path)
    assert picture.draw().startswith(b"\x89PNG")
    assert picture.caption == (
        "What each head of Att-BiLSTM-CNN attends to, trained on WNUT 2017 (the "
        "component tok2vec)."
    )
    (figure,) = drawn
    first, second, scale = figure.axes
    assert scale.get_ylabel() == "percent of what a row's token takes"
    assert [axes.get_title() for axes in (first, second)] == ["Head 1", "Head 2"]
    assert [text.get_text() for text in first.texts] == ["100", "0", "25", "75"]
    for axes in (first, second):
        for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
            assert [label.get_text() for label in labels] == ["$", "_x_"]
            assert not any(label.get_parse_math() for label in labels)
    (image,) = first.images
    # rows look, from above
    assert image.get_array().tolist() == [[100, 0], [25, 75]]
    assert image.origin == "upper"
    # both panels have one scale, on which more is darker
    assert image.get_clim() == second.images[0].get_clim() == (0, 100)
    brightness = image.get_cmap()([0.0, 0.25, 0.75, 1.0])[:, :3].sum(axis=1)
    assert all(lighter > darker for lighter, darker in pairwise(brightness))


def test_each_component_of_each_file_has_a_picture(tmp_path):
    assert show_attention(PAPER, tmp_path) == []
    heads = make_attention()["components"][0]["heads"]
    components = [{"name": name, "heads": heads} for name in ("one", "two")]
    data = make_attention(components=components)
    write_beside(tmp_path / "mine/b/c/attention.json", data)
    write_beside(tmp_path / "wnut17/b/c/attention.json", make_attention())
    captions = [picture.caption for picture in show_attention(PAPER, tmp_path)]
    assert [caption.split("(")[1] for caption in captions] == [
        "the component one).",
        "the component two).",
        "the component tok2vec).",
    ]
    assert "b c attends to, trained on mine" in captions[0]


def test_long_texts_and_odd_tokens_fit(drawn, tmp_path):
    n = 200
    tokens = ["\n", "x" * 50, "\N{GRINNING FACE}", *"a" * (n - 3)]
    heads = np.full((1, n, n), 1 / n).tolist()
    data = make_attention(tokens=tokens, components=[{"name": "t", "heads": heads}])
    path = write_beside(tmp_path / "a/b/c/attention.json", data)
    (picture,) = show_attention(PAPER, tmp_path)
    png = picture.draw()
    (figure,) = drawn
    assert figure.get_figwidth() <= 13
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[:2] == [r"'\n'", f"{'x' * 15}…"]
    (tmp_path / "x.png").write_bytes(png)
    assert matplotlib.image.imread(tmp_path / "x.png").shape[1] <= 13 * 150
    assert read_listing(Attention, path).tokens == tokens
