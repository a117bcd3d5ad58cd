import json
import re
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.cli._util import app
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner, Result

import spacy_hashembeds.cli  # noqa: F401
from spacy_hashembeds.analysis.analyze import analyze
from tests.configs import CONFIGS


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["hashembeds", "analyze", *map(str, args)])


def get_rows(output: str) -> list[list[str]]:
    return [re.split(r"\s{2,}", line.strip()) for line in output.splitlines()]


def squeeze(text: str) -> str:
    """Long messages are wrapped."""
    return "".join(text.split())


def test_everything_is_printed_and_saved(tiny_corpus, tmp_path):
    train, dev = tiny_corpus / "train.spacy", tiny_corpus / "dev.spacy"
    config = CONFIGS / "multi_fewer_hash_embed.cfg"
    output = tmp_path / "made" / "analysis.json"
    result = run(train, "--dev", dev, "--config", config, "-o", output)
    assert result.exit_code == 0, result.output
    data = analyze(train, dev=dev, config=config)
    assert json.loads(output.read_text()) == data
    rows = get_rows(result.output)
    splits = data["splits"].values()
    assert ["Tokens", *(f"{counts['tokens']:,}" for counts in splits)] in rows
    assert ["Unknown", "-", "-"] in rows
    means = [f"{counts['entities_per_document']:.2f}" for counts in splits]
    assert ["Entities/doc", *means] in rows
    suffixes = data["features"]["SUFFIX"]
    assert ["SUFFIX", *(f"{n:,}" for n in suffixes.values())] in rows
    seen = data["entities"]["dev"]
    assert ["dev", "all", str(seen["seen"]), str(seen["unseen"])] in rows
    norm = data["embedders"][0]["tables"][0]
    (row,) = (row for row in rows if row[:3] == ["NORM", "8", "5,000"])
    assert row[3:5] == ["1", f"{norm['values']:,}"]
    unused = norm["rows_never_reached"], norm["expected_rows_never_reached"]
    assert row[-1] == "{:,} ({:,.1f})".format(*unused)
    reached = f"{norm['rows_reached_by_hash'][0]:,}"
    (row,) = (row for row in rows if row[:2] == ["NORM", reached])
    assert row[-1] == f"{norm['sharing_code']} ({norm['expected_sharing_code']:,.1f})"
    assert ["instead:", "9", "5,000"] in [row[:3] for row in rows]
    chosen = data["advice"][0]["hashing"]
    first = f"{chosen['num_hashes']} *"
    assert [first, " ".join(map(str, chosen["rows"]))] in [row[:2] for row in rows]
    flat = squeeze(result.output)
    for reason in data["advice"][0]["reasons"]:
        assert squeeze(reason) in flat
    assert result.output.index("Advice") > result.output.index("Options for lookup")


def test_entities_of_white_space_are_warned_of(tmp_path):
    doc = Doc(spacy.blank("en").vocab, words=["a", "\n"], ents=["B-X", "I-X"])
    DocBin(docs=[doc]).to_disk(tmp_path / "train.spacy")
    warning = squeeze("Invalid whitespace entity spans: 1 in train. Entity spans")
    assert warning in squeeze(run(tmp_path / "train.spacy").output)


def test_lookup_tables_and_vectors(tiny_corpus, tmp_path):
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("the", np.ones(2, dtype="float32"))
    nlp.to_disk(tmp_path / "vectors")
    train = tiny_corpus / "train.spacy"
    config = CONFIGS / "multi_embed.cfg"
    settings = ["--vectors", tmp_path / "vectors", "--bound", "0.2"]
    result = run(train, "--config", config, *settings)
    assert result.exit_code == 0, result.output
    data = analyze(train, config=config, vectors=tmp_path / "vectors", bound=0.2)
    rows = get_rows(result.output)
    table = data["embedders"][0]["tables"][0]
    shares = [f"{100 * table['unknown_share']['train']:.1f}%"]
    keys = ("rows", "parameters", "values", "unknown_values")
    assert ["NORM", *(f"{table[key]:,}" for key in keys), *shares] in rows
    unknown = data["splits"]["train"]["unknown"]
    assert unknown == data["splits"]["train"]["vocabulary"] - 1
    assert ["Unknown", f"{unknown:,}"] in rows
    assert squeeze("of width 96 in which at most 20%") in squeeze(result.output)


def test_weighted_tables_and_parameters(tiny_corpus):
    train, dev = tiny_corpus / "train.spacy", tiny_corpus / "dev.spacy"
    config = CONFIGS / "multi_weighted_hash_embed.cfg"
    result = run(train, "--dev", dev, "--config", config)
    assert result.exit_code == 0, result.output
    data = analyze(train, dev=dev, config=config)
    rows = get_rows(result.output)
    tables = data["embedders"][0]["tables"]
    norm = tables[0]
    shares = [
        f"{100 * norm['unknown_share'][split]:.1f}%" for split in ("train", "dev")
    ]
    both = f"{norm['sharing_code']:,} ({norm['expected_sharing_code']:,.1f})"
    counts = [f"{norm[f'sharing_{part}']:,}" for part in ("components", "weights")]
    assert ["NORM", *counts, both, *shares] in rows
    sizes = [f"{norm['parts'][part]:,}" for part in ("components", "weights")]
    weights = f"{norm['importance_rows']:,}"
    (row,) = (row for row in rows if row[:4] == ["NORM", weights, *sizes])
    standard = norm["standard"]["importance_rows"]
    assert row[4:] == [f"{standard:,}", f"{100 * norm['parameters'] / standard:.1f}%"]
    total = sum(table["parameters"] for table in tables)
    standard = sum(table["standard"]["vocabulary"] for table in tables)
    numbers = (f"{total:,}", f"{standard:,}", f"{100 * total / standard:.1f}%")
    assert ["all", *numbers] in [[cell for cell in row if cell] for row in rows]


