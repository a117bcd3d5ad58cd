import os
import threading
import tracemalloc
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest
from seqeval.metrics.sequence_labeling import get_entities
from spacy.vocab import Vocab

from spacy_hashembeds.corpora import columns
from spacy_hashembeds.corpora.columns import (
    ColumnFormat,
    Sentence,
    make_doc,
    read_documents,
)
from spacy_hashembeds.corpora.joined import get_document

PLAIN = ColumnFormat()


def read(path: Path, layout: ColumnFormat = PLAIN) -> list[list[Sentence]]:
    return list(read_documents(path, layout))


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "corpus.iob"


# What the tags mean


@pytest.mark.parametrize("ends", ["ES", "LU"])
def test_spans_are_those_of_conlleval(ends):
    """All tags of up to three tokens, as sentences of one Doc."""
    names = ["O", *(f"{prefix}-{x}" for prefix in "BIES" for x in ("LOC", "E"))]
    sentences = [tags for n in range(1, 4) for tags in product(names, repeat=n)]
    biluo = str.maketrans("ES", ends)
    document = []
    for tags in sentences:
        written = [tag[0].translate(biluo) + tag[1:] for tag in tags]
        document.append(Sentence(["word"] * len(tags), written))
    expected: list[tuple[int, int, str]] = []
    start = 0
    for tags in sentences:
        expected += [(start + a, start + b + 1, x) for x, a, b in get_entities([*tags])]
        start += len(tags)
    ents = make_doc(Vocab(), document).ents
    assert [(ent.start, ent.end, ent.label_) for ent in ents] == expected


# How files are laid out

TWO = [
    [Sentence(["Zoë", "slept"], ["B-PER", "O"])],
    [Sentence(["Yes"], ["O"])],
]
TEXT = "Zoë B-PER\nslept O\n\nYes O\n"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(TEXT.encode(), id="plain"),
        pytest.param(TEXT.rstrip("\n").encode(), id="no final newline"),
        pytest.param(TEXT.replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(b"\xef\xbb\xbf" + TEXT.encode(), id="BOM"),
        # as of joined files
        pytest.param(TEXT.replace("\n\n", "\n\ufeff\n").encode(), id="BOM within"),
        pytest.param(("\n \n" + TEXT + "\n\t\n \n\n").encode(), id="blanks around"),
        pytest.param(TEXT.replace("\n\n", "\n\t\n").encode(), id="tab between"),
        pytest.param(TEXT.replace(" ", "\t").encode(), id="tabs"),
        pytest.param(TEXT.replace(" ", "  NN X ").encode(), id="more columns"),
    ],
)
def test_the_same_sentences_are_read(file, raw):
    assert read(write(file, raw)) == TWO


def test_an_empty_file_has_no_documents(file):
    assert read(write(file, "")) == []
    assert read(write(file, "\n \n")) == []


def read_words(path: Path, **layout: Any) -> list[list[str]]:
    documents = read(path, ColumnFormat(**layout))
    return [sentence.words for document in documents for sentence in document]


CONLLU = "1 a O\n2-3 bc O\n2 b O\n3 c O\n3.1 d O\n\n# x\n1-2 ef _\n1 e O\n2 f O\n"

KAGGLE = """Sentence #,Word,POS,Tag
Sentence: 1,London,NNP,B-geo
,",",",",O
Sentence: 2,\"\"\"\",``,O
,"say ""no"\"\",VB,O
,,,
Sentence: 3,5",CD,O
"""
NAMED = {"word": "Word", "tag": "Tag", "sentence": "Sentence #"}
IN_EACH = "1 Ann O\n1 is O\n2 Bob O\n3 says O\n3 no O\n"
OF_KAGGLE = [["London", ","], ['"', 'say "no"'], ['5"']]
OF_EACH = [["Ann", "is"], ["Bob"], ["says", "no"]]
BY_FIRST = {"word": 1, "sentence": 0}


