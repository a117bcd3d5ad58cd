"""docs/pretraining.md: its example, its commands, and what draws its curves."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from spacy.cli._util import app
from spacy.util import load_config
from spacy.vocab import Vocab
from thinc.api import Config
from typer.testing import CliRunner

from lab.pages import pretraining as script
from lab.trials.configs import CONFIGS
from lab.vectors.rawtext import write_raw_text
from spacy_hashembeds.corpora.docbin import read_docs
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "pretraining.md"
OBJECTIVE = "spacy-hashembeds.PretrainShuffleRandom.v1"


def read_blocks(language: str) -> list[str]:
    text = PAGE.read_text(encoding="utf8")
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [block for name, block in found if name == language]


def find_command(start: str) -> list[str]:
    """The one command of the page that begins so."""
    lines = [line for block in read_blocks("bash") for line in block.splitlines()]
    (line,) = (line for line in lines if line.startswith(start))
    return shlex.split(line)


# The example


@pytest.mark.slow
def test_ones_own_text_is_pretrained_on(tiny_corpus, tmp_path, monkeypatch, caplog):
    """The section from top to bottom, but for the size of all."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "mine").symlink_to(tiny_corpus)
    held_out = next(read_docs(tiny_corpus / "test.spacy", Vocab())).text
    texts = [f"A line that is new, number {i}" for i in range(20)]
    lines = "\n".join([*texts, f" {held_out}  "])
    Path("lines.txt").write_text(lines, encoding="utf8")
    write_config()
    run(find_command("spacy init fill-config config.cfg"))
    replace_sections(Path("filled.cfg"))
    pretrain = find_command("spacy pretrain filled.cfg")
    run([*pretrain, "--pretraining.max_epochs", "2"])
    assert "Texts: 21, but 1 to exclude" in caplog.text
    assert "Held-out loss after epoch 0" in caplog.text
    assert len((Path("pretrained") / "log.jsonl").read_text().splitlines()) == 3
    run([*find_command("spacy train filled.cfg"), "--training.max_steps", "2"])
    assert (Path("training/mine/model-last") / "config.cfg").is_file()


def replace_sections(path: Path) -> None:
    """Put the sections of the page in the place of those of the same names."""
    text = path.read_text(encoding="utf8")
    (block,) = read_blocks("ini")
    for section in block.strip().split("\n\n"):
        name = re.escape(section.splitlines()[0])
        text, n = re.subn(rf"^{name}\n(.+\n)+", section + "\n", text, flags=re.M)
        assert n == 1
    path.write_text(text, encoding="utf8")


def write_config() -> None:
    """A config of one's own: one that comes with us, with small layers."""
    sizes = {
        "components.tok2vec.model.encode.width": 8,
        "components.tok2vec.model.encode.depth": 1,
        "components.tok2vec.model.embed.rows": [100, 20, 50, 20],
        "training.eval_frequency": 1,
    }
    config = load_config(CONFIGS / "multi_fewer_hash_embed.cfg", overrides=sizes)
    config["nlp"].pop("after_pipeline_creation")
    config.to_disk("config.cfg")


def run(command: list[str]) -> None:
    assert command[0] == "spacy"
    result = CliRunner().invoke(app, command[1:])
    assert result.exit_code == 0, result.output


def test_settings_are_those_of_the_page():
    """The objective is as the config has it that comes with us."""
    config = load_config(CONFIGS / "pretrain_ner.cfg")
    assert config["pretraining"]["objective"]["@architectures"] == OBJECTIVE
    (block,) = read_blocks("ini")
    written = Config().from_str("[corpora]\n\n" + block, interpolate=False)
    section = written["pretraining"]
    assert section["objective"]["@architectures"] == OBJECTIVE


def test_what_is_said_of_the_text_is_so(data_dir, prepare_real, tmp_path):
    corpus = prepare_real("wnut17")
    counts = write_raw_text(
        data_dir / "wnut17-raw",
        tmp_path / "raw.spacy",
        held_out=[corpus / "dev.spacy", corpus / "test.spacy"],
        added=[corpus / "train.spacy"],
    )
    text = " ".join(PAGE.read_text(encoding="utf8").split())
    assert f"{counts.lines:,} texts of {counts.tokens:,} tokens" in text


# The curves


def write_log(path: Path, *records: tuple[int, float, int]) -> Path:
    """A log as `spacy pretrain` writes it: words, loss, and epoch."""
    path.parent.mkdir(exist_ok=True)
    lines = [
        {"nr_word": words, "loss": loss, "epoch_loss": 0.0, "epoch": epoch}
        for words, loss, epoch in records
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


FIRST = [(1000, 1100.0, 0), (2000, 1600.0, 1)]
LAST = (3000, 1900.0, 2)


@pytest.mark.parametrize(
    ("records", "curve"),
    [
        # a point is what came since the last
        ([*FIRST, LAST, LAST], [(0.001, 1.1), (0.002, 0.5), (0.003, 0.3)]),
        # a run that goes on
        ([*FIRST, (500, 200.0, 2)], [(0.001, 1.1), (0.002, 0.5), (0.0025, 0.4)]),
        # one that begins anew
        ([*FIRST, (500, 200, 0)], [(0.0005, 0.4)]),
    ],
)
def test_a_curve_is_that_of_the_last_run(records, curve, tmp_path):
    found = script.read_curve(write_log(tmp_path / "log.jsonl", *records))
    np.testing.assert_allclose(found, curve)


def test_losses_of_few_words_are_not_drawn():
    curve = [(0.3, 1.0), (0.6, 0.8), (0.61, 0.3), (0.9, 0.7)]
    assert script._drop_short(curve) == [curve[0], curve[1], curve[3]]


def test_curves_are_drawn(tmp_path):
    write_log(tmp_path / "logs" / "one.jsonl", (1000, 1100.0, 0), (2000, 1600.0, 1))
    write_log(tmp_path / "logs" / "two.jsonl", (1000, 900.0, 0))
    curves = script.read_curves(tmp_path / "logs")
    assert list(curves) == ["one", "two"]
    script.draw_curves(curves, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_numbers_of_who_guesses_are_those_of_the_page():
    text = PAGE.read_text(encoding="utf8")
    assert f"{script.GUESS:.3f}, that of knowing" in text
    assert f"{np.log(3):.3f}, ln 3" in text
