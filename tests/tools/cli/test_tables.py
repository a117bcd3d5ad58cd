import json
from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.util import load_config, load_model_from_config

from spacy_hashembeds.architectures.symbols import load_symbols
from spacy_hashembeds.layers.symboltaker import find_symbol_takers
from tests.configs import CONFIGS

from .running import check_refused, get_rows, run_command, unwrap

run = partial(run_command, "tables")


def write(path: Path, *texts: str) -> Path:
    vocab = spacy.blank("en").vocab
    path.parent.mkdir(exist_ok=True, parents=True)
    DocBin(docs=[Doc(vocab, words=t.split()) for t in texts]).to_disk(path)
    return path


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch) -> Path:
    """A corpus in the current folder."""
    monkeypatch.chdir(tmp_path)
    return write(Path("train.spacy"), "The cat saw the Cat", "a cat", "")


def get_strings(path: str, attr: str) -> dict[str, int]:
    """The symbols in a file that were counted in the corpus, and how often."""
    table = load_symbols(path).tables[attr]
    names = ["the", "cat", "saw", "a", "x", "xxx", "Xxx", "come", "first"]
    strings = {spacy.blank("en").vocab.strings.add(name): name for name in names}
    return {
        strings[int(symbol)]: int(count)
        for symbol, count in zip(table.frequent, table.counts, strict=True)
    }


def test_symbols_are_counted_shown_and_saved(corpus):
    output = "made/tables.npz"
    options = ("--lang", "en", "--attrs", "NORM, SHAPE,NORM", "--min-freq", 2)
    result = run(corpus, "-o", output, *options)
    assert result.exit_code == 0, result.output
    tables = load_symbols(output)
    assert (tables.lang, tables.min_freq) == ("en", 2)
    assert list(tables.tables) == ["NORM", "SHAPE"]
    assert get_strings(output, "NORM") == {"cat": 3, "the": 2}
    assert get_strings(output, "SHAPE") == {"xxx": 4, "Xxx": 2}
    shown = get_rows(result.output)
    assert "Attribute Distinct Seen 2 times or more".split() in shown
    assert shown.count(["NORM", "4", "2"]) == 1
    assert ["SHAPE", "3", "2"] in shown
    assert "Saved symbol tables to" in result.output


def test_defaults_are_those_of_the_report(corpus):
    result = run(corpus, "-o", "tables.npz", "--lang", "en")
    assert result.exit_code == 0, result.output
    tables = load_symbols("tables.npz")
    assert list(tables.tables) == ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
    assert tables.min_freq == 10
    assert all(len(table.frequent) == 0 for table in tables.tables.values())


@pytest.mark.parametrize("lang", ["en", "es"])
def test_the_file_works_as_tables_of_a_config_in_its_language(corpus, lang):
    assert run(corpus, "-o", "a.npz", "--lang", "en", "--min-freq", 2).exit_code == 0
    overrides = {
        "nlp.lang": lang,
        "paths.train": str(corpus),
        "paths.dev": str(corpus),
        "components.tok2vec.model.encode.width": 8,
        "components.tok2vec.model.encode.depth": 1,
        "components.tok2vec.model.embed.tables": "a.npz",
    }
    path = CONFIGS / "multi_embed.cfg"
    nlp = load_model_from_config(load_config(path, overrides=overrides), auto_fill=True)
    nlp.remove_pipe("ner")
    if lang != "en":
        with pytest.raises(ValueError, match=r"were counted with language 'en',.*'es'"):
            nlp.initialize()
        return
    nlp.initialize()
    sizes = {
        embed.attrs["key"]: len(embed.attrs["symbols"])
        for embed in find_symbol_takers(nlp.get_pipe("tok2vec").model)
    }
    tables = load_symbols("a.npz").tables
    assert sizes == {attr: len(table.frequent) for attr, table in tables.items()}
    assert sizes["NORM"] == 2


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("train.spacy --attrs NORM,FOO", "'attrs' holds 'FOO'"),
        ("train.spacy --lang lex_attrs", "'lang' should be the code of a language"),
        ("empty.spacy", "There is not a token in the corpus 'empty.spacy'"),
        (
            "train.spacy --attrs NORM,TAG",
            "'train.spacy' that has a value for TAG. What components set is there in",
        ),
    ],
)
def test_errors_are_told_without_a_traceback(corpus, args, message):
    write(Path("empty.spacy"), "")
    lang = () if "--lang" in args else ("--lang", "en")
    result = run("-o", "tables.npz", *lang, *args.split())
    check_refused(result, "Can't count the symbols", message)
    assert not Path("tables.npz").exists()


@pytest.mark.usefixtures("corpus")
def test_texts_are_parts_too():
    parts = Path("parts")
    parts.mkdir()
    (parts / "a.txt").write_text("The cat saw\n\nthe Cat\n")
    lines = [json.dumps({"text": text}) for text in ("a cat", "a\nb")]
    (parts / "b.jsonl").write_text("\n".join(lines))
    (parts / ".hidden.txt").write_text("the cat saw")
    options = ("--lang", "en", "--min-freq", 2)
    assert run(parts, "-o", "texts.npz", *options).exit_code == 0
    assert get_strings("texts.npz", "NORM") == {"cat": 3, "the": 2, "a": 2}
    write(parts / "c.spacy", "Docs come first")
    write(parts / "more" / "d.spacy", "come first")
    assert run(parts, "-o", "docs.npz", *options).exit_code == 0
    assert get_strings("docs.npz", "NORM") == {"come": 2, "first": 2}


def test_it_is_said_what_counts_may_be_too_low_by(corpus):
    write(corpus, " ".join(f"w{i}" for i in range(1001)), "a a")
    options = ("--lang", "en", "-a", "NORM,SHAPE", "--max-symbols", 1000)
    result = run(corpus, "-o", "a.npz", *options, "-m", 2)
    assert result.exit_code == 0, result.output
    said = unwrap(result.output)
    assert "NORM has more than 1,000 distinct symbols" in said
    assert "too low by 1 at most, and symbols seen less than 3 times may be" in said
    assert "SHAPE has more" not in said


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-o", "novel.txt"], 1, "'output' should end in .npz, but is 'novel.txt'"),
        (
            ["-o", "s.npz", "--min-freq", 2**63],
            2,
            "less than or equal to 2147483648",
        ),
    ],
)
def test_what_could_not_be_read_again_is_not_written(corpus, options, code, message):
    Path("novel.txt").write_text("my only copy")
    result = run(corpus, "--lang", "en", *options)
    assert result.exit_code == code
    assert message in unwrap(result.output)
    assert Path("novel.txt").read_text() == "my only copy"
    assert not Path("s.npz").exists()