@pytest.mark.parametrize(
    ("text", "layout", "words"),
    [
        # tabs separate where all lines have some, and blanks around are no part of it
        ("New York\tB-LOC\nis\tO\n", {}, [["New York", "is"]]),
        (" New York \tX\t B-LOC\t\nis\t\tO\t \n", {}, [["New York", "is"]]),
        ("# a = b\n-DOCSTART- O\nNew York\tB-LOC\nis\tO\n", {}, [["New York", "is"]]),
        ("New York\tB-LOC\n\nis O\n", {}, [["New"], ["is"]]),
        ("is O\t\nNew\tB-LOC\n", {}, [["is", "New"]]),
        ("a\tB-X\tO\t\t\nb\tO\tO\t\t\n", {}, [["a", "b"]]),
        ("O\t \tNew York\n", {"separator": "\t", "word": -1, "tag": 0}, [["New York"]]),
        # no other white space does
        ("  10\xa0000 \t O\nc\u2028d O\n", {}, [["10\xa0000", "c\u2028d"]]),
        # rows may lack a column in the middle
        ("a N [a] B-X\nb N O\nc N [c] [c] O\n", {}, [["a", "b", "c"]]),
        # ranges and empty nodes of CoNLL-U are no words
        (CONLLU, {"word": 1}, [["a", "b", "c"], ["e", "f"]]),
        (
            "ID W T\n" + CONLLU.replace("-2 ef _", "-2 ef O"),
            {"word": "W", "tag": "T"},
            [["a", "b", "c"], ["e", "f"]],
        ),
        # CSV has quotes, names and sentences
        (KAGGLE, {"separator": ",", **NAMED}, OF_KAGGLE),
        (
            KAGGLE.replace(",", ";"),
            {"separator": ";", **NAMED},
            [["London", ";"], *OF_KAGGLE[1:]],
        ),
        # quotation marks are characters where none quote
        ('"\tO\n"a\tO\n', {}, [['"', '"a']]),
        ('"\tO\n"a\tO\n', {"separator": "\t"}, [['"', '"a']]),
        ('"""a"\t O \n', {"separator": "\t", "quotes": True}, [['"a']]),
        ('",NN,O\n",",O\n', {"separator": ",", "quotes": False}, [['"', '"']]),
        ('""""\tO\n"\tO\n', {}, [['""""', '"']]),
        ('"a"\tO\n""\tO\n', {}, [['"a"', '""']]),
        ('"' * 10 + ",O\n", {"separator": ","}, [['""""']]),
        ('""""\tO\n', {"quotes": False}, [['""""']]),
        # a column may number sentences, also anew in each document
        (IN_EACH, BY_FIRST, OF_EACH),
        (IN_EACH.replace("\n2", "\n\n2"), {"word": -2, "sentence": 0}, OF_EACH),
        (IN_EACH.replace(" ", "\t").replace("\n3\tno", "\n\tno"), BY_FIRST, OF_EACH),
        (IN_EACH.replace("1 ", "x-y ").replace("2 ", "x-z "), BY_FIRST, OF_EACH),
        (IN_EACH.replace("1 ", "s1.0 ").replace("2 ", "s2.0 "), BY_FIRST, OF_EACH),
        (
            "1 a O\n1 b O\n2 c O\n-DOCSTART- O\n1 d O\n2 e O\n2 f O\n",
            BY_FIRST,
            [["a", "b"], ["c"], ["d"], ["e", "f"]],
        ),
        # words and other numbers number none
        ("x\t1\tO\nx\t1\tO\nx\t2\tO\n", {"word": -2}, [["1", "1", "2"]]),
        ("x\t\tO\nx\t1\tO\nx\t2\tO\n", {}, [["x", "x", "x"]]),
        ("w 0 O\nw 0 O\nw 1 O\nw 0 O\n\nw 0 O\nw 0 O\n", {}, [["w"] * 4, ["w"] * 2]),
        ("1\tx\t0\tO\n1\tx\t1\tO\n1\tx\t1\tO\n", BY_FIRST, [["x", "x", "x"]]),
    ],
)
def test_words_of_sentences(file, text, layout, words):
    assert read_words(write(file, text), **layout) == words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tB-PER\tO\nb\tI-PER\t\nc\tO\tO\n", r":2: expected a tag .* got ''"),
        ("a\tB-PER\tO\nb\tI-PER\n", r":2: expected 3 .* got 2.* columns from 0"),
        ("a\tO\t\nb\tO\tB-X\n", r":1: expected a tag .* got ''"),
        ("a\tO\t\n" * 99 + "\nb\tO\tB-X\n", r":101: expected 2 columns.*got 3"),
        ("a B-N\n10 000 B-N\n", r":2: expected 2 columns.*put tabs .* --separator"),
        ("# x\n-DOCSTART- -X- O\n\na O\n\nNew York B-X\n", ":6: expected 2 col"),
    ],
)
def test_no_column_takes_the_place_of_another(file, text, message):
    with pytest.raises(ValueError, match=message):
        read(write(file, text))
    if "\t" in text:
        assert read(file, ColumnFormat(tag=1))


