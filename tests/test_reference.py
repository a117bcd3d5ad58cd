"""Entry points: spaCy finds them, tests name them, and pages document them."""

import inspect
import re
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, distribution
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.util import load_config_from_str, load_model_from_config, registry

import spacy_hashembeds
from spacy_hashembeds import papers as papers_folder
from spacy_hashembeds.tools.cli import hashembeds_cli
from tests.configs import CONFIGS

from .conftest import ROOT

ENTRY_POINTS = list(distribution("spacy-hashembeds").entry_points)
# The excluded groups have commands, and descriptions of embedders.
REGISTERED = [
    entry_point
    for entry_point in ENTRY_POINTS
    if entry_point.group.startswith(("spacy_", "thinc_"))
    and entry_point.group not in ("spacy_cli", "spacy_hashembeds_embedders")
]
OTHERS = [each for each in ENTRY_POINTS if each not in REGISTERED]
ALIASES = [each for each in REGISTERED if each.name.startswith("spacy.")]
FUNCTIONS = [each for each in REGISTERED if each not in ALIASES]
COMMANDS = {
    command.name: command.callback
    for command in hashembeds_cli.registered_commands
    if command.callback is not None
}


def for_each(entry_points: list[EntryPoint]) -> pytest.MarkDecorator:
    ids = [f"{each.group}:{each.name}" for each in entry_points]
    return pytest.mark.parametrize("entry_point", entry_points, ids=ids)


@cache
def read_sections(page: str = "reference.md") -> dict[str, str]:
    """Return the text below each heading."""
    text = (ROOT / "docs" / page).read_text(encoding="utf8")
    sections = re.split(r"^#+ ", text, flags=re.MULTILINE)
    return dict(section.split("\n", 1) for section in sections if section)


@cache
def read_tests() -> str:
    paths = (ROOT / "tests").rglob("test_*.py")
    return "\n".join(p.read_text(encoding="utf8") for p in paths if p != Path(__file__))


# Entry points


@for_each(OTHERS)
def test_entry_points_load(entry_point):
    assert entry_point.load() is not None


@for_each(REGISTERED)
def test_registered_functions_are_found_and_tested(entry_point):
    group, function = entry_point.group.split("_", 1)[1], entry_point.load()
    if group == "factories":  # spaCy loads factories when it makes a pipeline
        spacy.blank("xx")
    assert registry.get(group, entry_point.name) is function
    assert function.__doc__
    name = entry_point.value.split(":")[1]
    assert re.search(rf"\b{name}\b|{re.escape(entry_point.name)}(?!\w)", read_tests())


@for_each(ALIASES)
def test_aliases_are_the_same_functions(entry_point):
    main = entry_point.name.replace("spacy.", "spacy-hashembeds.", 1)
    (function,) = (e.load() for e in REGISTERED if e.name == main)
    assert function is inspect.unwrap(entry_point.load())
    assert f"`{entry_point.name}`" in read_sections()[f"`{main}`"]


def test_every_embedder_has_a_config_and_every_paper_a_page():
    names = {e.name for e in ENTRY_POINTS if e.group == "spacy_hashembeds_embedders"}
    assert names
    assert names <= {path.stem for path in CONFIGS.glob("*.cfg")}
    folders = Path(papers_folder.__file__).parent.glob("*/__init__.py")
    papers = {path.parent.name for path in folders}
    assert papers
    pages = {path.stem.replace("-", "_") for path in (ROOT / "docs").glob("*.md")}
    assert papers <= pages


# docs/reference.md


def find_documented(entry_point: EntryPoint) -> tuple[str, object]:
    """Return the path and the object whose docstring the page shows."""
    section = read_sections()[f"`{entry_point.name}`"]
    (path,) = re.findall(r"^<!--:::([\w.]+)-->$", section, re.MULTILINE)
    module, _, name = path.rpartition(".")
    return path, getattr(import_module(module), name)


def get_arguments(entry_point: EntryPoint) -> set[str]:
    if entry_point.name.startswith("cached_"):  # spaCy's arguments
        return set()
    if entry_point.group == "spacy_factories":
        return set(Language.get_factory_meta(entry_point.name).default_config)
    return set(inspect.signature(entry_point.load()).parameters)


def find_described(documented: object) -> set[str]:
    """Return the arguments that a docstring describes, as in website/docstrings.py."""
    docs = inspect.getdoc(documented) or ""
    lines = re.findall(r"^(\w+(?:, \w+)*) \(", docs, re.MULTILINE)
    return {name for names in lines for name in names.split(", ")}


def get_name(entry_point: EntryPoint) -> str:
    """Return the name in docstrings, such as MultiEmbed or
    spacy-hashembeds.count_symbols.v1.
    """
    is_architecture = entry_point.group == "spacy_architectures"
    return entry_point.name.split(".")[1] if is_architecture else entry_point.name


@for_each(FUNCTIONS)
def test_docstrings_describe_all_arguments(entry_point: EntryPoint):
    """Each argument is described, or is an argument of a function that is named."""
    path, documented = find_documented(entry_point)
    assert path.startswith(f"{entry_point.module}.")
    if entry_point.group == "spacy_factories":
        made = inspect.signature(entry_point.load()).return_annotation
        assert documented.__name__ == made.strip("'")  # type: ignore[attr-defined]
    else:
        assert documented is entry_point.load()
    docs = inspect.getdoc(documented) or ""
    named = [each for each in FUNCTIONS if f"`{get_name(each)}`" in docs]
    described = [find_described(find_documented(each)[1]) for each in named]
    assert get_arguments(entry_point) <= find_described(documented).union(*described)


def test_documented_names_are_registered():
    headings = {heading.strip("`") for heading in read_sections()}
    documented = {name for name in headings if re.fullmatch(r"[\w.-]+\.v\d+", name)}
    assert documented
    assert documented <= {entry_point.name for entry_point in REGISTERED}


def test_every_command_is_listed():
    commands = read_sections()["Commands"]
    listed = re.findall(r"\[`(\w+)`\]", commands)
    assert sorted(listed) == sorted(COMMANDS)


def test_score_weights_of_the_scorer_example():
    section = read_sections()["`spacy-hashembeds.seen_unseen_ner_scorer.v1`"]
    (block,) = re.findall(r"```ini\n(.+?)```", section, flags=re.DOTALL)
    head = '[paths]\ntrain = null\n[nlp]\nlang = "en"\npipeline = ["ner"]\n'
    head += '[components]\n[components.ner]\nfactory = "ner"\n[training]\n'
    nlp = load_model_from_config(load_config_from_str(head + block), auto_fill=True)
    weights = nlp.config["training"]["score_weights"]
    chosen = {key: value for key, value in weights.items() if value}
    assert chosen == {"ents_unseen_f": 1.0}


# docs/python.md

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf8")


@pytest.mark.slow
def test_the_examples_of_the_page_run(capsys):
    namespace: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, namespace)
    printed = capsys.readouterr().out
    for words in ("Entities seen in training", "Unseen", "Same predictions on 4 texts"):
        assert words in printed


def test_all_public_names_are_on_the_page():
    names = sorted(spacy_hashembeds.__all__)
    shown = re.findall(r"^<!--:::spacy_hashembeds\.(\w+)-->$", PAGE, re.MULTILINE)
    assert sorted([*shown, "__version__"]) == names
