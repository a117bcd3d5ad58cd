import json
import re
from pathlib import Path
from shlex import split as split_words

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner, Result

from spacy_hashembeds.cli import hashembeds_cli


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(hashembeds_cli, ["prepare", *map(str, args)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.iob"
    path.write_text("Ann B-PER\nslept O\n\nRome B-LOC\nis O\nfar O\n")
    return path


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    path = tmp_path / "dev.iob"
    path.write_text("Ann B-PER\nin O\nParis B-LOC\n")
    return path


def find_row(result: Result, split: str) -> list[str]:
    rows = [line.split() for line in result.output.splitlines()]
    (row,) = (row for row in rows if row[:1] == [split])
    return row[1:]


def test_own_files_are_converted_and_counted(file: Path, dev: Path, tmp_path: Path):
    output = tmp_path / "an output"
    result = run("iob", "-o", output, "--train", file, "--dev", dev, "--lang", "en")
    assert result.exit_code == 0, result.output
    assert find_row(result, "Split") == [
        *("Documents", "Tokens", "Vocabulary", "Classes"),
        *("Entities/doc", "Seen", "Unseen"),
    ]
    assert find_row(result, "train") == ["2", "5", "5", "2", "1.00", "2", "0"]
    assert find_row(result, "dev") == ["1", "3", "3", "2", "2.00", "1", "1"]
    assert "Saved 2 splits" in result.output
    assert {path.name for path in output.iterdir()} == {"train.spacy", "dev.spacy"}
    begin, configure = map(split_words, result.output.splitlines()[-2:])
    assert begin == "spacy init config base.cfg --lang en --pipeline ner".split()
    assert configure == [
        *"spacy hashembeds config base.cfg -o config.cfg --train".split(),
        str(output / "train.spacy"),
    ]


def test_control_characters_of_words_are_shown_and_not_sent(tmp_path: Path):
    file = tmp_path / "own.iob"
    file.write_text("\x1b[2JAnn B-\x1b]0;hi\x07\n")
    splits = ["--train", file, "--dev", file, "--lang", "en"]
    result = run("iob", "-o", tmp_path / "output", *splits)
    assert result.exit_code == 0, result.output
    assert r"[\x1b[2JAnn \x1b]0;hi\x07]" in result.output
    assert not {"\x1b[2J", "\x1b]0", "\x07"} & set(
        re.findall(r"\x1b..|\x07", result.output)
    )


def test_columns_of_own_files(tmp_path: Path):
    file = tmp_path / "own.tsv"
    file.write_bytes(
        b"-DOCSTART-\nB-PER\tZo\xeb Ann\tx\n\nO\tyes\tx\n-DOCSTART-\nO\tno\tx\n"
    )
    options = ["--separator", r"\t", "--word-column", "1", "--tag-column", "0"]
    options += ["--encoding", "latin-1", "--group", "document", "--lang", "de"]
    splits = ["--train", file, "--dev", file, "--test", file]
    result = run("iob", "-o", tmp_path / "output", *splits, *options)
    assert result.exit_code == 0, result.output
    doc_bin = DocBin().from_disk(tmp_path / "output" / "test.spacy")
    words = [[token.text for token in doc] for doc in doc_bin.get_docs(Vocab())]
    assert words == [["Zoë Ann", "yes"], ["no"]]


def test_a_corpus_is_replaced_if_that_is_said(file: Path, tmp_path: Path):
    args = ["iob", "-o", tmp_path, "-t", file, "--dev", file, "-l", "en"]
    assert run(*args).exit_code == 0
    result = run(*args)
    assert result.exit_code == 1
    said = " ".join(result.output.split())
    assert "already (train.spacy, dev.spacy). Name another folder" in said
    assert run(*args, "--force").exit_code == 0


def write_texts(folder: Path, name: str, n_texts: int) -> Path:
    lines = [f"Text no. {i},{'x/y' if i % 2 else 'z.z'}" for i in range(n_texts)]
    path = folder / name
    path.write_text("\n".join(["body,topic", *lines]))
    return path


def test_own_texts_are_converted_and_counted(tmp_path: Path):
    train = write_texts(tmp_path, "own.csv", 40)
    test = tmp_path / "test.jsonl"
    test.write_text('{"body": "Rare", "topic": ["z.z", "\\u001b[2Jodd"]}')
    columns = ["--text-column", "body", "--label-column", "topic"]
    output = tmp_path / "output"
    splits = ["--train", train, "--test", test, "--lang", "en"]
    result = run("texts", "-o", output, *splits, *columns)
    assert result.exit_code == 0, result.output
    assert find_row(result, "Texts")[-3:] == ["train", "dev", "test"]
    assert find_row(result, "All")[1:] == ["36", "4", "1"]
    assert find_row(result, "x/y") == ["18", "2", "0"]
    assert find_row(result, "z.z") == ["18", "2", "1"]
    # as it was not learned
    assert "nothing can learn them" in " ".join(result.output.split())
    assert result.output.count(r"\x1b[2Jodd") == 2
    assert "\x1b[2J" not in result.output
    assert "[z.z] Text no" in result.output
    assert "Saved 3 splits" in result.output
    assert "of train one in ten for dev" in " ".join(result.output.split())
    begin, configure = map(split_words, result.stdout.splitlines()[-2:])
    assert begin == "spacy init config base.cfg --lang en --pipeline textcat".split()
    assert configure[:3] == ["spacy", "hashembeds", "config"]
    docs = DocBin().from_disk(output / "test.spacy").get_docs(Vocab())
    assert [doc.cats for doc in docs] == [{"\x1b[2Jodd": 1.0, "x/y": 0.0, "z.z": 1.0}]


@pytest.mark.parametrize(
    ("label", "is_told"), [([], True), ({"x": 0}, True), (["x", "y"], False)]
)
def test_texts_without_a_label_are_counted(label, is_told: bool, tmp_path: Path):
    labelled = '{"text": "a", "label": "x"}\n{"text": "b", "label": "y"}\n'
    args: list[str | Path] = []
    for split, n in (("train", 4), ("dev", 0), ("test", 2)):
        path = tmp_path / f"{split}.jsonl"
        path.write_text(
            labelled + n * (json.dumps({"text": "c", "label": label}) + "\n")
        )
        args += [f"--{split}", path]
    result = run("texts", "-o", tmp_path / "output", *args, "--lang", "en")
    assert result.exit_code == 0, result.output
    told = "6 texts without a label (4 in train, 0 in dev, 2 in test), which no label"
    assert (told in " ".join(result.output.split())) is is_told


def test_own_texts_in_three_files(tmp_path: Path):
    paths = [write_texts(tmp_path, f"{i}.tsv", 2 * i) for i in (3, 2, 1)]
    splits = zip(("--train", "--dev", "--test"), paths, strict=True)
    columns = ["--text-column", "body", "--label-column", "topic"]
    options = ["--separator", ",", "-l", "en", *columns]
    args = [arg for split in splits for arg in split]
    result = run("texts", "-o", tmp_path / "output", *args, *options)
    assert result.exit_code == 0, result.output
    assert find_row(result, "All")[1:] == ["6", "4", "2"]


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


def prepare_text(tmp_path: Path, text: str, *options: str) -> Result:
    file = tmp_path / "own.conll"
    file.write_text(text, encoding="utf8")
    args = ["--train", file, "--dev", file, "--lang", "de", *options]
    return run("iob", "-o", tmp_path / "output", *args)


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
def test_a_sentence_is_shown_as_it_was_understood(
    text: str, options: str, sentence: str, tmp_path: Path
):
    result = prepare_text(tmp_path, text, *options.split())
    assert result.exit_code == 0, result.output
    assert sentence in " ".join(result.output.split())
    assert len(result.output) < 2000


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("Ann B-PER\n\nBen O\n", True),
        ("-DOCSTART- O\n\nAnn B-PER\n\nBen O\n", False),
        ("Ann B-PER\n\n-DOCSTART- O\n\nBen O\n", False),
    ],
)
def test_it_is_said_where_nothing_tells_documents_apart(text, is_said, tmp_path):
    result = prepare_text(tmp_path, text)
    output = " ".join(result.output.split())
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
def test_what_is_hardly_meant_is_warned_of(
    text: str, warning: str | None, tmp_path: Path
):
    result = prepare_text(tmp_path, text)
    assert result.exit_code == 0, result.output
    output = " ".join(result.output.split())
    assert "⚠" not in output if warning is None else warning in output