def test_tabs_and_spaces_that_may_both_separate_are_refused(file):
    write(file, "Ann NN\tO\nis V\tO\n")
    with pytest.raises(ValueError, match=r"a space, as 'Ann NN'. .* --separator '\\t'"):
        read(file)
    assert read_words(file, separator="\t") == [["Ann NN", "is V"]]


@pytest.mark.parametrize(
    "heads", ["1 1 1.1", "3 5 5-6", "x 1 1.5", "1 1.1 3", "0-3 4-5 6-7", "1.5 0.2 1"]
)
def test_other_columns_of_numbers_drop_no_words(file, heads):
    write(file, "".join(f"{head} w O\n" for head in heads.split()))
    assert read_words(file, word=1) == [["w"] * 3]


def test_words_quoted_as_in_csv_are_refused(file):
    write(file, 'a\tO\n"b c"\tO\n\n"say ""x"""\tO\n')
    message = r""":4: quotation marks stand .*: '"say .*--quotes and.* --no-quotes"""
    with pytest.raises(ValueError, match=message):
        read(file)
    words = [["a", "b c"], ['say "x"']]
    assert read_words(file, separator="\t", quotes=True) == words


@pytest.mark.parametrize(
    "flags", ["10010", "10.10", "10.10.10", "1_1_", "TFTF", "TF.TF", "001.001", "12312"]
)
def test_flags_name_no_sentences(file, flags):
    rows = (f"{flag.strip('_')}\tw\tO\n" if flag != "." else "\n" for flag in flags)
    write(file, "".join(rows))
    with pytest.raises(ValueError, match=r":1: column.*name .* come back: \['[1T0]', "):
        read(file, ColumnFormat(separator="\t", word=1, sentence=0))


@pytest.mark.parametrize(
    "text",
    [
        KAGGLE.partition("\n")[2],
        IN_EACH.replace(" ", ","),
        IN_EACH.replace(" ", ".0,"),
        "1,a,O\n1,b,O\n\n2,c,O\n\n3,d,O\n3,e,O\n4,f,O\n",
        "1,a,O\n2,b,O\n2,c,O\n1,d,O\n1,e,O\n2,f,O\n",
        "1,a,O\n,b,O\n2,c,O\n1,d,O\n,e,O\n2,f,O\n",
        "1,Ann,O\n1,is,O\n2,Bob,O\n\n2,no,O\n3,a,O\n3,b,O\n",
    ],
)
def test_numbers_of_sentences_are_not_passed_over(file, text):
    with pytest.raises(ValueError, match=r":1: column 0 numbers.*or sentence_column"):
        read(write(file, text), ColumnFormat(separator=",", word=1))
    said = ColumnFormat(separator=",", word=1, sentence="")
    n_blank = text.count("\n\n") + text.count("\n,,,\n")
    assert len(read(file, said)) == n_blank + 1


