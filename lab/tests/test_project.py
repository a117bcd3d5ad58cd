"""`project.yml`: what it fetches and what it runs."""

import re
import shlex
import shutil
from contextlib import chdir
from hashlib import md5
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from spacy.cli._util import app
from typer.testing import CliRunner
from weasel.util.config import load_project_config

from benchmarks.published import PIPELINES
from lab.corpora.dataset import FETCH
from lab.corpora.datasets import DATASETS
from lab.trials.configs import CONFIGS
from lab.trials.grid import read_grid
from lab.vectors.rawtext import RAW_FILES
from tests.conftest import ROOT, find_configs

#: A command of the package or the lab, from its name on.
OURS = "(?:spacy hashembeds|lab) (.*)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A copy of the project, since loading it makes its folders."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "project.yml", folder)
    shutil.copytree(CONFIGS, folder / "configs")
    return folder


@pytest.fixture(scope="module")
def config(folder) -> dict[str, Any]:
    return load_project_config(folder)


@pytest.fixture(scope="module")
def assets(config) -> dict[str, dict[str, Any]]:
    """The assets by their place below the folder of assets."""
    places = [Path(asset["dest"]) for asset in config["assets"]]
    assert {place.parts[0] for place in places} == {"assets"}
    names = [place.relative_to("assets").as_posix() for place in places]
    assert len(set(names)) == len(names)
    return dict(zip(names, config["assets"], strict=True))


def test_the_assets_are_the_files_of_the_datasets(assets):
    files = {
        file
        for dataset in DATASETS.values()
        if dataset.remedy == FETCH
        for file in dataset.files
    }
    raw = {f"wnut17-raw/{name}" for name in RAW_FILES}
    timed = {pipeline.text for pipeline in PIPELINES}
    assert set(assets) == files | raw | timed
    for name, asset in assets.items():
        assert re.fullmatch("[0-9a-f]{32}", asset["checksum"]), name
        assert not asset.get("extra"), name


def test_checksums_are_those_of_the_files(assets, data_dir):
    found = {}
    for name, asset in assets.items():
        if (data_dir / name).is_file():
            found[name] = md5((data_dir / name).read_bytes()).hexdigest()
            assert asset.get("checksum") == found[name], name
    assert found


def test_dependencies_are_files_of_the_project_or_outputs(config):
    outputs = {out for c in config["commands"] for out in c.get("outputs", ())}
    for command in config["commands"]:
        for path in command.get("deps", ()):
            assert path in outputs or (ROOT / path).exists()


def test_the_demo_compares_what_its_grid_trains(folder):
    trials = read_grid(CONFIGS / "grids/demo.yml").expand()
    _, sweep, compare = run_dry(folder, "demo")
    assert sweep.split()[:2] == ["sweep", "demo"]
    results = compare.split()[1 : 1 + len(trials)]
    assert results == [trial.metrics.as_posix() for trial in trials]


def run_dry(folder: Path, *args: str, pattern: str = OURS) -> list[str]:
    """Let spaCy say what `spacy project run` would run, from our command's name on."""
    with chdir(folder):
        result = CliRunner().invoke(app, ["project", "run", *args, "--dry"])
    assert result.exit_code == 0, result.output
    return re.findall(f"Running command: .+ -m {pattern}", result.stdout)


def test_the_trial_workflow_passes_its_variables_on(folder):
    variables = "--vars.dataset wnut17 --vars.embedder multi_embed --vars.seed 3"
    lines = run_dry(folder, "trial", ".", *variables.split())
    assert [" ".join(line.split()) for line in lines] == [
        "prepare wnut17 -o corpus/wnut17",
        "trial wnut17 multi_embed --seed 3 --gpu-id -1 --variant default",
    ]
    assert not list((folder / "corpus").iterdir())


