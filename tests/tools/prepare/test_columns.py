"""Files with one token a line."""

import tracemalloc
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest
from seqeval.metrics.sequence_labeling import get_entities
from spacy.vocab import Vocab

from spacy_hashembeds.tools.prepare import columns
from spacy_hashembeds.tools.prepare.columns import (
    ColumnFormat,
    Sentence,
    make_doc,
    read_documents,
)
from spacy_hashembeds.training import lines
from spacy_hashembeds.training.features import read_values
from spacy_hashembeds.training.joined import get_document


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "corpus.iob"


def read(path: Path, text: str | bytes, **layout: Any) -> list[list[Sentence]]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_documents(path, ColumnFormat(**layout)))


def read_words(path: Path, text: str | bytes, **layout: Any) -> list[list[str]]:
    documents = read(path, text, **layout)
    return [sentence.words for document in documents for sentence in document]


@pytest.mark.parametrize("scheme", ["IES", "ILU", "MES"])
def test_spans_equal_those_of_conlleval(scheme):
    """All combinations of up to three tags are compared."""
    names = ["O", *(f"{prefix}-{x}" for prefix in "BIES" for x in ("LOC", "E"))]
    letters = str.maketrans("IES", scheme)
    document, expected = [], []
    start = 0
    for n in range(1, 4):
        for tags in map(list, product(names, repeat=n)):
            written = [tag[0].translate(letters) + tag[1:] for tag in tags]
            document.append(Sentence(["word"] * n, written))
            found = get_entities(tags)
            expected += [(start + a, start + b + 1, label) for label, a, b in found]
            start += n
    ents = make_doc(Vocab(), document).ents
    assert [(ent.start, ent.end, ent.label_) for ent in ents] == expected


TEXT = "Zoë B-PER\nslept O\n\nYes O\n"


CONLLU = "1 a O\n2-3 bc O\n2 b O\n3 c O\n3.1 d O\n\n# x\n1-2 ef O\n1 e O\n2 f O\n"
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
OF_EACH = [["Ann", "is"], ["Bob"], ["says", "no"]]
BY_FIRST = {"word": 1, "sentence": 0}


@pytest.mark.parametrize(
    ("text", "layout", "words"),
    [
        *(
            (text, {}, [["Zoë", "slept"], ["Yes"]])
            for text in (
                TEXT.rstrip("\n"),
                TEXT.replace("\n", "\r\n"),
                "\ufeff" + TEXT,
                TEXT.replace("\n\n", "\n\ufeff\n"),  # concatenated files
                "\n \n" + TEXT + "\n\t\n \n\n",
                TEXT.replace(" ", "\t"),
                TEXT.replace(" ", "  NN X "),
            )
        ),
        ("\n \n", {}, []),
        ("-DOCSTARTED O\n", {}, [["-DOCSTARTED"]]),
        # other BOMs are kept
        ("\ufeffa O\n\ufeffb O\n", {}, [["a", "\ufeffb"]]),
        # tabs, if the first row has any; surrounding blanks are stripped
        ("# a = b\n-DOCSTART- O\nNew York\tB-X\nis\tO\n", {}, [["New York", "is"]]),
        (" New York \tX\t B-X\t\nis\t\tO\t \n", {}, [["New York", "is"]]),
        ("a\tB-X\tO\t\t\nb\tO\tO\t\t\n", {}, [["a", "b"]]),
        ("O\t \tNew York\n", {"separator": "\t", "word": -1, "tag": 0}, [["New York"]]),
        # other white space is not a separator
        ("  10\xa0000  O\nc\u2028d O\n", {}, [["10\xa0000", "c\u2028d"]]),
        # multiword tokens and empty nodes of CoNLL-U are skipped
        (CONLLU, {"word": 1}, [["a", "b", "c"], ["e", "f"]]),
        ("1 O\n2-3 O\n2 O\n3 O\n", {"word": -2}, [["1", "2-3", "2", "3"]]),
        ("3 w O\n5 w O\n5-6 w O\n", {"word": 1}, [["w"] * 3]),
        # CSV
        (
            KAGGLE,
            {"separator": ",", **NAMED},
            [["London", ","], ['"', 'say "no"'], ['5"']],
        ),
        ('"""a"\t O \n', {"separator": "\t", "quotes": True}, [['"a']]),
        # literal quotation marks
        ('"a""b"\tO\n', {"quotes": False}, [['"a""b"']]),
        ('"\tO\n"a\tO\n"a"\tO\n""\tO\n', {}, [['"', '"a', '"a"', '""']]),
        ('",NN,O\n",",O\n', {"separator": ",", "quotes": False}, [['"', '"']]),
        # sentence numbers, also per document
        (IN_EACH, BY_FIRST, OF_EACH),
        (IN_EACH.replace("\n2", "\n\n2"), {"word": -2, "sentence": 0}, OF_EACH),
        (IN_EACH.replace(" ", "\t").replace("\n3\tno", "\n\tno"), BY_FIRST, OF_EACH),
        (IN_EACH.replace("1 ", "x-y ").replace("2 ", "x-z "), BY_FIRST, OF_EACH),
        (
            "1 a O\n1 b O\n2 c O\n-DOCSTART- O\n1 d O\n2 e O\n2 f O\n",
            BY_FIRST,
            [["a", "b"], ["c"], ["d"], ["e", "f"]],
        ),
        (IN_EACH, {"word": 1}, [[*chain(*OF_EACH)]]),
        # headers
        (
            "W\tLIT\tMISC\n# id = 1\nAnn\tB-x\t_\n\nW\tO\t_\n",
            {"word": "W", "tag": "LIT"},
            [["Ann"], ["W"]],
        ),
        # comments, and "#" as a token
        (
            "# x 4\n# text = # O\n# O\nA O\n# O\n\n#tag O\n",
            {},
            [["#", "A", "#"], ["#tag"]],
        ),
        ("en:Ann O\nno O\n", {}, [["en:Ann", "no"]]),
    ],
)
def test_words_of_sentences(file, text, layout, words):
    assert read_words(file, text, **layout) == words