@pytest.mark.parametrize(
    "heads", ["1 1 2", "0 1 1 1", "2 3 4", "x x x", "1 1 2 . 2 0 2"], ids=str
)
def test_other_columns_number_no_sentences(file, heads):
    rows = "".join(f"w {n} O\n" if n != "." else "\n" for n in heads.split())
    write(file, rows + "\nw 0 O\nw 2 O\n")
    assert read_words(file)[-1] == ["w", "w"]


def test_the_first_line_may_have_names(file):
    write(file, "TOKEN\tLIT\tMISC\n# id = 1\nAnn\tB-x\t_\n\nTOKEN\tO\t_\n")
    names = {"word": "TOKEN", "tag": "LIT"}
    assert read_words(file, **names) == [["Ann"], ["TOKEN"]]
    assert read_words(file, word=0, tag="LIT") == [["Ann"], ["TOKEN"]]
    with pytest.raises(ValueError, match=r":1: .* got 'MISC'. Where.*line names co"):
        read(file)
    for names in ({"word": "Word", "tag": "LIT"}, {"word": 0, "tag": "TOKEN"}):
        write(file, "TOKEN\tLIT\tTOKEN\n")
        match = r":1: expected.*name '.*' of a column, once.*another --separator"
        with pytest.raises(ValueError, match=match):
            read(file, ColumnFormat(**names))


def test_sentences_keep_the_name_of_their_document(file):
    write(file, "a O\n\n-DOCSTART- O\n\nb O\n\nc O\n-DOCSTART- O\n\nd O\n")
    found = [sentence.document for (sentence,) in read(file)]
    assert found == ["", "corpus.iob:1", "corpus.iob:1", "corpus.iob:2"]
    docs = [make_doc(Vocab(), document) for document in read(file)]
    assert [get_document(doc) or "" for doc in docs] == found


def test_sentences_end_somewhere(file, monkeypatch):
    monkeypatch.setattr(columns, "MAX_SENTENCE", 4)
    assert len(read_words(write(file, "a O\n" * 4))[0]) == 4
    with pytest.raises(ValueError, match=r":3: a sentence of more than.*tokens begins"):
        read(write(file, "a O\n\n" + "b O\n" * 5))
    with pytest.raises(ValueError, match=r":1: column 0 numbers sentences"):
        read(write(file, IN_EACH), ColumnFormat(word=1))


DOCUMENTS = (
    "-DOCSTART- -DOCSTART- O\nA N O\n\nB N O\n"
    "-DOCSTART- -DOCSTART- O\n\n-DOCSTART- -DOCSTART- O\n\nC N O\n"
)


@pytest.mark.parametrize(
    ("group", "documents"),
    [
        ("document", [[["A"], ["B"]], [["C"]]]),
        ("sentence", [[["A"]], [["B"]], [["C"]]]),
    ],
)
def test_documents_begin_with_docstart(file, group, documents):
    found = read(write(file, DOCUMENTS), ColumnFormat(group=group))
    assert [[s.words for s in doc] for doc in found] == documents


@pytest.mark.parametrize(
    "marker",
    [
        "-DOCSTART-",
        "--DOCSTART--\tO\t0",
        "-DOCSTART",
        "-docstart- -X- O O",
        "1\t-DOCSTART-\tO",
        "-DOCSTART- (1 EU)",
    ],
)
@pytest.mark.parametrize("separator", ["\t", " ", None])
def test_documents_may_begin_otherwise(file, marker, separator):
    rows = f"{marker}\n\n1 non-DOCSTART O\n\n{marker}\n1 B O\n"
    write(file, rows if separator != "\t" else rows.replace(" ", "\t"))
    layout = ColumnFormat(separator, word=1, group="document")
    documents = [[s.words for s in document] for document in read(file, layout)]
    assert documents == [[["non-DOCSTART"]], [["B"]]]


