"""What is shown of an acceleration."""

from dataclasses import asdict

import pytest

from spacy_hashembeds.acceleration.accelerate import Acceleration


@pytest.fixture
def done() -> Acceleration:
    return Acceleration(
        converted=["components.<script>.model"],
        left={"components.ner.model": "it has 1 & 2"},
        texts=1234,
        tokens=56_789,
        unchecked=["tagger"],
        max_relative_diff=5.4321e-06,
        words_per_second={"before": 10_000.0, "after": 24_000.0},
        words_per_second_quartiles={
            "before": (9_500.0, 10_200.0),
            "after": (23_000.0, 25_000.0),
        },
        component_times={
            "before": {"tagger": 1.25, "ner": 90.06},
            "after": {"tagger": 1.25, "ner": 30.0},
        },
        disturbances=["Others were busy."],
        kept_precisions=["int8"],
    )


def test_it_prints_what_was_done_and_how_fast_it_is(done):
    lines = str(done).splitlines()
    assert any(line.endswith("Converted components.<script>.model") for line in lines)
    assert any(line.endswith("ner.model as it is: it has 1 & 2") for line in lines)
    assert "Same predictions on 1,234 texts (56,789 tokens)" in str(done)
    text = " ".join(str(done).split())
    said = "Largest difference between vectors: 5.43e-06 of the largest number (up to "
    assert f"{said}1e-05 may be rounding)" in text
    assert "Converted 'tagger' without comparing its vectors: it was never in" in text
    rows = [line.split() for line in lines]
    assert ["Before", "10,000", "9,500..10,200"] in rows
    assert ["After", "24,000", "23,000..25,000"] in rows
    assert ["Ratio", "2.40"] in rows
    bars = "#" * 10 + "." * 20, "#"
    ner, tagger = ["ner", "90.1", "30.0", bars[0]], ["tagger", "1.2", "1.2", bars[1]]
    assert rows.index(ner) < rows.index(tagger)
    assert "The timings were disturbed. Others were busy." in str(done)
    assert "Products of int8 stay so (--precision" in str(done)


def test_a_notebook_shows_it_with_all_text_escaped(done):
    html = done._repr_html_()
    assert "<p>Converted components.&lt;script&gt;.model</p>" in html
    assert "<script" not in html
    assert "it has 1 &amp; 2" in html
    assert '<th class="l">Ratio</th>\n<td class="r">2.40</td>' in html


def test_it_is_data(done):
    assert asdict(done)["words_per_second"] == {"before": 10_000.0, "after": 24_000.0}
    assert repr(done).startswith("Acceleration(converted=['components.<script>.model']")
