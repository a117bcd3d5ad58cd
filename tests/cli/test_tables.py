import re
from pathlib import Path

import pytest
import spacy
from spacy.cli._util import app
from spacy.tokens import Doc, DocBin
from spacy.util import load_config, load_model_from_config
from typer.testing import CliRunner, Result

import spacy_hashembeds.cli  # noqa: F401
from spacy_hashembeds.layers.symboltaker import find_symbol_takers
from spacy_hashembeds.symbols import load_symbols
from tests.configs import CONFIGS


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["hashembeds", "tables", *map(str, args)])


def write(path: Path, *texts: str) -> Path:
    vocab = spacy.blank("en").vocab
    path.parent.mkdir(exist_ok=True)
    DocBin(docs=[Doc(vocab, words=t.split()) for t in texts]).to_disk(path)
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "train.spacy", "The cat saw the Cat", "a cat", "")


def get_strings(path: Path, attr: str) -> dict[str, int]:
    """The symbols in a file that were counted in the corpus, and how often."""
    table = load_symbols(path).tables[attr]
    names = ["the", "cat", "saw", "a", "The", "Cat", "x", "xxx", "Xxx"]
    strings = {spacy.blank("en").vocab.strings.add(name): name for name in names}
    return {
        strings[int(symbol)]: int(count)
        for symbol, count in zip(table.frequent, table.counts, strict=True)
    }


def test_symbols_are_counted_shown_and_saved(corpus, tmp_path):
    output = tmp_path / "made" / "tables.npz"
    options = ["--lang", "en", "--attrs", "NORM, SHAPE", "--min-freq", "2"]
    result = run(corpus, "-o", output, *options)
    assert result.exit_code == 0, result.output
    tables = load_symbols(output)
    assert (tables.lang, tables.min_freq) == ("en", 2)
    assert list(tables.tables) == ["NORM", "SHAPE"]
    assert get_strings(output, "NORM") == {"cat": 3, "the": 2}
    assert get_strings(output, "SHAPE") == {"xxx": 4, "Xxx": 2}
    lines = [re.split(r"\s{2,}", line.strip()) for line in result.output.splitlines()]
    assert ["Attribute", "Distinct", "Seen 2 times or more"] in lines
    assert ["NORM", "4", "2"] in lines
    assert ["SHAPE", "3", "2"] in lines
    assert "Saved symbol tables to" in result.output


def test_defaults_are_those_of_the_report(corpus, tmp_path):
    result = run(corpus, "-o", tmp_path / "tables.npz", "--lang", "en")
    assert result.exit_code == 0, result.output
    tables = load_symbols(tmp_path / "tables.npz")
    assert list(tables.tables) == ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
    assert tables.min_freq == 10
    assert all(len(table.frequent) == 0 for table in tables.tables.values())


def test_a_folder_of_files_is_counted_as_one(tmp_path):
    for name in ("one", "two"):
        write(tmp_path / "corpus" / f"{name}.spacy", "the cat")
    output = tmp_path / "tables.npz"
    options = ["--lang", "en", "--attrs", "ORTH", "--min-freq", "1"]
    assert run(tmp_path / "corpus", "-o", output, *options).exit_code == 0
    assert get_strings(output, "ORTH") == {"the": 2, "cat": 2}


@pytest.mark.parametrize("lang", ["en", "hi"])
def test_norms_are_those_of_the_language(tmp_path, lang):
    corpus = write(tmp_path / "train.spacy", "किताबें")
    output = tmp_path / "tables.npz"
    options = ["--lang", lang, "--attrs", "NORM", "--min-freq", "1"]
    assert run(corpus, "-o", output, *options).exit_code == 0
    tables = load_symbols(output)
    assert tables.lang == lang
    (symbol,) = tables.tables["NORM"].frequent
    # Hindi norms are stems.
    norms = {"en": "किताबें", "hi": "किताब"}
    assert symbol == spacy.blank(lang).vocab.strings.add(norms[lang])