def test_comments_are_passed_over(file):
    write(
        file,
        "# id 4 domain=train\n# text = # O\n# O\nA O\n# O\n\n#tag O\n\n# newdoc\n# O\n",
    )
    sentences = [doc[0].words for doc in read(file)]
    assert sentences == [["#", "A", "#"], ["#tag"], ["#"]]


def test_a_row_with_a_tag_in_its_column_is_no_comment(file):
    write(file, "# O B-X rest\nA O I-X rest\n\n# newdoc\nB O O rest\n")
    documents = read(file, ColumnFormat(tag=2))
    assert [doc[0].words for doc in documents] == [["#", "A"], ["B"]]


# Numbered words


def number(*sentences: str) -> str:
    """Lines of number, word and tag, the numbers as they are given: "1 2-3 2 3"."""
    return "\n".join(
        "".join(f"{n}\tword\tO\n" for n in sentence.split()) for sentence in sentences
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(number("1 2"), id="once"),
        pytest.param(number("1", "1 2 3", "1"), id="short"),
        pytest.param(number("0 1", "0 1 2"), id="from 0"),
        pytest.param(number("1 2-3 2 3 3.1 4", "1 2"), id="CoNLL-U"),
        pytest.param(number("1 2", "3 4 5", "6 7"), id="counted on"),
        pytest.param(number("1 2", "1 2", "1 2") + "\nNo\tD\tO\n", id="at first"),
    ],
)
def test_numbers_of_words_are_refused(file, text):
    message = (
        r"corpus\.iob:\d: column 0 should hold the words, but numbers them. The "
        r"columns are 0 \('\d'\), 1 \('word'\), 2 \('O'\); tags may stand in 2\. Say "
        ".*: --word-column and --tag-column, or word_column and tag_column in a config"
    )
    with pytest.raises(ValueError, match=message):
        read(write(file, text))
    words = {w for s in read(file, ColumnFormat(word=1)) for w in s[0].words}
    assert words - {"D"} == {"word"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("1 O\n2 O\n3 O\n", id="no other column"),
        pytest.param(number("1", "1", "1", "1"), id="single"),
        pytest.param(number("1 2", "1 2", "1 3"), id="not all"),
        pytest.param(number("2 1", "1 2 3", "1 2", "1 2"), id="countdown"),
        pytest.param(number("1 2 3 x", "1 2", "1 2", "1 2"), id="list"),
    ],
)
def test_words_may_be_numbers(file, text):
    found = [word for (s,) in read(write(file, text)) for word in s.words]
    assert found == [line.split()[0] for line in text.splitlines() if line]


# What cannot be parsed