def test_quotes_names_and_numbers_of_sentences(tmp_path: Path):
    text = 'No,Word,NE\nS 1,Ann,B-PER\n,says,O\nS 2,",",O\n,"""",O\n'
    names = ["--word-column", "Word", "--tag-column", "NE", "--sentence-column", "0"]
    result = prepare_text(tmp_path, text, "--separator", ",", *names)
    assert result.exit_code == 0, result.output
    assert find_row(result, "dev")[:3] == ["2", "4", "4"]
    options = ["--separator", ",", "--no-quotes", "--force"]
    result = prepare_text(tmp_path, '",NN,O\n', *options)
    assert find_row(result, "dev")[:3] == ["1", "1", "1"]


def test_numbers_of_words_are_not_taken_for_words(tmp_path: Path):
    result = prepare_text(tmp_path, GERMEVAL)
    assert result.exit_code == 1
    output = " ".join(result.output.split())
    assert "own.conll:2: column 0 should hold the words, but numbers" in output
    assert "tags may stand in 2 or 3" in output
    assert not (tmp_path / "output").exists() or not list(tmp_path.glob("output/*"))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            "iob -o {out} -t {file} -l en",
            "The dev split has no sentence: give a file",
        ),
        (
            "texts -o {out} --train {file} -l en",
            "own.iob:1: expected the columns 'text', 'label'",
        ),
        ("iob -o {out} --train {out}/x --dev {file} -l en", "/x"),
        (
            "iob -o {out} --train {file} --dev {broken} -l en",
            "broken.iob:1: expected at least 2 columns",
        ),
        ("iob -o {file}/out --train {file} --dev {file} -l en", "own.iob"),
    ],
)
def test_errors_are_told_without_a_traceback(
    args: str, message: str, file: Path, tmp_path: Path
):
    broken = tmp_path / "broken.iob"
    broken.write_text("Ann\n")
    output = tmp_path / "output"
    values = {"out": output, "file": file, "broken": broken}
    result = run(*(arg.format(**values) for arg in args.split()))
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "Can't prepare" in result.output
    # Long messages are wrapped.
    assert "".join(message.split()) in "".join(result.output.split())
    assert not output.exists() or not list(output.iterdir())


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("wnut17 -t own.iob -l en", "'wnut17' is not one of"),
        ("iob -t own.iob", "Missing option '--lang'"),
        ("texts -l en", "Missing option '--train'"),
    ],
)
def test_what_is_missing_is_asked_for(args: str, message: str, tmp_path: Path):
    result = run(*args.split(), "-o", tmp_path / "output")
    assert result.exit_code == 2
    # in a box
    assert message in " ".join(result.output.replace("│", " ").split())
