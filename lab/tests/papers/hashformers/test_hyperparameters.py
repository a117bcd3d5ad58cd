from pathlib import Path

import pytest

from lab.papers.hashformers.hyperparameters import (
    CONFIG,
    make_hyperparameter_tables,
)
from lab.trials import configs

from ..test_report import NONE

#: With what a variable stands for, a schedule, and a section that lacks much.
TEXT = """
[paths]
train = null

[system]
dropout = 0.1

[training]
max_epochs = 5
dropout = ${system.dropout}
eval_frequency = 48

[training.optimizer]
@optimizers = "Adam.v1"
beta1 = 0.9
beta2 = 0.999
eps = 0.000001
L2 = 0.0

[training.optimizer.learn_rate]
@schedules = "warmup_linear.v1"
initial_rate = 0.00003
warmup_steps = 10
total_steps = 100

[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = 32

[pretraining]
max_epochs = 10

[pretraining.optimizer]
learn_rate = 0.00005
"""


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A current folder that has no such config, nor has the package."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    monkeypatch.setattr(configs, "CONFIGS", tmp_path / "configs")
    return tmp_path


def read_rows(number: int) -> dict[str, tuple[str, str, str]]:
    return {row[0]: row[1:] for row in make_hyperparameter_tables()[number].rows}


def test_the_papers_stand_beside_those_of_the_config(project):
    (project / f"configs/{CONFIG}.cfg").write_text(TEXT)
    rows = read_rows(5)
    assert {name: ours for name, (_, ours, _) in rows.items()} == {
        "Maximum train epochs": "5",
        "Batch size (per GPU)": "32",
        "Adam ε": "1e-06",
        "Adam β1": "0.9",
        "Adam β2": "0.999",
        "Peak learning rate": "3e-05",
        "Learning rate schedule": "warmup_linear.v1 (initial_rate = 3e-05, "
        "warmup_steps = 10, total_steps = 100)",
        "Warmup steps": "10",
        "Weight decay": "0",
        "Attention Dropout": NONE,
        "Dropout": "0.1",
        "Evaluation steps": "48",
    }
    assert rows["Adam ε"] == ("1e-6", "1e-06", "training.optimizer.eps")
    rows = read_rows(4)
    assert rows["Maximum train epochs"][:2] == ("10 epochs", "10")
    # one without a schedule
    assert rows["Learning rate schedule"][1] == "5e-05"
    assert rows["Peak learning rate"][1] == rows["Dropout"][1] == NONE
    assert rows["Sequence length"][2] == "components.tok2vec.model.encode.max_length"


def test_without_the_config_the_papers_stand_alone(project):
    tables = make_hyperparameter_tables()
    assert list(tables) == [4, 5]
    for table in tables.values():
        assert {row[2] for row in table.rows} == {NONE}
        assert table.headings[2] == "glue_base.cfg"
        assert all(len(row) == len(table.headings) for row in table.rows)


def test_a_damaged_config_is_refused(project):
    (project / f"configs/{CONFIG}.cfg").write_text("[training\n")
    with pytest.raises(ValueError, match="no section headers"):
        make_hyperparameter_tables()


@pytest.mark.parametrize("text", ["[training]\noptimizer = 3", "[pretraining]\n"])
def test_settings_that_are_none_leave_gaps(text, project):
    (project / f"configs/{CONFIG}.cfg").write_text(text)
    assert read_rows(5)["Adam ε"][1] == NONE
    assert read_rows(4)["Maximum train epochs"][1] == NONE