@pytest.mark.parametrize(
    ("text", "layout", "message"),
    [
        ("a b\tO\n\n" * 60 + "is O\n", {}, r":121: .* with tabs,.*in the first lines"),
        ("A O\n# NN\n", {}, r":2: expected a tag .* got 'NN'"),
        ("\tO\n", {"separator": "\t"}, r":1: expected a word in column 0"),
        (
            b"A O\n\nZo\xeb B-PER\nB O\n",
            {},
            r"corpus\.iob:3: not utf-8 text .*0xeb.*--encoding",
        ),
        ("\nA O\n", {"group": "document"}, r":2: expected a -DOCSTART- .*'sentence'"),
        (b"a O\rb O\r", {}, r":1: .*carriage return; expected LF"),
        (b"a O\nb\0\0 O\n", {}, r":2: NUL characters.*expected text"),
        ("1 Ann B-X\n1 is O\n\n2 Bob B-X\n2 is O\n", {}, r"0 should.*words, but numb"),
        ("A O\r\nParis\r\n", {}, r":2: expected at least 2 columns .* \['Paris'"),
        ("A O\r\n", {"tag": 3}, r":1: expected at least 4 columns"),
        ("A O\r\n", {"sentence": 5}, r":1: expected at least 6 columns"),
        ("A O\r\n", {"separator": "\t"}, r"with '\\t' between .*, got 1: \['A O'\]"),
        ('a,O\n"b,O\nc",O\n', {"separator": ","}, r":2: .* quotation.*--no-quotes, or"),
        ('a,O\n"b"c,O\n', {"separator": ","}, r":2: .*quotation.*around whole columns"),
        ('a,NN,O\n",",O\n', {"separator": ","}, r":2: expected 3.*got 2.* --no-quotes"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(file, text, layout, message):
    with pytest.raises(ValueError, match=message):
        read(write(file, text), ColumnFormat(**layout))


@pytest.mark.parametrize("tag", ["X-PER", "B", "B-", "o", "O-PER"])
def test_an_unknown_tag(file, tag):
    with pytest.raises(ValueError, match=rf"corpus\.iob:3: expected a tag.*'{tag}'\.$"):
        read(write(file, f"A O\n\nParis {tag}\n"))


@pytest.mark.parametrize(
    ("line", "separator"),
    [("x" * 10**6, None), (f"word {'x' * 10**6}", None), (f"\t{'x' * 10**6}\tO", "\t")],
    ids=["one column", "tag", "no word"],
)
def test_a_long_line_is_not_quoted_whole(file, line, separator):
    with pytest.raises(ValueError, match=r"corpus\.iob:1: .*, got .*\.\.\.") as error:
        read(write(file, line + "\n"), ColumnFormat(separator=separator))
    assert len(str(error.value)) < len(str(file)) + 300


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"separator": ""}, "'separator' should be at least one character"),
        ({"quotes": True}, "'separator' should be one .* 'quotes', but is None. Give"),
        ({"quotes": True, "separator": '"'}, "'separator' should be one character, an"),
        ({"group": "page"}, r"'group' should be 'sentence' or .*, but is 'page'"),
        ({"encoding": "utf-88"}, "'encoding' should be .* but is 'utf-88'"),
        ({"encoding": "utf-16"}, "extends ASCII"),
        ({"word": -1}, "'word' and 'tag' should be two .* both are -1"),
    ],
)
def test_settings_that_cannot_be(setting, message):
    with pytest.raises(ValueError, match=message):
        ColumnFormat(**setting)


# Streaming


def test_an_endless_pipe_is_read_as_far_as_asked(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write_forever() -> None:
        try:
            with pipe.open("wb") as file:
                while True:
                    file.write(b"Paris B-LOC\nslept O\n\n")
        except BrokenPipeError:
            pass

    writer = threading.Thread(target=write_forever, daemon=True)
    writer.start()
    documents = read_documents(pipe, PLAIN)
    expected = [Sentence(["Paris", "slept"], ["B-LOC", "O"])]
    assert list(islice(documents, 1000)) == [expected] * 1000
    documents.close()  # type: ignore[attr-defined]
    writer.join(timeout=10)
    assert not writer.is_alive(), "the file stayed open"


@pytest.mark.parametrize("group", ["sentence", "document"])
def test_memory_does_not_grow_with_the_file(file, group):
    def peak(documents: int) -> int:
        write(file, "-DOCSTART- O\n\nParis B-LOC\nslept O\n\n" * documents)
        tracemalloc.start()
        for _ in read_documents(file, ColumnFormat(group=group)):
            pass
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    assert peak(1000) < peak(100) + 50_000


def test_prefixes_of_words_are_refused(file):
    with pytest.raises(ValueError, match=r":1: each word begins with 'en:', as in fil"):
        read(write(file, "en:Ann\tO\nen::\tO\n\nen:no\tO\n"))
    assert read_words(write(file, "en:Ann O\nno O\n")) == [["en:Ann", "no"]]
