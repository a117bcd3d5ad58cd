import re

import pytest

from lab.papers.why_attention.chunking import (
    ABLATION_COMMAND,
    make_chunk_table,
    read_ablation,
)

from .trials import make_ablation, write_beside


def test_the_paper_comes_first_as_it_is_printed(tmp_path):
    table = make_chunk_table(tmp_path)
    assert [row.stub[2] for row in table.rows] == list("OSBIE")
    assert [column.label for column in table.columns] == [
        *("Tokens", "HC all", "H", "C all", "C1", "C2", "C3", "C4", "C5", "Baseline")
    ]
    for row in table.rows:
        assert not row.has_ours
        printed = [row.cells[column.key].printed for column in table.columns]
        assert printed[0] is None
        assert None not in printed[1:]
    assert table.rows[3].cells["part H"].printed.mean == -0.2818


def test_ours_are_changes_of_the_recall_of_the_whole(tmp_path):
    data = make_ablation()
    data["chunks"]["I"].update(support=0, recall=None)
    write_beside(tmp_path / "wnut17/bilstm_char_cnn/att/ablation.json", data)
    write_beside(tmp_path / "a/mine/v/ablation.json", make_ablation(other=None))
    table = make_chunk_table(tmp_path)
    mine, ours = table.rows[5:10], table.rows[10:]
    assert [row.stub for row in mine] == [("a, dev", "mine v", tag) for tag in "OSBIE"]
    assert ours[0].stub == ("WNUT 2017, dev", "Att-BiLSTM-CNN", "O")
    found = {key: cell.ours and cell.ours.mean for key, cell in ours[0].cells.items()}
    parts = {"part H": 0.25, "part C": None, "part C1": -0.5}
    more = dict.fromkeys([f"part C{i}" for i in range(2, 6)])
    whole = {"support": 7, "whole": 0.5}
    assert found == {**whole, **parts, **more, "other": -0.25}
    assert mine[0].cells["other"].ours is None
    # nothing to find
    found = {key: cell.ours and cell.ours.mean for key, cell in ours[3].cells.items()}
    assert found == {**dict.fromkeys(found), "support": 0}


def test_other_parts_have_columns_of_their_own(tmp_path):
    data = make_ablation(parts={"forward": 0.25, "backward": 0.5})
    data["setting"]["parts"] = ["forward", "backward"]
    write_beside(tmp_path / "a/b/c/ablation.json", data)
    table = make_chunk_table(tmp_path)
    labels = [column.label for column in table.columns]
    assert labels[-3:] == ["forward", "backward", "Baseline"]
    assert table.rows[-1].cells["part forward"].ours.mean == -0.25
    assert table.rows[0].cells["part forward"].printed is None


def test_the_command_writes_where_it_is_read(tmp_path):
    output = ABLATION_COMMAND.split(" -o ")[1]
    write_beside(tmp_path / output, make_ablation())
    assert len(make_chunk_table(tmp_path / "metrics").rows) == 10


def test_names_of_parts_are_not_quoted_at_length(tmp_path):
    data = make_ablation()
    data["setting"]["parts"] = ["x" * 10**6]
    path = write_beside(tmp_path / "ablation.json", data)
    with pytest.raises(ValueError, match=r"'xxx.*' is not there") as error:
        read_ablation(path)
    assert len(str(error.value)) < 500 + len(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "'setting' is None"),
        ({**make_ablation(), "chunks": None}, "'chunks' is None"),
        # an evaluation without --ablation
        ({**make_ablation(), "setting": {"parts": []}}, "'parts' should be names of"),
        ({**make_ablation(), "setting": {"parts": [1]}}, "'parts' should be names of"),
        ({**make_ablation(), "chunks": {"O": {}}}, "'support' is None"),
        (make_ablation(support=-1), "'support' is -1"),
        (make_ablation(support=True), "'support' is True"),
        (make_ablation(recall=1.5), "'recall' is 1.5"),
        (make_ablation(other="0.5"), "'other' is '0.5'"),
        (make_ablation(parts={"H": 0.5, "C": 0.5}), "'C1' is not there"),
        (make_ablation(parts={"H": -0.5}), "'H' is -0.5"),
    ],
)
def test_what_is_no_ablation_is_refused(content, message, tmp_path):
    path = write_beside(tmp_path / "a/b/c/ablation.json", content)
    message = (
        f"'{path}' should hold what `spacy hashembeds evaluate --ablation` writes, but "
        f"is damaged or of another kind: {message}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        read_ablation(path)
    with pytest.raises(ValueError, match="Write it again, or remove it"):
        make_chunk_table(tmp_path)
