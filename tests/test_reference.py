"""Pages of docs: what is registered, commands, options, and what is imported."""

import inspect
import json
import re
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint

import pytest
from spacy.language import Language
from spacy.util import load_config_from_str, load_model_from_config
from typer.models import OptionInfo

import spacy_hashembeds
from spacy_hashembeds.tools.cli import hashembeds_cli

from .conftest import ROOT
from .test_registry import REGISTERED, get_id, is_alias, read_sections

FUNCTIONS = [entry_point for entry_point in REGISTERED if not is_alias(entry_point)]
COMMANDS = {
    command.name: command.callback
    for command in hashembeds_cli.registered_commands
    if command.callback is not None
}


def read_defaults(section: str, kind: str) -> dict[str, str]:
    """What a table of arguments or options says: name and default, as JSON."""
    lines = [line.strip("|").split("|") for line in section.splitlines()]
    rows = [[cell.strip() for cell in line] for line in lines]
    defaults = {}
    for start in (i for i, row in enumerate(rows) if row[0] == kind):
        column = rows[start].index("default")
        for row in rows[start + 2 :]:
            name = re.fullmatch("`(.+)`", row[0])
            if name is None:
                break
            defaults[name[1]] = row[column]
    return defaults


def to_json(default: object) -> str:
    """A default as the page has it: nothing where a value must be given."""
    is_required = default in (inspect.Parameter.empty, ...)
    return "" if is_required else json.dumps(default)


def find_documented(entry_point: EntryPoint) -> tuple[str, object]:
    """What the page shows of an entry point: its path, and the object with its docs."""
    section = read_sections()[f"`{entry_point.name}`"]
    (path,) = re.findall(r"^<!-- ::: ([\w.]+) -->$", section, re.MULTILINE)
    module, _, name = path.rpartition(".")
    return path, getattr(import_module(module), name)


def get_arguments(entry_point: EntryPoint) -> set[str]:
    if entry_point.name.startswith("cached_"):  # spaCy's own
        return set()
    if entry_point.group == "spacy_factories":
        return set(Language.get_factory_meta(entry_point.name).default_config)
    return set(inspect.signature(entry_point.load()).parameters)


def find_described(docs: str) -> set[str]:
    """The arguments that a docstring describes, as website/docstrings.py finds them."""
    lines = re.findall(r"^(\w+(?:, \w+)*) \(", inspect.cleandoc(docs), re.MULTILINE)
    return {name for names in lines for name in names.split(", ")}


def get_options(command: Callable) -> dict[str, str]:
    parameters = inspect.signature(command).parameters.values()
    options = [p.default for p in parameters if isinstance(p.default, OptionInfo)]
    return {
        (option.param_decls or ("",))[0].split("/")[0]: to_json(option.default)
        for option in options
    }


@pytest.mark.parametrize("entry_point", FUNCTIONS, ids=get_id)
def test_the_page_shows_the_docs_of_what_is_registered(entry_point: EntryPoint):
    path, documented = find_documented(entry_point)
    assert path.startswith(f"{entry_point.module}.")
    if entry_point.group == "spacy_factories":
        made = inspect.signature(entry_point.load()).return_annotation
        assert documented.__name__ == made.strip("'")  # type: ignore[attr-defined]
    else:
        assert documented is entry_point.load()


@pytest.mark.parametrize("entry_point", FUNCTIONS, ids=get_id)
def test_its_docs_describe_every_argument(entry_point: EntryPoint):
    """By themselves, or by those of a function that they name."""
    _, documented = find_documented(entry_point)
    docs = inspect.getdoc(documented) or ""
    named = [
        find_documented(other)[1]
        for other in FUNCTIONS
        if re.search(rf"`{re.escape(get_name(other))}`", docs)
    ]
    described = [find_described(inspect.getdoc(each) or "") for each in named]
    assert get_arguments(entry_point) <= find_described(docs).union(*described)


def get_name(entry_point: EntryPoint) -> str:
    """How docstrings name it: MultiEmbed, or spacy-hashembeds.count_symbols.v1."""
    is_architecture = entry_point.group == "spacy_architectures"
    return entry_point.name.split(".")[1] if is_architecture else entry_point.name


def test_options_have_the_defaults_of_the_command():
    section = read_sections("accelerate.md")["Accelerate a trained pipeline"]
    assert read_defaults(section, "option") == get_options(COMMANDS["accelerate"])


def test_every_command_is_listed():
    listed = re.findall(
        "^\\| `spacy hashembeds (\\w+)", read_sections()["Commands"], re.M
    )
    assert sorted(listed) == sorted(COMMANDS)


def test_the_weights_of_the_scorer_s_example_choose_by_unseen_entities_alone():
    section = read_sections()["`spacy-hashembeds.seen_unseen_ner_scorer.v1`"]
    (block,) = re.findall(r"```ini\n(.+?)```", section, flags=re.DOTALL)
    head = """
[paths]
train = null
[nlp]
lang = "en"
pipeline = ["ner"]
[components]
[components.ner]
factory = "ner"
[training]
"""
    config = load_config_from_str(head + block)
    nlp = load_model_from_config(config, auto_fill=True)
    weights = nlp.config["training"]["score_weights"]
    assert {key: value for key, value in weights.items() if value} == {
        "ents_unseen_f": 1.0
    }


# docs/python.md

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf8")


@pytest.mark.slow
def test_the_example_of_the_page_runs_as_it_stands(capsys):
    namespace: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, namespace)
    printed = capsys.readouterr().out
    for words in ("Entities seen in training", "Unseen", "Same predictions on 4 texts"):
        assert words in printed


def test_every_name_is_on_the_page_with_its_docs():
    names = sorted(spacy_hashembeds.__all__)
    assert sorted(re.findall(r"^\| `(\w+)", PAGE, re.MULTILINE)) == names
    shown = re.findall(r"^<!-- ::: spacy_hashembeds\.(\w+) -->$", PAGE, re.MULTILINE)
    assert sorted([*shown, "__version__"]) == names