@pytest.mark.parametrize(
    ("text", "layout", "message"),
    [
        # other numbers of columns
        ("a\tB-PER\tO\nb\tI-PER\t\n", {}, ":2: expected 3 .*--separator"),
        ("a B-N\n10 000 B-N\n", {}, ":2: expected 2 .*--separator"),
        ("New York\tB-LOC\n\nis O\n", {}, ":3: expected 2 "),
        ('a,NN,O\n",",O\n', {"separator": ","}, ":2: expected 3 .*--no-quotes"),
        ("Ann NN\tO\nis V\tO\n", {}, ":1: .*a space.*--separator"),
        # quotation marks
        ('a\tO\n\n"say ""x"""\tO\n', {}, ":3: .*--quotes or --no-quotes"),
        ('a,O\n"b,O\nc",O\n', {"separator": ","}, ":2: .*--no-quotes"),
        # word numbers, and prefixes of WikiANN
        ("1 a O\n2 b O\n\n1 c O\n2 d O\n", {}, ":1: column 0 .*--word-column"),
        ("en:Ann\tO\nen::\tO\n\nen:no\tO\n", {}, ":1: .*'en:'"),
        # invalid rows
        ("A O\n# NN\n", {}, ":2: .*a tag .*'NN'.*--tag-column"),
        ("\tO\n", {"separator": "\t"}, ":1: .*a word in column 0"),
        ("\xa0\na O\n", {}, ":1: .*a word in column 0 and a tag"),
        ("a O\n\n\u3000\n", {}, ":3: expected 2 columns"),
        ("A O\n", {"encoding": "x"}, "1: not x text .*unknown encoding.*--encoding"),
        ("A O\n".encode("utf-16-le"), {"encoding": "utf-16-le"}, ":1: not utf-16"),
        (b"A O\n\nZo\xeb B-PER\n", {}, r"corpus\.iob:3: not utf-8 .*0xeb.*--encoding"),
        ("\nA O\n", {"group": "document"}, ":2: .*-DOCSTART-.*--group"),
        (b"a O\rb O\r", {}, ":1: .*carriage return"),
        # missing and duplicate columns
        ("A O\n", {"tag": 3}, ":1: expected .* 3"),
        ("A O\n", {"sentence": ""}, ":1: expected a column ''"),
        ("A O\n", {"separator": "\t"}, r":1: .*\['A O'\].*--separator"),
        ("W T T\n", {"word": "W", "tag": "T"}, ":1: expected .*'T'"),
        ("a B-X\n", {"sentence": ""}, ":1: expected a column ''"),
        ("x" * 10**6 + " y\n", {}, ":1: .*a tag"),
        *(
            (f"A O\n\nParis {tag}\n", {}, f"corpus.iob:3: .*a tag .*'{tag}'")
            for tag in ("X-PER", "B-", "O-PER")
        ),
    ],
)
def test_ambiguous_rows_are_refused_with_their_line(file, text, layout, message):
    with pytest.raises(ValueError, match=message) as error:
        read(file, text, **layout)
    assert len(str(error.value)) < len(str(file)) + 400


