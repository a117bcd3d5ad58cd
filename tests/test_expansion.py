"""Configs whose variables stand for more than anybody could write out."""

import pytest
from spacy.util import load_config_from_str

from spacy_hashembeds.analysis.pipelines import load_pipeline
from spacy_hashembeds.configuration.base import read_base
from spacy_hashembeds.loading import (
    MAX_VALUES,
    ExpansionError,
    check_variables,
    load_config,
    load_trained,
)
from tests.configs import CONFIGS

PIPELINE = '[paths]\n[nlp]\nlang = "en"\npipeline = []\n[components]\n[training]\n'

# Few enough levels for a test that fails to come to an end.
N_LEVELS = 5


def nest_values(n_levels):
    """Write a line for each level, which names the line above ten times."""
    lines = (f"a{i} = " + f"${{x.a{i - 1}}}" * 10 for i in range(1, n_levels + 1))
    return "\n".join(["[x]", 'a0 = "b"', *lines, ""])


def nest_sections(n_levels):
    sections = ["[x]", "[x.a0]", "b = 1"]
    for i in range(1, n_levels + 1):
        sections += [f"[x.a{i}]", *(f"k{j} = ${{x.a{i - 1}}}" for j in range(10))]
    return "\n".join([*sections, ""])


def read(text):
    return load_config_from_str(text)


@pytest.mark.parametrize("n_levels", [4, 10, 50])
@pytest.mark.parametrize("nest", [nest_values, nest_sections])
def test_what_hardly_has_an_end_is_refused_at_once(nest, n_levels):
    match = rf"variables stand for more than 5,000 values.* at \[x.*\ba?{n_levels}\b"
    with pytest.raises(ValueError, match=match):
        check_variables(read(nest(n_levels)))


def test_values_are_counted_whenever_they_are_named():
    """A section of 49 values counts as 50, and what names it is there anyway."""
    lines = [f"v{i} = {i}" for i in range(49)]
    for n_names, is_refused in ((100, False), (101, True)):
        names = [f"n{i} = ${{s}}" for i in range(n_names)]
        config = read("\n".join(["[s]", *lines, "[x]", *names]))
        assert 50 * n_names - MAX_VALUES == 50 * is_refused
        if is_refused:
            with pytest.raises(ValueError, match=r"its variables stand for more than"):
                check_variables(config)
        else:
            check_variables(config)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"a{i} = {i}" for i in range(2 * MAX_VALUES)),  # no variables
        "x = ${x}",  # the section of this name
        "a = $${y.a}",  # no variable
        'a = ["${x.b}", "${x.b}"]\nb = "c"',
        "a = ${no.where}",  # is spaCy's to refuse
        "a = ${b}\nb = 1",
        "a = ${x:b}\nb = 1",
    ],
)
def test_what_has_an_end_is_left_to_spacy(text):
    check_variables(read(f"[x]\n[y]\n{text}\n"))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[x]\na = ${x.a}\n", r"\[x\] a"),
        ("[x]\na = ${b}\nb = ${a}\n", r"\[x\] [ab]"),
        ("[x]\na = ${x:b}\nb = [1, ${x.a}]\n", r"\[x\] [ab]"),
        ("[x]\na = ${x}\n", r"\[x\] a"),
        ("[x]\n[x.y]\na = ${x}\n", r"\[x.y\] a"),
        ("[x]\na = ${y}\n[y]\nb = ${x}\n", r"\[[xy]\] [ab]"),
    ],
)
def test_what_has_no_end_is_refused(text, place):
    match = f"the variable at {place} stands for something that it stands in itself"
    with pytest.raises(ValueError, match=match):
        check_variables(read(text))


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.cfg")), ids=lambda p: p.stem)
def test_our_configs_are_taken(path):
    assert load_config(path).interpolate()


# Wherever configs are read


def make_folder(folder, text):
    (folder / "config.cfg").write_text(PIPELINE + text, encoding="utf8")
    (folder / "meta.json").write_text("{}")


READERS = {
    "config": lambda folder: read_base(folder / "config.cfg"),
    "analyze": lambda folder: load_pipeline(
        config=folder / "config.cfg", model=None, overrides={}
    ),
    "analyze_dict": lambda folder: load_pipeline(
        config=read((folder / "config.cfg").read_text()), model=None, overrides={}
    ),
    "accelerate": load_trained,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("nest", [nest_values, nest_sections])
def test_whoever_reads_a_config_refuses_such_ones(tmp_path, nest, reader):
    make_folder(tmp_path, nest(N_LEVELS))
    with pytest.raises(ValueError, match=r"variables stand for more than 5,000 values"):
        READERS[reader](tmp_path)


def test_a_pipeline_with_such_a_config_is_not_called_damaged(tmp_path):
    make_folder(tmp_path, nest_values(N_LEVELS))
    match = f"^'{tmp_path / 'config.cfg'}' should be a spaCy config, but its variables"
    with pytest.raises(ValueError, match=match):
        load_trained(tmp_path)


def test_long_texts_count_as_many_values():
    lines = "\n".join(f"k{i} = ${{x.a}}" for i in range(100))
    check_variables(read(f'[x]\na = "{"b" * 40_000}"\n{lines}\n'))
    with pytest.raises(ExpansionError, match="more than 5,000 values"):
        check_variables(read(f'[x]\na = "{"b" * 60_000}"\n{lines}\n'))


def test_variables_that_do_not_end_are_read_in_one_pass():
    check_variables({"x": {"a": "${" * 2_000_000}})
