import json
from functools import partial
from pathlib import Path

import pytest

from spacy_hashembeds.tools.analyze.analyze import analyze
from tests.configs import CONFIGS

from ... import toy_ner
from .running import check_refused, get_rows, run_command, squeeze, try_command

run = partial(run_command, "analyze")


@pytest.fixture
def train() -> Path:
    """Write a training corpus of six tokens, and dev.spacy."""
    for name, texts in {
        "train": ["Anna|PER sings in Oslo|LOC", "Ben|PER sings"],
        "dev": ["Anna|PER saw Dora|PER"],
    }.items():
        docs = [toy_ner.make_doc(text) for text in texts]
        toy_ner.write(Path(f"{name}.spacy"), docs)
    return Path("train.spacy")


FOUND = """
Split Documents Tokens Words No vector Entities
train 2 6 5 - 3
dev 1 3 3 - 2
dev all 1 1
Attribute Values Seen once 10 times or more
SHAPE 4 2 0
Attribute Kind Rows Parameters Values Seed Hashes Unused rows Shared
NORM hash 5,000 480,000 5 8 1 4,995 (4,995.0) 0 (0.0)
SHAPE hash 2,500 240,000 4 11 1 2,496 (2,496.0) 0 (0.0)
The tables have 1,200,000 parameters, 4.8 MB. Of 5 distinct words, 0 share all
"""


def test_the_analysis_is_printed_and_saved(train):
    dev = train.with_name("dev.spacy")
    config = CONFIGS / "multi_fewer_hash_embed.cfg"
    output = Path("made/analysis.json")
    result = run(train, "--dev", dev, "--config", config, "-o", output)
    data = analyze(train, dev=dev, config=config)
    assert json.loads(output.read_text()) == data
    shown = get_rows(result.output)
    assert [line for line in get_rows(FOUND) if line not in shown] == []
    (advice,) = data["advice"]
    assert len(advice["reasons"]) == 2
    assert all(squeeze(each) in squeeze(result.output) for each in advice["reasons"])


def test_tables_of_symbols_are_printed(train):
    config = CONFIGS / "multi_weighted_hash_embed.cfg"
    result = run(train, "--config", config)
    row = "NORM weighted 5,000 480,004 5 9 2 4,990 0 4 0 (0.0) 4 66.7%"
    assert row.split() in get_rows(result.output)


def test_settings_of_the_config_can_be_changed(train, capfd):
    rows = "--components.tok2vec.model.embed.rows"
    config = CONFIGS / "multi_hash_embed.cfg"
    run(train, "-c", config, "--json", rows, "[70,50,30,20]")
    tables = json.loads(capfd.readouterr().out)["embedders"][0]["tables"]
    assert [table["rows"] for table in tables] == [70, 50, 30, 20]


def test_unknown_options_are_refused(train):
    result = try_command("analyze", train, "--lang", "de")
    check_refused(result, "--lang", "Settings look like --training.dropout 0.2")


def test_quotes_of_long_configs_are_cut(train):
    config = Path("long.cfg")
    config.write_text(f'[nlp]\nlang = "{"x" * 10**6}"')
    result = try_command("analyze", train, "--config", config)
    check_refused(result, "Can't analyze the corpus", "xxx … xxx")
    assert len(result.output) < 3000