@pytest.mark.parametrize("config", ["en", "es"])
def test_the_file_works_as_tables_of_a_config(corpus, tmp_path, config):
    output = tmp_path / "tables.npz"
    assert run(corpus, "-o", output, "--lang", "en", "--min-freq", "2").exit_code == 0
    overrides = {
        "nlp.lang": config,
        "paths.train": str(corpus),
        "paths.dev": str(corpus),
        "components.tok2vec.model.encode.width": 8,
        "components.tok2vec.model.encode.depth": 1,
        "components.tok2vec.model.embed.tables": str(output),
    }
    path = CONFIGS / "multi_embed.cfg"
    nlp = load_model_from_config(load_config(path, overrides=overrides), auto_fill=True)
    nlp.remove_pipe("ner")
    if config != "en":
        with pytest.raises(ValueError, match=r"were counted with language 'en',.*'es'"):
            nlp.initialize()
        return
    nlp.initialize()
    sizes = {
        embed.attrs["key"]: len(embed.attrs["symbols"])
        for embed in find_symbol_takers(nlp.get_pipe("tok2vec").model)
    }
    tables = load_symbols(output).tables
    assert sizes == {attr: len(table.frequent) for attr, table in tables.items()}
    assert sizes["NORM"] == 2


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["{corpus}", "-o", "{out}", "--attrs", "NORM,FOO"], "'attrs' holds 'FOO'"),
        (["{corpus}", "-o", "{out}", "--lang", "qq"], "Can't import language qq"),
        (["{empty}", "-o", "{out}"], "There is not a token in the corpus '{empty}'"),
        (
            ["{corpus}", "-o", "{out}", "--attrs", "NORM,TAG"],
            "'{corpus}' that has a value for TAG. What components set is there in",
        ),
        (
            ["{folder}", "-o", "{out}"],
            "There is no .spacy file in the folder '{folder}'",
        ),
        (["{damaged}", "-o", "{out}"], "'{damaged}' should be a .spacy file"),
        (["{corpus}", "-o", "{corpus}/tables.npz"], "{corpus}"),
    ],
)
def test_errors_are_told_without_a_traceback(corpus, tmp_path, args, message):
    (tmp_path / "folder").mkdir()
    damaged = tmp_path / "damaged.spacy"
    damaged.write_bytes(corpus.read_bytes()[:100])
    values = {
        "corpus": corpus,
        "out": tmp_path / "tables.npz",
        "empty": write(tmp_path / "empty.spacy", ""),
        "folder": tmp_path / "folder",
        "damaged": damaged,
    }
    options = [] if "--lang" in args else ["--lang", "en"]
    result = run(*(arg.format(**values) for arg in args), *options)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "Can't count the symbols" in result.output
    # Long messages are wrapped.
    expected = "".join(message.format(**values).split())
    assert expected in "".join(result.output.split())
    assert not list(tmp_path.rglob("*.npz"))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["{tmp}/gone.spacy", "-o", "{tmp}/x.npz", "--lang", "en"], "does not exist"),
        (["{corpus}", "-o", "{tmp}/x.npz"], "--lang"),
        (
            ["{corpus}", "-o", "{tmp}/x.npz", "--lang", "en", "--min-freq", "0"],
            "--min-freq",
        ),
    ],
)
def test_wrong_usage_is_told_by_typer(corpus, tmp_path, args, message):
    result = run(*(arg.format(corpus=corpus, tmp=tmp_path) for arg in args))
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert message in result.output


def test_the_corpus_is_not_replaced(corpus):
    before = corpus.read_bytes()
    result = run(corpus, "-o", corpus, "--lang", "en")
    assert result.exit_code == 1
    assert "it would replace" in " ".join(result.output.split())
    assert corpus.read_bytes() == before


def test_counted_parts_add_up_to_what_is_counted_as_one(tmp_path):
    texts = {"one": "the cat saw it", "two": "The cat 's", "three": "a cat"}
    for name, text in texts.items():
        part = write(tmp_path / "corpus" / f"{name}.spacy", text)
        output = tmp_path / "counted" / f"{name}.npz"
        assert run(part, "-o", output, "-l", "en", "-m", "1").exit_code == 0
    options = ["--lang", "en", "--min-freq", "2"]
    one, two, three = (tmp_path / f"{name}.npz" for name in ("one", "two", "three"))
    assert run(tmp_path / "corpus", "-o", one, *options).exit_code == 0
    assert run(tmp_path / "corpus", "-o", two, *options, "-j", "2").exit_code == 0
    result = run(tmp_path / "counted", "--merge", "-o", three, *options)
    assert result.exit_code == 0, result.output
    assert get_strings(three, "NORM") == {"cat": 3, "the": 2}
    assert one.read_bytes() == two.read_bytes() == three.read_bytes()


def test_it_is_said_what_counts_may_be_too_low_by(tmp_path):
    corpus = write(tmp_path / "a.spacy", " ".join(f"w{i}" for i in range(1001)), "a a")
    options = ["--lang", "en", "-a", "NORM,SHAPE", "--max-symbols", "1000"]
    result = run(corpus, "-o", tmp_path / "a.npz", *options, "-m", "2")
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert "NORM has more than 1,000 distinct symbols" in said
    assert "too low by 1 at most, and symbols seen less than 3 times may be" in said
    assert "SHAPE has more" not in said
    assert load_symbols(tmp_path / "a.npz").errors == {"NORM": 1}


def test_what_is_merged_has_all_counts(corpus, tmp_path):
    part = tmp_path / "counted" / "a.npz"
    assert run(corpus, "-o", part, "--lang", "en").exit_code == 0
    result = run(part.parent, "--merge", "-o", tmp_path / "x.npz", "--lang", "en")
    assert result.exit_code == 1
    said = "".join(result.output.split())
    assert "wascutat'min_freq'10.Countthatpartwith`--min-freq1`." in said
    assert not (tmp_path / "x.npz").exists()
