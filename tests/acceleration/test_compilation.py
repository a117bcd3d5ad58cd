"""Whether compiled kernels are there, and in use."""

import json
import shutil
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from spacy_hashembeds.acceleration.compilation import (
    COMPILED,
    NUMPY,
    Kernels,
    advise_on_kernels,
    examine_kernels,
)
from spacy_hashembeds.kernels import compiled


@pytest.mark.parametrize("in_use", [COMPILED, NUMPY])
def test_the_kernels_in_use_are_named(in_use, monkeypatch):
    there, _ = compiled.find()
    if there is None:
        pytest.skip("there are no compiled kernels here")
    chosen = there if in_use == COMPILED else None
    monkeypatch.setattr(compiled, "kernels", chosen)
    kernels = examine_kernels()
    assert (kernels.in_use, kernels.are_there) == (in_use, True)


@pytest.mark.parametrize("error", [None, ImportError("file too short")])
def test_kernels_that_cannot_be_used_are_named(error, monkeypatch):
    monkeypatch.setattr(compiled, "find", lambda: (None, error))
    monkeypatch.setattr(compiled, "kernels", None)
    kernels = examine_kernels()
    assert (kernels.in_use, kernels.are_there) == (NUMPY, False)
    assert kernels.error == (error and "ImportError: file too short")
    (advice,) = advise_on_kernels(kernels)
    assert ("can't be used (ImportError: file too short)" in advice) == bool(error)


def test_advice(monkeypatch):
    monkeypatch.setenv(compiled.SWITCH, "0")
    assert advise_on_kernels(Kernels(COMPILED, True, None, {})) == []
    (advice,) = advise_on_kernels(Kernels(NUMPY, True, None, {}))
    assert "SPACY_HASHEMBEDS_COMPILED is 0" in advice
    (advice,) = advise_on_kernels(Kernels(NUMPY, False, None, {}))
    assert "There are no compiled kernels in " in advice
    assert "install a C++ compiler" in advice
    assert "--no-cache-dir" in advice


@pytest.mark.parametrize("error", [None, "ImportError: they are older"])
def test_an_installed_copy_that_has_kernels_is_named(error, monkeypatch, tmp_path):
    """As in a clone, where `python -m spacy` finds the sources first."""
    own = Path(compiled.__file__).parents[1]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    metadata = tmp_path / "spacy_hashembeds-0.1.0.dist-info" / "METADATA"
    module = tmp_path / own.name / "kernels" / f"_compiled{EXTENSION_SUFFIXES[0]}"
    for path in (metadata, module):
        path.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.1\nName: spacy-hashembeds\n")
    kernels = Kernels(NUMPY, False, error, {})
    (advice,) = advise_on_kernels(kernels)
    assert "install a C++ compiler" in advice  # the other copy has none either
    module.touch()
    (advice,) = advise_on_kernels(kernels)
    assert f"installed in {tmp_path}, has them" in advice
    assert "`spacy` in the place of `python -m spacy`" in advice
    assert error is None or error in advice
    # installed by --editable, from a folder elsewhere
    elsewhere = tmp_path / "a clone"
    shutil.copytree(tmp_path / own.name, elsewhere / own.name)
    origin = {"url": elsewhere.as_uri(), "dir_info": {"editable": True}}
    metadata.with_name("direct_url.json").write_text(json.dumps(origin))
    (advice,) = advise_on_kernels(kernels)
    assert f"installed in {elsewhere}, has them" in advice
    metadata.with_name("direct_url.json").unlink()
    # this copy is no other one, whatever the link that leads to it
    shutil.rmtree(tmp_path / own.name)
    (tmp_path / own.name).symlink_to(own)
    (advice,) = advise_on_kernels(kernels)
    assert "install a C++ compiler" in advice


@pytest.mark.usefixtures("instructions")
def test_instructions_for_fewer_bits_are_named():
    instructions = examine_kernels().instructions
    found = {name for name, *_ in compiled.kernels.INSTRUCTION_SETS}
    assert list(instructions) == ["bfloat16", "int8"]
    assert found.issuperset(instructions.values())


@pytest.mark.usefixtures("no_instructions")
def test_that_there_are_none_is_said():
    instructions = examine_kernels().instructions
    assert instructions == {"bfloat16": None, "int8": None}
