import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_hashembeds.analysis.analyze import analyze
from tests.configs import CONFIGS

from .running import check_refused, get_rows, run_command, squeeze, unwrap

run = partial(run_command, "analyze")


@pytest.fixture
def train(tiny_corpus) -> Path:
    return tiny_corpus / "train.spacy"


@pytest.fixture
def dev(tiny_corpus) -> Path:
    return tiny_corpus / "dev.spacy"


def test_everything_is_printed_and_saved(train, dev, tmp_path):
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
    assert " ".join(row[-2:]) == "{:,} ({:,.1f})".format(*unused)
    reached = f"{norm['rows_reached_by_hash'][0]:,}"
    (row,) = (row for row in rows if row[:2] == ["NORM", reached])
    sharing = norm["sharing_code"], norm["expected_sharing_code"]
    assert " ".join(row[-2:]) == "{:,} ({:,.1f})".format(*sharing)
    assert ["instead:", "9", "5,000"] in [row[:3] for row in rows]
    chosen = data["advice"][0]["hashing"]
    marked = [str(chosen["num_hashes"]), "*", *map(str, chosen["rows"])]
    assert marked in [row[: len(marked)] for row in rows]
    flat = squeeze(result.output)
    reasons = data["advice"][0]["reasons"]
    assert [reason for reason in reasons if squeeze(reason) not in flat] == []
    assert result.output.index("Advice") > result.output.index("Options for lookup")


def test_entities_of_white_space_are_warned_of(tmp_path):
    doc = Doc(spacy.blank("en").vocab, words=["a", "\n"], ents=["B-X", "I-X"])
    DocBin(docs=[doc]).to_disk(tmp_path / "train.spacy")
    warning = "Invalid whitespace entity spans: 1 in train. Entity spans"
    assert warning in unwrap(run(tmp_path / "train.spacy").output)


def test_lookup_tables_and_vectors(train, tmp_path):
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("the", np.ones(2, dtype="float32"))
    nlp.to_disk(tmp_path / "vectors")
    config = CONFIGS / "multi_embed.cfg"
    settings = ("--vectors", tmp_path / "vectors", "--bound", 0.2)
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


def test_weighted_tables_and_parameters(train, dev):
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
    counts = [f"{norm[f'sharing_{part}']:,}" for part in ("components", "weights")]
    both = f"{norm['sharing_code']:,}", f"({norm['expected_sharing_code']:,.1f})"
    assert ["NORM", *counts, *both, *shares] in rows
    sizes = [f"{norm['parts'][part]:,}" for part in ("components", "weights")]
    weights = f"{norm['importance_rows']:,}"
    (row,) = (row for row in rows if row[:4] == ["NORM", weights, *sizes])
    standard = norm["standard"]["importance_rows"]
    assert row[4:] == [f"{standard:,}", f"{100 * norm['parameters'] / standard:.1f}%"]
    total = sum(table["parameters"] for table in tables)
    standard = sum(table["standard"]["vocabulary"] for table in tables)
    numbers = (f"{total:,}", f"{standard:,}", f"{100 * total / standard:.1f}%")
    assert ["all", *numbers] in rows


@pytest.mark.parametrize(
    ("args", "lang"),
    [
        ([], "'xx', unless --nlp.lang is given"),
        (["--nlp.lang", "de"], "'de'."),
        (["--config", CONFIGS / "multi_embed.cfg"], "'en'."),
        (["--config", CONFIGS / "multi_embed.cfg", "--nlp.lang=nl"], "'nl'."),
    ],
)
def test_the_language_of_the_norms_is_named(train, args, lang):
    result = run(train, *args)
    assert result.exit_code == 0, result.output
    assert f"Norms are those of the language {lang}" in unwrap(result.output)


def test_hashes_out_of_reach_are_named(train):
    out = "Out of reach, with more than 1,000,000 rows in a table: 1"
    assert out not in unwrap(run(train, "--bound", "0.1").output)
    output = run(train, "--bound", "1e-9").output
    assert out in unwrap(output)
    assert "at most 0.0000001% of the values" in unwrap(output)
    assert "1e-" not in output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["{tmp}/gone.spacy"], "There is no file or folder '{tmp}/gone.spacy'"),
        (["{train}", "--model", "{tmp}/gone"], "{tmp}/gone"),
        (["{train}", "--nlp.lang", "qq"], "Can't import language qq"),
        (["{train}", "--training.seed", "1"], "but a corpus alone has none"),
        (["{train}", "-c", "multi"], "There is no 'multi': give a .cfg file"),
        (["{train}", "-o", "{train}/out.json"], "{train}"),
    ],
)
def test_errors_are_told_without_a_traceback(train, tmp_path, args, message):
    values = {"tmp": tmp_path, "train": train}
    result = run(*(arg.format(**values) for arg in args))
    check_refused(result, "Can't analyse the corpus", message.format(**values))
    assert not list(tmp_path.glob("*.json"))


def test_settings_of_the_config_are_changed_as_in_training(train, capfd):
    rows = "--components.tok2vec.model.embed.rows"
    overrides = {rows.removeprefix("--"): [70, 50, 30, 20]}
    config = CONFIGS / "multi_hash_embed.cfg"
    result = run(train, "-c", config, "--json", rows, "[70,50,30,20]")
    assert result.exit_code == 0, result.output
    data = analyze(train, config=config, overrides=overrides)
    assert json.loads(capfd.readouterr().out) == data
    assert [t["rows"] for t in data["embedders"][0]["tables"]] == [70, 50, 30, 20]


def test_options_that_are_no_settings_are_refused(train):
    result = run(train, "--lang", "de")
    check_refused(result, "--lang", "Settings look like --training.dropout 0.2")


@pytest.mark.parametrize("text", ["{}", '[nlp]\nlang = "{}"', '[nlp]\nlang = "en"\n{}'])
def test_a_config_of_long_lines_is_not_quoted_whole(train, tmp_path, text):
    config = tmp_path / "long.cfg"
    config.write_text(text.format("x" * 10**6))
    result = run(train, "--config", config)
    check_refused(result, "Can't analyse the corpus", "xxx … xxx")
    assert len(result.output) < 3000
