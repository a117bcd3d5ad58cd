"""docs/glue.md: its tasks, files, metrics and steps are those of the code."""

import re

from spacy.util import load_config

from lab.corpora.datasets import DATASETS
from spacy_hashembeds.evaluation.glue import LABELS, METRICS
from tests.conftest import GLUE_CONFIGS, ROOT

PAGE = (ROOT / "docs" / "glue.md").read_text(encoding="utf8")
METRIC_NAMES = {
    "accuracy": "accuracy",
    "f1": "F1",
    "matthews": "Matthews correlation",
    "pearson": "Pearson correlation",
    "spearman": "Spearman correlation",
}


def test_labels_and_files_of_each_task_are_named():
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| `(.+)/\{(.+)\}\.tsv` \|$", PAGE, re.M)
    named = {
        task: (
            tuple(re.findall("`(.+?)`", labels)),
            tuple(f"glue/{folder}/{file}.tsv" for file in files.split(",")),
        )
        for task, labels, folder, files in rows
    }
    assert named == {
        task: (labels, DATASETS[f"glue_{task}"].files)
        for task, labels in LABELS.items()
    }


def test_metrics_of_each_task_are_named():
    section = PAGE.partition("\n| task | `glue_score` |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines()[2:]]
    named = {
        task: " ".join(cells)
        for names, *cells in rows
        for task in re.findall(r"`(\w+)`", names)
    }
    assert named.keys() == METRICS.keys()
    for task, metrics in METRICS.items():
        places = [named[task].index(METRIC_NAMES[metric]) for metric in metrics]
        assert places == sorted(places)
        others = METRIC_NAMES.keys() - set(metrics)
        assert not any(METRIC_NAMES[other] in named[task] for other in others)


def test_what_the_commands_set_is_in_the_configs():
    """A misspelt setting would be an error of `spacy train` only."""
    named = set(re.findall(r"--([a-z]+\.[\w.]+)", PAGE))
    assert {"components.textcat.factory", "initialize.init_tok2vec"} <= named
    for path in GLUE_CONFIGS:
        config = load_config(path)
        for setting in named:
            section = config
            for key in setting.split("."):
                assert key in section, setting
                section = section[key]
