import json
import re
from functools import partial
from pathlib import Path
from shlex import split as split_words

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import Result

from .running import check_refused, get_rows, run_command, unwrap

run = partial(run_command, "prepare")


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def file() -> Path:
    path = Path("own.iob")
    path.write_text("Ann B-PER\nslept O\n\nRome B-LOC\nis O\nfar O\n")
    return path


def find_row(result: Result, split: str) -> list[str]:
    (row,) = (row for row in get_rows(result.output) if row[0] == split)
    return row[1:]


def test_own_files_are_converted_and_counted(file):
    Path("dev.iob").write_text("Ann B-PER\nin O\nParis B-LOC\n")
    result = run("iob", "-o", "an output", "-t", file, "--dev", "dev.iob", "-l", "en")
    assert result.exit_code == 0, result.output
    assert find_row(result, "Split") == [
        *("Documents", "Tokens", "Vocabulary", "Classes"),
        *("Entities/doc", "Seen", "Unseen"),
    ]
    assert find_row(result, "train") == ["2", "5", "5", "2", "1.00", "2", "0"]
    assert find_row(result, "dev") == ["1", "3", "3", "2", "2.00", "1", "1"]
    assert "Saved 2 splits" in result.output
    written = {path.name for path in Path("an output").iterdir()}
    assert written == {"train.spacy", "dev.spacy"}
    begin, configure = map(split_words, result.output.splitlines()[-2:])
    assert begin == "spacy init config base.cfg --lang en --pipeline ner".split()
    assert configure == [
        *"spacy hashembeds config base.cfg -o config.cfg --train".split(),
        "an output/train.spacy",
    ]


def test_control_characters_of_words_are_shown_and_not_sent():
    result = prepare_text("\x1b[2JAnn B-\x1b]0;hi\x07\n")
    assert result.exit_code == 0, result.output
    assert r"[\x1b[2JAnn \x1b]0;hi\x07]" in result.output
    sent = set(re.findall(r"\x1b..|\x07", result.output))
    assert not {"\x1b[2J", "\x1b]0", "\x07"} & sent


def test_columns_of_own_files():
    text = "-DOCSTART-\nB-PER\tZoë Ann\tx\n\nO\tyes\tx\n-DOCSTART-\nO\tno\tx\n"
    Path("own.tsv").write_text(text, encoding="latin-1")
    options = r"--separator \t --word-column 1 --tag-column 0 --encoding latin-1"
    files = "-t own.tsv --dev own.tsv --test own.tsv --group document -l de"
    result = run("iob", "-o", "output", *options.split(), *files.split())
    assert result.exit_code == 0, result.output
    docs = DocBin().from_disk("output/test.spacy").get_docs(Vocab())
    words = [[token.text for token in doc] for doc in docs]
    assert words == [["Zoë Ann", "yes"], ["no"]]


def test_a_corpus_is_replaced_if_that_is_said(file):
    args = ("iob", "-o", ".", "-t", file, "--dev", file, "-l", "en")
    assert run(*args).exit_code == 0
    said = "already (train.spacy, dev.spacy). Name another folder"
    check_refused(run(*args), said)
    assert run(*args, "--force").exit_code == 0


def test_own_texts_are_converted_and_counted():
    lines = [f"Text no. {i},{'x/y' if i % 2 else 'z.z'}" for i in range(40)]
    train, test = Path("own.tsv"), Path("test.jsonl")
    train.write_text("\n".join(["body,topic", *lines]))
    test.write_text('{"body": "Rare", "topic": ["z.z", "\\u001b[2Jodd"]}')
    columns = ("--text-column", "body", "--label-column", "topic", "--separator", ",")
    splits = ("--train", train, "--test", test, "--lang", "en")
    result = run("texts", "-o", "output", *splits, *columns)
    assert result.exit_code == 0, result.output
    assert find_row(result, "Texts")[-3:] == ["train", "dev", "test"]
    assert find_row(result, "All")[1:] == ["36", "4", "1"]
    assert find_row(result, "x/y") == ["18", "2", "0"]
    assert find_row(result, "z.z") == ["18", "2", "1"]
    # as it was not learned
    assert "nothing can learn them" in unwrap(result.output)
    assert result.output.count(r"\x1b[2Jodd") == 2
    assert "\x1b[2J" not in result.output
    assert "[z.z] Text no" in result.output
    assert "Saved 3 splits" in result.output
    assert "of train one in ten for dev" in unwrap(result.output)
    begin, configure = map(split_words, result.stdout.splitlines()[-2:])
    assert begin == "spacy init config base.cfg --lang en --pipeline textcat".split()
    assert configure[:3] == ["spacy", "hashembeds", "config"]
    docs = DocBin().from_disk("output/test.spacy").get_docs(Vocab())
    assert [doc.cats for doc in docs] == [{"\x1b[2Jodd": 1.0, "x/y": 0.0, "z.z": 1.0}]


