"""Configs whose variables stand for something that they stand in themselves."""

import pytest
from spacy.util import load_config_from_str

from spacy_hashembeds.analysis.pipelines import load_pipeline
from spacy_hashembeds.configuration.base import read_base
from spacy_hashembeds.loading import check_variables, load_trained

PIPELINE = '[paths]\n[nlp]\nlang = "en"\npipeline = []\n[components]\n[training]\n'


def laugh(first: str, more: str) -> str:
    """Billion laughs: each section stands for the one before, twice."""
    sections = [first, *(more.format(f"v{i}") for i in range(60))]
    return "\n".join(f"[v{i}]\n{section}" for i, section in enumerate(sections))


# Values and sections, and what is said of each.
ENDLESS = [
    (laugh("x = 1", "a = ${{{0}}}\nb = ${{{0}}}"), "holds more than 100,000 values"),
    (laugh('x = "1"', "x = ${{{0}.x}}${{{0}.x}}"), "holds more than 100,000 values"),
    ("[x]\na = ${b}\nb = ${a}\n", "Recursion limit exceeded"),
    ("[x]\na = ${y}\n[y]\nb = ${x}\n", "a variable puts a section into itself"),
]


@pytest.mark.parametrize(
    "text",
    [
        "a = $${y.a}",  # no variable
        'a = ["${x.b}", "${x.b}"]\nb = "c"',
        "a = ${no.where}",  # is spaCy's to refuse
        "a = ${b}\nb = 1",
        "a = ${x:b}\nb = 1",
    ],
)
def test_what_has_an_end_is_left_to_spacy(text):
    check_variables(load_config_from_str(f"[x]\n[y]\n{text}\n"))


# Wherever configs are read


READERS = {
    "config": lambda folder: read_base(folder / "config.cfg"),
    "analyze": lambda folder: load_pipeline(
        config=folder / "config.cfg", model=None, overrides={}
    ),
    "analyze_dict": lambda folder: load_pipeline(
        config=load_config_from_str((folder / "config.cfg").read_text()),
        model=None,
        overrides={},
    ),
    "accelerate": load_trained,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("text", "message"), ENDLESS)
def test_whoever_reads_a_config_refuses_such_ones(tmp_path, text, message, reader):
    (tmp_path / "config.cfg").write_text(PIPELINE + text, encoding="utf8")
    (tmp_path / "meta.json").write_text("{}")
    with pytest.raises(ValueError, match=message):
        READERS[reader](tmp_path)