def test_the_language_of_the_norms_is_named(tiny_corpus):
    train = tiny_corpus / "train.spacy"
    config = CONFIGS / "multi_embed.cfg"
    for args, lang in (
        ([], "'xx', unless --nlp.lang is given"),
        (["--nlp.lang", "de"], "'de'."),
        (["--config", config], "'en'."),
        (["--config", config, "--nlp.lang=nl"], "'nl'."),
    ):
        result = run(train, *args)
        assert result.exit_code == 0, result.output
        message = f"Norms are those of the language {lang}"
        assert squeeze(message) in squeeze(result.output)


def test_hashes_out_of_reach_are_named(tiny_corpus):
    train = tiny_corpus / "train.spacy"
    out = squeeze("Out of reach, with more than 1,000,000 rows in a table: 1")
    assert out not in squeeze(run(train, "--bound", "0.1").output)
    output = run(train, "--bound", "1e-9").output
    assert out in squeeze(output)
    assert squeeze("at most 0.0000001% of the values") in squeeze(output)
    assert "1e-" not in output


def test_a_corpus_alone_and_an_empty_one(tiny_corpus, tmp_path):
    assert run(tiny_corpus / "train.spacy", "--nlp.lang", "de").exit_code == 0
    DocBin(docs=[Doc(spacy.blank("en").vocab)]).to_disk(tmp_path / "empty.spacy")
    result = run(tmp_path / "empty.spacy", "--dev", tmp_path / "empty.spacy")
    assert result.exit_code == 0, result.output
    message = "There is not a token in the training corpus"
    assert squeeze(message) in squeeze(result.output)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["{tmp}/gone.spacy"], "There is no file or folder '{tmp}/gone.spacy'"),
        (["{tmp}/damaged.spacy"], "'{tmp}/damaged.spacy' should be a .spacy file"),
        (["{tmp}"], "Give the file that is meant: '{tmp}/train.spacy' or"),
        (["{tmp}/notes.txt"], "is text. Convert files with one token a line with"),
        (["{train}", "--config", "{tmp}/gone.cfg"], "no '{tmp}/gone.cfg': give"),
        (["{train}", "--config", "{tmp}/notes.txt"], "'{tmp}/notes.txt' should be a"),
        (["{train}", "--model", "{tmp}/notes.txt"], "'{tmp}/notes.txt' should be a"),
        (["{train}", "--model", "{tmp}/gone"], "{tmp}/gone"),
        (["{train}", "--vectors", "{tmp}/gone"], "{tmp}/gone"),
        (["{train}", "--nlp.lang", "qq"], "Can't import language qq"),
        (["{train}", "--nlp.lang", "5"], "Can't import language 5"),
        (["{train}", "--training.seed", "1"], "but a corpus alone has none"),
        (["{train}", "-c", "multi"], "There is no 'multi': give a .cfg file"),
        (["{train}", "--bound", "2"], "'bound' should be above 0 and below 1"),
        (["{train}", "-o", "{train}/out.json"], "{train}"),
    ],
)
def test_errors_are_told_without_a_traceback(tiny_corpus, tmp_path, args, message):
    train = tiny_corpus / "train.spacy"
    (tmp_path / "damaged.spacy").write_bytes(train.read_bytes()[:100])
    (tmp_path / "notes.txt").write_text("EU B-ORG\n", encoding="utf8")
    for name in ("train", "dev"):
        DocBin(docs=[]).to_disk(tmp_path / f"{name}.spacy")
    values = {"tmp": tmp_path, "train": train}
    result = run(*(arg.format(**values) for arg in args))
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "Can't analyse the corpus" in result.output
    assert squeeze(message.format(**values)) in squeeze(result.output)
    assert not list(tmp_path.glob("*.json"))


def test_settings_of_the_config_are_changed_as_in_training(tiny_corpus, capfd):
    train = tiny_corpus / "train.spacy"
    rows = "--components.tok2vec.model.embed.rows"
    overrides = {rows.removeprefix("--"): [70, 50, 30, 20]}
    config = CONFIGS / "multi_hash_embed.cfg"
    result = run(train, "-c", config, "--json", rows, "[70,50,30,20]")
    assert result.exit_code == 0, result.output
    data = analyze(train, config=config, overrides=overrides)
    assert json.loads(capfd.readouterr().out) == data
    assert [t["rows"] for t in data["embedders"][0]["tables"]] == [70, 50, 30, 20]


def test_options_that_are_no_settings_are_refused(tiny_corpus):
    result = run(tiny_corpus / "train.spacy", "--lang", "de")
    assert result.exit_code == 1
    assert "--lang" in result.output
    assert "Settings look like --training.dropout 0.2" in result.output


@pytest.mark.parametrize("text", ["{}", '[nlp]\nlang = "{}"', '[nlp]\nlang = "en"\n{}'])
def test_a_config_of_long_lines_is_not_quoted_whole(tiny_corpus, tmp_path, text):
    config = tmp_path / "long.cfg"
    config.write_text(text.format("x" * 10**6))
    result = run(tiny_corpus / "train.spacy", "--config", config)
    assert result.exit_code == 1
    assert "Can't analyse the corpus" in result.output
    assert "xxx … xxx" in " ".join(result.output.split())
    assert len(result.output) < 3000
