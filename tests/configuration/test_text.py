"""Configs edited line by line: all that does not change stays, comments too."""

import pytest
from spacy.util import load_config_from_str

from spacy_hashembeds.configuration.text import edit_text

TEXT = """\
# A config of mine.

[paths]
train =  null

; why this corpus
[nlp]
lang = "en"
# in this order
pipeline = [
    "tok2vec",
    # the one that counts
    "ner"
    ]
after = null

[nlp.tokenizer]
@tokenizers = "spacy.Tokenizer.v1"

[training]
scores = {"a": 1.0, "b": {"c": 2}}
width: 96
"""


def edit(change, comments=None, text=TEXT):
    """Edit a text as a function changes what it says."""
    old = load_config_from_str(text)
    new = load_config_from_str(text)
    change(new)
    edited = edit_text(text, old, new, comments or {})
    assert load_config_from_str(edited) == new
    return edited


def replace(*pairs, text=TEXT):
    for old, new in pairs:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def test_what_does_not_change_stays_to_the_letter():
    assert edit(lambda config: None) == TEXT


def test_a_value_is_replaced_where_it_stands_with_a_comment_above_it():
    def change(config):
        config["paths"]["train"] = "Zürich/train.spacy"
        config["training"]["width"] = 64

    comments = {
        ("paths", "train"): "because",
        ("nlp", "lang"): "not written, since nothing changes",
    }
    assert edit(change, comments) == replace(
        (
            "train =  null",
            '# spacy-hashembeds: because\ntrain = "Zürich/train.spacy"',
        ),
        ("width: 96", "width = 64"),
    )


@pytest.mark.parametrize("indent", ["    ", "\t"])
def test_a_value_of_many_lines_is_replaced_whole(indent):
    def change(config):
        config["nlp"]["pipeline"] = ["ner"]

    text = TEXT.replace("    ", indent)

    start, end = text.index("pipeline = ["), text.index("after = null")
    expected = f'{text[:start]}pipeline = ["ner"]\n{text[end:]}'
    assert edit(change, text=text) == expected


def test_a_new_value_follows_those_that_precede_it():
    def change(config):
        nlp = config["nlp"]
        config["nlp"] = {"size": 1, "lang": nlp.pop("lang"), "mode": 2, **nlp}
        config["nlp"]["last"] = "${paths.train}"

    assert edit(change) == replace(
        ('[nlp]\nlang = "en"\n', '[nlp]\nsize = 1\nlang = "en"\nmode = 2\n'),
        ("after = null\n", "after = null\nlast = ${paths.train}\n"),
    )


def test_a_section_takes_the_place_of_a_value():
    def change(config):
        config["nlp"]["after"] = {"@callbacks": "f.v1", "inner": {"x": [1, 2]}}

    comments = {("nlp.after", None): "faster", ("nlp.after.inner", "x"): "both"}
    block = (
        '\n\n# spacy-hashembeds: faster\n[nlp.after]\n@callbacks = "f.v1"\n\n'
        "[nlp.after.inner]\n# spacy-hashembeds: both\nx = [1, 2]\n\n[training]"
    )
    assert edit(change, comments) == replace(
        ("after = null\n", ""), ("\n\n[training]", block)
    )


def test_sections_on_one_line_are_written_out_whole():
    def change(config):
        config["training"]["scores"]["b"]["c"] = 3

    assert edit(change, {("training.scores.b", "c"): "more"}) == replace(
        ('scores = {"a": 1.0, "b": {"c": 2}}\n', ""),
        (
            "width: 96\n",
            "width: 96\n\n[training.scores]\na = 1.0\n\n"
            "[training.scores.b]\n# spacy-hashembeds: more\nc = 3\n",
        ),
    )


def test_a_section_that_goes_takes_the_comments_above_it_along():
    def change(config):
        config["nlp"]["tokenizer"] = None

    text = TEXT.replace("[nlp.tok", "# spacy-hashembeds: why\n[nlp.tok")
    assert edit(change, {("nlp", "tokenizer"): "gone"}, text) == replace(
        ('[nlp.tokenizer]\n@tokenizers = "spacy.Tokenizer.v1"\n\n', ""),
        ("[nlp]\n", "[nlp]\n# spacy-hashembeds: gone\ntokenizer = null\n"),
    )


def test_a_section_on_one_line_goes():
    def change(config):
        del config["training"]["scores"]

    assert edit(change) == replace(('scores = {"a": 1.0, "b": {"c": 2}}\n', ""))


def test_sections_above_all_are_added_at_the_end():
    def change(config):
        config["initialize"] = {"vectors": "a$$b", "before_init": {"n": True}}

    assert edit(change) == (
        f'{TEXT}\n[initialize]\nvectors = "a$$b"\n\n'
        "[initialize.before_init]\nn = true\n"
    )


def test_our_own_comments_are_replaced_and_no_others():
    def change(number):
        return lambda config: config["training"].update(width=number)

    text = replace(("width: 96", "# mine\nwidth: 96"))
    long = "word " * 40
    once = edit(change(1), {("training", "width"): long}, text)
    assert once.count("word") == 40
    assert max(map(len, once.splitlines())) <= 88
    twice = edit(change(2), {("training", "width"): "short"}, once)
    assert twice == replace(
        ("width: 96", "# mine\n# spacy-hashembeds: short\nwidth = 2")
    )


@pytest.mark.parametrize("character", "\u2028 \u2029 \x85 \x0b \x0c \x1c".split(" "))
def test_lines_end_where_they_do_for_spacy(character):
    text = replace(
        ("# A config of mine.", f"# page{character}[nlp]"),
        ("; why this", f"; why{character}[training.more]\n; this"),
        ("after = null", f'after = ["A{character}B"]'),
    )

    def change(config):
        config["paths"]["train"] = f"x{character}y"

    expected = edit(change, text=text)
    assert text.split("\n")[5:] == expected.split("\n")[5:]
    assert len(text.split("\n")) == len(expected.split("\n"))


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("\ntrain =", "\n  train ="),
        # what is not found is written once more
        "\n".join(f"  {line}" for line in TEXT.split("\n")),
    ],
)
def test_a_layout_that_can_not_be_edited_is_refused(text):
    def change(config):
        config["paths"]["train"] = "x"
        config["training"]["more"] = {"a": 1}

    with pytest.raises(ValueError, match="written anew with `spacy init fill-config`"):
        edit(change, text=text)
