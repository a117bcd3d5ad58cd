"""What the tests ran with. All that says so has to say the same."""

import platform
import re
from configparser import ConfigParser
from email.message import Message
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement

from spacy_hashembeds.acceleration import doctor, installation
from spacy_hashembeds.acceleration.installation import NEWEST, Version, find_untested

from ..conftest import ROOT


@pytest.fixture
def machine(monkeypatch):
    """Have a Python and a system, beside what our classifiers say."""
    metadata = Message()
    for name in (
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ):
        metadata["Classifier"] = name
    own = SimpleNamespace(metadata=metadata, version="1", requires=[], entry_points=[])

    def set_machine(python: str = "3.12.1", system: str = "Linux") -> None:
        version = tuple(python.split("."))
        monkeypatch.setattr(installation, "distribution", lambda name: own)
        monkeypatch.setattr(platform, "python_version_tuple", lambda: version)
        monkeypatch.setattr(platform, "system", lambda: system)

    set_machine()
    return set_machine


def find(*versions: tuple[str, str | None], ok: bool = True) -> list[str]:
    found = [Version(name, number, "", ok) for name, number in versions]
    return list(find_untested(found))


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("numpy", ["2.0", "2.4.6", "2.5", "2.5.5", "2.5.99"])
def test_nothing_is_said_of_what_was_tested(numpy, monkeypatch):
    monkeypatch.setattr(installation, "NEWEST", {"numpy": "2.5", "spacy": "3.8.18"})
    others = ("tqdm", "99.0"), ("spacy", "3.8.7"), ("torch", None)
    assert find(("numpy", numpy), ("spacy", "3.8.18"), *others) == []


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("name", "installed", "remedy"),
    [
        ("numpy", "2.6.0", "numpy==2.5.*"),
        ("numpy", "3.0", "numpy==2.5.*"),
        ("spacy", "3.8.19", "spacy==3.8.18.*"),
        ("spacy", "3.8.19.dev0", "spacy==3.8.18.*"),
    ],
)
def test_a_version_that_is_newer_is_named(name, installed, remedy, monkeypatch):
    monkeypatch.setattr(installation, "NEWEST", {"numpy": "2.5", "spacy": "3.8.18"})
    (text,) = find((name, installed))
    assert text.startswith(f"{name} should be {installation.NEWEST[name]} or older")
    assert f"but is {installed}." in text
    assert f"pip install '{remedy}'" in text
    assert Requirement(remedy).specifier.contains(installation.NEWEST[name])
    # outside our ranges, it is a problem
    assert find((name, installed), ok=False) == []


@pytest.mark.parametrize(
    ("here", "said"),
    [
        ({"python": "3.10.1"}, "Python should be 3.11 or 3.12, .* but is 3.10. Should"),
        ({"python": "3.13.0"}, "Python should be 3.11 or 3.12, .* but is 3.13. Should"),
        (
            {"system": "Darwin"},
            "should be Linux, .* but is Darwin. See docs/versions.m",
        ),
    ],
)
def test_another_python_or_system_is_named(here, said, machine):
    machine(**here)
    (text,) = find()
    assert re.search(said, text)
    assert (ROOT / "docs/versions.md").is_file()


def test_the_doctor_finds_them(machine, monkeypatch):
    speeds = {"blis": [(1.0, (1.0, 1.0))]}
    monkeypatch.setattr(doctor, "measure_choices", lambda threads: speeds)
    monkeypatch.setattr(doctor, "advise_on_blas", lambda blas, speeds: [])
    machine(python="3.10.1", system="Darwin")
    assert [text.split()[0] for text in doctor.examine().untested] == ["Python", "The"]


# One truth


@pytest.fixture(scope="module")
def setup() -> ConfigParser:
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    return setup


def list_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_pythons_are_the_same_everywhere(setup):
    classifiers = setup["metadata"]["classifiers"]
    pythons = re.findall(r"Python :: (3\.\d+)", classifiers)
    assert setup["options"]["python_requires"] == f">={pythons[0]}"
    assert f"Python {pythons[0]} to {pythons[-1]}" in read("README.md")
    rows = re.findall(r"^\| (3\.\d+) \|", read("docs/versions.md"), re.M)
    assert rows == pythons
    project = read("pyproject.toml")
    assert f'target-version = "py{pythons[0].replace(".", "")}"' in project
    assert f'python_version = "{pythons[0]}"' in project


def test_ranges_are_the_same_everywhere(setup):
    lines = list_lines(setup["options"]["install_requires"])
    required = {one.name: one.specifier for one in map(Requirement, lines)}
    lines = [line for line in list_lines(read("constraints.txt")) if line[0] != "#"]
    pinned = dict(line.lower().split("==") for line in lines)
    pattern = re.compile(r"^\| ([a-z]\w+) \| ([\d.]+) \| ([\d.]+) \|", re.M)
    rows = pattern.findall(read("docs/versions.md"))
    assert {name for name, *_ in rows} == set(required)
    assert set(NEWEST) <= set(required)
    for name, oldest, newest in rows:
        lowest = [one.version for one in required[name] if one.operator == ">="]
        assert lowest == [oldest]
        assert newest == NEWEST.get(name, pinned[name])
        assert required[name].contains(newest)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf8")