def test_the_vectors_workflow_hands_each_file_on(folder):
    lines = [line.split() for line in run_dry(folder, "vectors", ".")]
    assert [line[0] for line in lines] == [
        "prepare",
        "rawtext",
        "floret",
        *["trial"] * 5,
    ]
    _, rawtext, floret, *trials = lines
    text = "assets/vectors/wnut17.txt"
    assert rawtext[1:4] == ["assets/wnut17-raw", "-o", text]
    # Vectors that saw the test sentences would flatter every score.
    held_out = {value for key, value in pairwise(rawtext) if key == "--held-out"}
    assert held_out == {"corpus/wnut17/dev.spacy", "corpus/wnut17/test.spacy"}
    assert floret[1:3] == [text, "-o"]
    vectors = "assets/vectors/wnut17_floret"
    (init,) = run_dry(folder, "vectors-init", ".", pattern=r"spacy init vectors (.*)")
    assert init.split() == ["en", floret[3], vectors, "--mode", "floret"]
    embedders = {path.stem for path in find_configs("ner")}
    # of the same embedder as multi_hash_embed, and of other papers
    others = {"spacy_stock", "char_cnn", "pretrain_ner", "hash_former_embed"}
    assert {line[2] for line in trials} == embedders - others
    for line in trials:
        settings = dict(pairwise(line))
        assert settings["--variant"] == "floret"
        assert settings["--paths.vectors"] == vectors
        flag = "--components.tok2vec.model.embed.include_static_vectors"
        assert settings[flag] == "true"


def test_the_pretraining_workflow_hands_each_file_on(folder):
    variables = ["--vars.seed", "1"]
    lines = run_dry(folder, "pretraining", ".", *variables)
    prepare, rawtext, *trials = (line.split() for line in lines)
    assert prepare[0] == "prepare"
    assert rawtext[:2] == ["rawtext", "assets/wnut17-raw"]
    held_out = {value for key, value in pairwise(rawtext) if key == "--held-out"}
    assert held_out == {"corpus/wnut17/dev.spacy", "corpus/wnut17/test.spacy"}
    options = dict(pairwise(rawtext))
    assert options["--add"] == "corpus/wnut17/train.spacy"
    pattern = "spacy pretrain (.*)"
    (line,) = run_dry(folder, "pretraining-run", ".", *variables, pattern=pattern)
    config, output, *_ = line.split()
    assert (ROOT / config).is_file()
    settings = dict(pairwise(line.split()))
    assert settings["--paths.raw_text"] == options["-o"]
    assert settings["--system.seed"] == "1"
    plain, pretrained = (dict(pairwise(trial)) for trial in trials)
    assert "--variant" not in plain
    assert pretrained["--variant"] == "pretrained"
    assert pretrained["--initialize.init_tok2vec"] == f"{output}/model-last.bin"
    assert {Path(config).stem} == {trial[2] for trial in trials}
    # what the grid takes, for all seeds
    grid = read_grid(CONFIGS / "grids/pretraining.yml")
    overrides = {row.variant: row.overrides["wnut17"] for row in grid.rows}
    weights = {"initialize.init_tok2vec": f"{output}/model-last.bin"}
    assert overrides == {"default": {}, "pretrained": weights}


def test_the_textcat_workflow_compares_ours_with_spacys(folder):
    variables = ["--vars.textcat_dataset", "ag_news", "--vars.seed", "2"]
    prepare, *trials, compare = run_dry(folder, "textcat", ".", *variables)
    assert prepare == "prepare ag_news -o corpus/ag_news"
    names = [line.split()[2] for line in trials]
    assert names == ["textcat_bow", "hash_ngram_textcat"]
    results = [f"metrics/ag_news/{name}/default/seed2.json" for name in names]
    assert compare.split()[1:3] == results


def test_overrides_are_passed_on_as_words_of_their_own(folder):
    settings = "--training.dropout 0.0 --training.max_steps 5"
    # spaCy takes a value that starts with dashes for another option.
    variables = ["--vars.variant", "short", "--vars.overrides", f" {settings}"]
    (line,) = run_dry(folder, "trial-run", ".", *variables)
    assert line.endswith(f"--variant short {settings}")


def test_the_commands_in_the_docs_run(folder):
    prefix = "spacy project run "
    pages = [page.read_text(encoding="utf8") for page in (ROOT / "docs").glob("*.md")]
    lines = [line for page in pages for line in page.splitlines()]
    commands = {line.removeprefix(prefix) for line in lines if line.startswith(prefix)}
    assert commands
    for command in commands:
        assert run_dry(folder, *shlex.split(command))
