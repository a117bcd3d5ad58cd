"""docs/speed.md and its charts, made of the results of the benchmarks."""

import json
import shutil
from typing import Any

import pytest

from benchmarks import page
from benchmarks._data import RESULTS
from benchmarks._tables import (
    make_accelerate_table,
    make_caption,
    make_embedding_tables,
    make_growth_tables,
)

TIMING = {
    "us_per_word": 50.0,
    "us_per_word_quartiles": [40.0, 62.5],
    "words_per_second": 20_000.0,
}


def test_the_page_has_the_tables_of_the_results():
    """Else run `python -m benchmarks.page`."""
    text = page.PAGE.read_text(encoding="utf8")
    assert page.fill_page(text, page.read_results()) == text


def test_all_results_have_a_chart():
    for name in page.CHARTS:
        assert (RESULTS / f"{name}.png").is_file()


def test_results_that_are_not_there_are_said_to_be_missing(tmp_path):
    for name in page.CHARTS:
        if name != "growth" and (RESULTS / f"{name}.json").is_file():
            shutil.copy(RESULTS / f"{name}.json", tmp_path)
    results = page.read_results(tmp_path)
    filled = page.fill_page(page.PAGE.read_text(encoding="utf8"), results)
    assert "Not measured yet: `python -m benchmarks.growth` does it." in filled
    assert "MiB more" not in filled


def test_a_page_without_a_place_for_each_table_is_refused():
    text = page.PAGE.read_text(encoding="utf8")
    for damaged in (
        text.replace("<!-- end growth -->", ""),
        text.replace("growth -->", "other -->"),
        text + "<!-- begin growth -->\n<!-- end growth -->",
    ):
        with pytest.raises(ValueError, match="once for each of published, accelerate"):
            page.fill_page(damaged, {})
    with pytest.raises(ValueError, match="but has them for none"):
        page.fill_page("", {})


def test_the_command_draws_charts_and_fills_the_page(tmp_path, capsys):
    shutil.copy(RESULTS / "pipeline.json", tmp_path)
    shutil.copy(page.PAGE, tmp_path / "speed.md")
    page.main(tmp_path / "speed.md", tmp_path)
    assert (tmp_path / "pipeline.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "speed.md").read_text(encoding="utf8")
    assert text == page.fill_page(text, page.read_results(tmp_path))
    assert text.count("Not measured yet: `python") == len(page.PARTS) - 2
    assert "Drew 1 charts" in capsys.readouterr().out


def make_results(**values: Any) -> dict[str, Any]:
    machine = {
        "python": "3.12.1",
        "cpu": "a CPU",
        "load_at_start": 0.1,
        "load_at_end": 1.0,
        "other_cores_busy": 0.02,
    }
    return {"machine": machine, "disturbances": [], **values}


def test_captions_say_what_was_measured_on():
    results = make_results(corpus={"name": "wnut17"}, rows=[5, 2])
    caption = "Python 3.12.1, a CPU; load 0.10 to 1.00, others 0.02 cores"
    assert make_caption(results) == f"wnut17, one thread, {caption}. Rows 5/2."
    disturbed = f"one thread, {caption}: disturbed.\n**Disturbed:** One."
    assert make_caption(make_results(disturbances=["One."])) == disturbed
    results = make_results(disturbances=["One.", "Two.", "Three."])
    assert make_caption(results) == f"{disturbed} (2 more)"


def test_a_table_of_pipelines_before_and_after():
    timings = {
        "contenders": {"stock": TIMING},
        "times_as_fast_as_stock": {"stock": 1.0},
    }
    group = {"title": "A", "width": 96, "depth": 4, **timings, "one_by_one": timings}
    cells = "20,000 (16,000..25,000), **1.00x** | 20,000 (16,000..25,000), **1.00x** |"
    assert make_accelerate_table({"groups": [group, group]}) == (
        "| words a second (quartiles) | A (width 96, depth 4) | A (width 96, depth 4) |"
        "\n| --- | --: | --: |\n"
        f"| stock, `nlp.pipe` | {cells}\n| stock, a text a call | {cells}"
    )


def test_without_torch_its_cells_are_empty():
    results = json.loads((RESULTS / "embedding.json").read_text(encoding="utf8"))
    with_torch = make_embedding_tables(results)
    for row in results["predict"] + results["train"]:
        row["contenders"]["torch_4"] = None
    lines = make_embedding_tables(results).splitlines()
    assert with_torch.splitlines()[2] != lines[2]
    assert lines[2].split(" | ")[3].strip() == ""


def test_a_single_call_has_no_quartiles():
    results = json.loads((RESULTS / "growth.json").read_text(encoding="utf8"))
    for points in results["time"]["points"].values():
        points[0]["us_per_word_quartiles"] = None
        points[1]["us_per_word_quartiles"] = [1.0, 2.0]
    header, _, first, second, *_ = make_growth_tables(results).splitlines()
    assert header.startswith("| words seen | spaCy, 4 hashes, µs a word |")
    assert ".." not in first
    assert second.count("(1.00..2.00)") == 2
