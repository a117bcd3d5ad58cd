from spacy_hashembeds.tools.display import (
    Message,
    Table,
    render_page,
    show_controls,
    write_plain,
)


def test_control_characters_except_tabs_and_newlines_are_escaped():
    directions = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
    surrogates = (0xD800, 0xDCE9, 0xDFFF)  # of file names that are not UTF-8
    for code in (*range(32), *range(127, 160), *directions, *surrogates):
        expected = chr(code) if chr(code) in "\t\n" else ascii(chr(code))[1:-1]
        assert show_controls(f"a{chr(code)}b") == f"a{expected}b"
    text = "Zürich 東京 \\x1b \u200c \u200f\u061c"
    assert show_controls(text) == text


def test_tables_are_aligned():
    table = Table("Sizes", "Of *a*", ["Name", "n"], [["a|b", 5], ["long", 1000]])
    lines = write_plain([table, Table("Empty", None, ["x"], [])]).splitlines()
    assert lines[-4:] == ["Name     n", "----  ----", "a|b      5", "long  1000"]


def test_output_has_no_control_characters():
    bad = "\x1b[2J\u202e<i>"
    kinds = {"a": "divider", "b": "text", "c": "warn"}
    parts = [Message(f"{text}{bad}", kind) for text, kind in kinds.items()]
    parts.append(Table(f"d{bad}", f"e{bad}", ["", f"f{bad}"], [[f"g{bad}", f"h{bad}"]]))
    page = render_page(parts)
    assert "<i>" not in page
    for shown in (write_plain(parts), page):
        assert "\x1b[2J" not in shown
        assert "\u202e" not in shown
        for letter in "abcdefgh":
            assert f"{letter}\\x1b[2J\\u202e".casefold() in shown.casefold()
