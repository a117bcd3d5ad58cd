"""Embedders take part by their descriptions alone, whichever package they are of."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path

import pytest
from spacy.util import registry

from spacy_hashembeds.architectures.descriptions import (
    find_description,
    get_description,
    get_descriptions,
    list_names,
)

from ..tools.config import toy_configs as toys
from .outside import DESCRIPTION, ToyColumn

ENTRY_POINTS = """
[spacy_architectures]
toy.ToyEmbed.v1 = outside:ToyEmbed
[spacy_hashembeds_embedders]
toy_embed = outside:DESCRIPTION
"""

#: What people do with an embedder, in a process that finds the other package.
USE = """
import json, sys
import spacy
from spacy.cli._util import app
from spacy.util import load_model_from_config
from typer.testing import CliRunner
from spacy_hashembeds import analyze
from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.tools.config.configure import configure
from spacy_hashembeds.training.docbin import read_examples
from spacy_hashembeds.architectures.symbols import save_symbols
from spacy_hashembeds.training.counting import count_values, cut_symbols

base, train = sys.argv[1:]
spacy.registry.cli.get_all()  # by which spaCy's command finds ours
made = configure(base, embedder="toy_embed", train=train, encoder=False, blas=False)
config = made.config.interpolate()
open("made.cfg", "w").write(made.text)
back = configure("made.cfg", embedder="multi_fewer_hash_embed").config.interpolate()
analysis = analyze(train, config=config)
config["initialize"]["before_init"] = None
embed = config["components"]["tok2vec"]["model"]["embed"]
embed["tables"] = "symbols.npz"
nlp = load_model_from_config(config, auto_fill=True)
examples = list(read_examples(train, nlp))
counts = count_values((example.reference for example in examples), embed["attrs"])
save_symbols("symbols.npz", cut_symbols(counts, min_freq=1, lang="en"))
nlp.initialize(lambda: examples)
nlp.update(examples)
nlp.to_disk("trained")
report = accelerate_folder("trained", "faster", ["Anna sees Paris"], rounds=1)
print(json.dumps({
    "config": embed,
    "help": CliRunner().invoke(app, ["hashembeds", "config", "--help"]).output,
    "changes": [change.why for change in made.changes],
    "callback": made.config["initialize"]["before_init"],
    "back": back["components"]["tok2vec"]["model"]["embed"]["@architectures"],
    "callback_back": back["initialize"]["before_init"],
    "analysis": analysis,
    "shown": str(analysis),
    "report": [report.converted, report.left],
    "faster": spacy.load("faster").config["components"]["tok2vec"]["model"],
}))
"""


def install(folder: Path, name: str, entry_points: str) -> None:
    """Have a package without code in a folder, with what it registers."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(entry_points)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with another package, installed, and a config and a corpus."""
    folder = tmp_path_factory.mktemp("outside")
    shutil.copy(Path(__file__).with_name("outside.py"), folder)
    install(folder, "outside", ENTRY_POINTS)
    toys.write_base(folder / "base.cfg", ["ner"])
    toys.write_corpus(folder / "train.spacy")
    return folder


@pytest.fixture(scope="module")
def used(folder) -> dict:
    paths = [str(folder), *filter(None, sys.path)]
    done = subprocess.run(
        [sys.executable, "-c", USE, "base.cfg", "train.spacy"],
        **{"cwd": folder, "capture_output": True, "text": True},
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout.splitlines()[-1])


def test_config_puts_in_an_embedder_of_another_package(used):
    embed = used["config"]
    assert embed["@architectures"] == "toy.ToyEmbed.v1"
    arguments = {"width", "attrs", "rows", "tables", "include_static_vectors"}
    assert set(embed) == {"@architectures", *arguments}
    (why,) = [why for why in used["changes"] if "in turns" in why]
    assert why.startswith("In place of spacy.MultiHashEmbed.v2: rows in turns")
    assert used["callback"]["@callbacks"] == "spacy-hashembeds.count_symbols.v1"
    assert "toy_embed" in used["help"]


def test_config_takes_an_embedder_of_another_package_out(used):
    assert used["back"] == "spacy-hashembeds.MultiFewerHashEmbed.v1"
    assert used["callback_back"] is None


def test_analyze_measures_an_embedder_of_another_package(used):
    (embedder,) = used["analysis"]["embedders"]
    assert embedder["component"] == "tok2vec"
    for table in embedder["tables"]:
        assert table["kind"] == "toy"
        # no symbol is seen too rarely, and all others have the first row
        assert table["sharing_code"] < table["values"] <= table["rows"]
        assert table["parameters"] == table["rows"] * table["width"]
    assert "Tables of 'tok2vec', of kind 'toy'" in used["shown"]


CLAIMING = replace(DESCRIPTION, name="claims", tables={"hashembed": ToyColumn})

#: Entry points that can't be used, and why.
BROKEN = {
    "gone = gone.nothing:DESCRIPTION": "ModuleNotFoundError: No module named 'gone'",
    f"none = {__name__}:ToyColumn": "type is no EmbedderDescription",
    f"other = {__name__}:DESCRIPTION": "'toy_embed' should be its entry point's name",
    f"claims = {__name__}:CLAIMING": "tables of 'hashembed' are another's",
}


def test_what_is_wrong_with_another_package_stops_nobody(tmp_path, monkeypatch):
    expected = get_descriptions()
    install(tmp_path, "broken", "\n".join(["[spacy_hashembeds_embedders]", *BROKEN]))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.warns(UserWarning, match="can't be used, and is left out") as warned:
        assert get_descriptions.__wrapped__() == expected
    shown = sorted(str(each.message) for each in warned)
    for line, (point, why) in zip(shown, sorted(BROKEN.items()), strict=True):
        assert f"'{point.split()[0]}' of broken can't be used" in line
        assert why in line


def test_accelerate_leaves_an_embedder_of_another_package(used):
    encode = "components.tok2vec.model.encode"
    of_nlp = ["nlp.tokenizer", "nlp.after_pipeline_creation"]
    assert used["report"] == [[encode, *of_nlp], {}]
    names = {key: used["faster"][key]["@architectures"] for key in ("embed", "encode")}
    assert names["embed"] == "toy.ToyEmbed.v1"
    assert names["encode"] == "spacy-hashembeds.MaxoutWindowEncoder.v1"


def test_each_of_ours_is_what_its_entry_point_and_its_architecture_are_called():
    entry_points = distribution("spacy-hashembeds").entry_points
    ours = entry_points.select(group="spacy_hashembeds_embedders")
    for entry_point in ours:
        description = entry_point.load()
        assert description.name == entry_point.name
        assert get_description(entry_point.name) == description
        for name in (description.architecture, *description.aliases):
            assert name in registry.architectures
            assert find_description(name) == description
    assert list_names() == [d.name for d in get_descriptions()]
    assert find_description("spacy.MultiHashEmbed.v2") is None


def test_the_error_names_what_there_is():
    with pytest.raises(ValueError, match=r"no embedder 'x'.*multi_embed, multi_fewer"):
        get_description("x")