def test_long_sentences_and_lines_are_refused(file, monkeypatch):
    monkeypatch.setattr(columns, "MAX_SENTENCE", 4)
    assert len(read_words(file, "a O\n" * 4)[0]) == 4
    with pytest.raises(ValueError, match=r":3: a sentence of more than 4 .*--sentence"):
        read(file, "a O\n\n" + "b O\n" * 5)
    monkeypatch.setattr(lines, "MAX_LINE", 5)
    assert read_words(file, "a O\nbc O\n") == [["a", "bc"]]
    with pytest.raises(ValueError, match=r"corpus\.iob:2: a line of more than 5 bytes"):
        read(file, "a O\nbcd O\n")


def test_sentences_keep_the_name_of_their_document(file):
    documents = read(file, "a O\n\n-DOCSTART- O\n\nb O\n\nc O\n-DOCSTART- O\n\nd O\n")
    found = [sentence.document for (sentence,) in documents]
    assert found == ["", "corpus.iob:1", "corpus.iob:1", "corpus.iob:2"]
    docs = [make_doc(Vocab(), document) for document in documents]
    assert [get_document(doc) or "" for doc in docs] == found
    documents = read(
        file, "-DOCSTART- O\n\na O\n\n-DOCSTART- O\nb O\n\nc O\n", group="document"
    )
    docs = [make_doc(Vocab(), document) for document in documents]
    assert [get_document(doc) for doc in docs] == ["corpus.iob:1", None]


@pytest.mark.parametrize("separator", ["\t", None])
@pytest.mark.parametrize(
    "marker",
    ["--DOCSTART--\tO\t0", "-DOCSTART", "-docstart- -X- O O", "-DOCSTART- (1)"],
)
def test_documents_begin_with_docstart(file, marker, separator):
    text = f"{marker}\n\n1 non-DOCSTART O\n\n1 A O\n{marker}\n\n{marker}\n1 B O\n"
    text = text if separator != "\t" else text.replace(" ", "\t")
    documents = read(file, text, separator=separator, word=1, group="document")
    words = [[sentence.words for sentence in document] for document in documents]
    assert words == [[["non-DOCSTART"], ["A"]], [["B"]]]


@pytest.mark.parametrize("group", ["sentence", "document"])
def test_memory_does_not_grow_with_the_file(file, group):
    file.write_text("-DOCSTART- O\n\nParis B-LOC\nslept O\n\n" * 2000)
    tracemalloc.start()
    for _ in read_documents(file, ColumnFormat(group=group)):
        pass
    _, highest = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert highest < 300_000


FEATURES = "w t bold is b\nAnn B-PER 1 x 1\nis O 0 _ 1\n\nhere O 1 z 2\n"


@pytest.mark.parametrize("group", ["sentence", "document"])
def test_columns_are_stored_as_features_of_their_tokens(file, group):
    text = f"-DOCSTART-\n\n{FEATURES}".replace(" ", "\t").replace("_", " ")
    layout = {"word": "w", "tag": 1, "features": {"bold": "bold", "kind": -2, "n": 4}}
    docs = [make_doc(Vocab(), x) for x in read(file, text, group=group, **layout)]
    expected = {"bold": ["1", "0", "1"], "kind": ["x", None, "z"], "n": ["1", "1", "2"]}
    for name, values in expected.items():  # an empty cell has no value
        assert [x for doc in docs for x in read_values(doc, f"_.{name}")] == values


def test_missing_features_are_refused(file):
    with pytest.raises(ValueError, match=r":1: .*'gone'.*--feature"):
        read(file, FEATURES, word="w", tag="t", features={"bold": "gone"})