@pytest.mark.parametrize(
    ("label", "is_told"), [([], True), ({"x": 0}, True), (["x", "y"], False)]
)
def test_texts_without_a_label_are_counted(label, is_told):
    labelled = '{"text": "a", "label": "x"}\n{"text": "b", "label": "y"}\n'
    line = json.dumps({"text": "c", "label": label}) + "\n"
    args = []
    for split, n in (("train", 4), ("dev", 0), ("test", 2)):
        Path(f"{split}.jsonl").write_text(labelled + n * line)
        args += [f"--{split}", f"{split}.jsonl"]
    result = run("texts", "-o", "output", *args, "--lang", "en")
    assert result.exit_code == 0, result.output
    told = "6 texts without a label (4 in train, 0 in dev, 2 in test), which no label"
    assert (told in unwrap(result.output)) is is_told


GERMEVAL = """#\thttp://example.org/1 [2009-10-17]
1\tAufgrund\tO\tO
2\tdessen\tO\tO

#\thttp://example.org/2 [2009-10-17]
1\tSchartau\tB-PER\tO
2\tin\tO\tO
3\tder\tO\tO
4\tFC\tB-ORG\tO
5\tKöln\tI-ORG\tB-LOC
"""
CONLL2003 = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O
German JJ B-NP B-MISC
calls NNS I-NP O
"""


def prepare_text(text: str, *options: str) -> Result:
    Path("own.conll").write_text(text, encoding="utf8")
    files = ("--train", "own.conll", "--dev", "own.conll", "--lang", "de")
    return run("iob", "-o", "output", *files, *options)


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (GERMEVAL, "--word-column 1 --tag-column 2", "[Schartau PER] in der [FC Köln"),
        (GERMEVAL, "--word-column 1", "Schartau in der FC [Köln LOC]"),
        (CONLL2003, "", "[EU ORG] rejects [German MISC] calls"),
        (CONLL2003, "--tag-column 2", "[EU NP] [rejects VP] [German calls NP]"),
        ("w O\n" * 40 + "Ann B-PER\nsaid O\n" * 20, "", "… [Ann PER] said [Ann PER]"),
        ("w O\n" * 40, "", "No entity in"),
        ("Ann B-PER\n" + "w O\n" * 40, "", "[Ann PER]" + 29 * " w" + " …"),
        ("x" * 10**6 + " B-" + "y" * 10**6, "", f"[{'x' * 30} {'y' * 30}]"),
    ],
)
def test_a_sentence_is_shown_as_it_was_understood(text, options, sentence):
    result = prepare_text(text, *options.split())
    assert result.exit_code == 0, result.output
    assert sentence in unwrap(result.output)
    assert len(result.output) < 2000


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("Ann B-PER\n\nBen O\n", True),
        ("-DOCSTART- O\n\nAnn B-PER\n\nBen O\n", False),
        ("Ann B-PER\n\n-DOCSTART- O\n\nBen O\n", False),
    ],
)
def test_it_is_said_where_nothing_tells_documents_apart(text, is_said):
    output = unwrap(prepare_text(text).output)
    assert ("No -DOCSTART- line says which sentences are of one" in output) == is_said


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("Ann B-PER\n\xa0 I-PER\n", "1 in train, 1 in dev. Entity spans consisting"),
        ("Ann B-PER\n" * 501, "All 501 tokens of dev became one document. Its senten"),
        ("Ann B-PER\n" * 500, None),
        ("Ann B-PER\n" * 400 + "\n\xa0 O\nAnn B-PER\n" * 200, None),
    ],
)
def test_what_is_hardly_meant_is_warned_of(text, warning):
    result = prepare_text(text)
    assert result.exit_code == 0, result.output
    output = unwrap(result.output)
    assert "⚠" not in output if warning is None else warning in output


def test_quotes_names_and_numbers_of_sentences():
    text = 'No,Word,NE\nS 1,Ann,B-PER\n,says,O\nS 2,",",O\n,"""",O\n'
    names = ("--word-column", "Word", "--tag-column", "NE", "--sentence-column", "0")
    result = prepare_text(text, "--separator", ",", *names)
    assert result.exit_code == 0, result.output
    assert find_row(result, "dev")[:3] == ["2", "4", "4"]
    result = prepare_text('",NN,O\n', "--separator", ",", "--no-quotes", "--force")
    assert find_row(result, "dev")[:3] == ["1", "1", "1"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("iob -t gone/x --dev own.iob", "gone/x"),
        ("iob -t own.iob --dev own.iob -o own.iob/out", "own.iob"),
        ("texts -t own.iob", "own.iob:1: expected the columns 'text', 'label'"),
    ],
)
def test_errors_are_told_without_a_traceback(file, args, message):
    # where a folder is given again, that counts
    kind, *options = args.split()
    result = run(kind, "-l", "en", "-o", "output", *options)
    check_refused(result, "Can't prepare", message)
    assert not list(Path().glob("output/*"))
