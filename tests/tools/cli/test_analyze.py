import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import spacy

from spacy_hashembeds.tools.analyze.analyze import analyze
from tests.configs import CONFIGS

from .running import check_refused, get_rows, run_command, squeeze, unwrap

run = partial(run_command, "analyze")


@pytest.fixture
def train(tiny_corpus) -> Path:
    return tiny_corpus / "train.spacy"


def test_everything_is_printed_and_saved(train, tmp_path):
    dev = train.with_name("dev.spacy")
    config = CONFIGS / "multi_fewer_hash_embed.cfg"
    output = tmp_path / "made" / "analysis.json"
    result = run(train, "--dev", dev, "--config", config, "-o", output)
    assert result.exit_code == 0, result.output
    data = analyze(train, dev=dev, config=config)
    assert json.loads(output.read_text()) == data
    rows = get_rows(result.output)
    keys = ("documents", "tokens", "vocabulary", "unknown", "entities")
    for split, counts in data["splits"].items():
        assert [split, *(f"{counts[k] or '-'}" for k in keys)] in rows
    suffixes = data["features"]["SUFFIX"]
    assert ["SUFFIX", *(f"{n:,}" for n in suffixes.values())] in rows
    seen = data["entities"]["dev"]
    assert ["dev", "all", str(seen["seen"]), str(seen["unseen"])] in rows
    tables = data["embedders"][0]["tables"]
    total = sum(table["parameters"] for table in tables)
    assert f"{total:,} parameters, {4 * total / 1e6:.1f} MB" in unwrap(result.output)
    norm = tables[0]
    sizes = [f"{norm[k]:,}" for k in ("rows", "parameters", "values")]
    measured = [
        cell
        for key in ("rows_never_reached", "sharing_code")
        for cell in (f"{norm[key]:,}", f"({norm[f'expected_{key}']:,.1f})")
    ]
    assert ["NORM", "hash", *sizes, "8", "1", *measured] in rows
    (advice,) = data["advice"]
    flat = squeeze(result.output)
    assert len(advice["reasons"]) > 2
    assert all(squeeze(reason) in flat for reason in advice["reasons"])


def test_tables_of_symbols_and_vectors(train, tmp_path):
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("the", np.ones(2, dtype="float32"))
    nlp.to_disk(tmp_path / "vectors")
    config = CONFIGS / "multi_weighted_hash_embed.cfg"
    vectors = tmp_path / "vectors"
    result = run(train, "--config", config, "--vectors", vectors, "--bound", 0.2)
    assert result.exit_code == 0, result.output
    data = analyze(train, config=config, vectors=vectors, bound=0.2)
    rows = get_rows(result.output)
    table = data["embedders"][0]["tables"][0]
    unknown = f"{table['unknown_values']:,}"
    share = f"{100 * table['unknown_in_train']:.1f}%"
    parts = ("components", "weights", "code")
    shared = [f"{table[f'sharing_{part}']:,}" for part in parts]
    if (expected := table.get("expected_sharing_code")) is not None:
        shared.append(f"({expected:,.1f})")
    measured = [*shared, unknown, share]
    assert ["NORM", *measured] in [[row[0], *row[-len(measured) :]] for row in rows]
    counts = data["splits"]["train"]
    assert counts["unknown"] == counts["vocabulary"] - 1
    numbers = (counts[key] for key in ("documents", "tokens", "vocabulary", "unknown"))
    assert ["train", *(f"{n:,}" for n in numbers)] in [row[:5] for row in rows]
    assert squeeze("at most 20% of the values") in squeeze(result.output)


@pytest.mark.parametrize(
    ("args", "lang"),
    [
        ([], "'xx', unless --nlp.lang is given"),
        (["--nlp.lang", "de"], "'de'."),
        (["--config", CONFIGS / "multi_embed.cfg", "--nlp.lang=nl"], "'nl'."),
    ],
)
def test_the_language_of_the_norms_is_named(train, args, lang):
    result = run(train, *args)
    assert f"Norms are those of the language {lang}" in unwrap(result.output)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["{tmp}/gone.spacy"], "There is no file or folder '{tmp}/gone.spacy'"),
        (["{train}", "--model", "{tmp}/gone"], "{tmp}/gone"),
        (["{train}", "--nlp.lang", "qq"], "qq"),
        (["{train}", "-c", "multi"], "multi"),
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


def test_a_config_of_long_lines_is_not_quoted_whole(train, tmp_path):
    config = tmp_path / "long.cfg"
    config.write_text(f'[nlp]\nlang = "{"x" * 10**6}"')
    result = run(train, "--config", config)
    check_refused(result, "Can't analyse the corpus", "xxx … xxx")
    assert len(result.output) < 3000
