"""docs/reference.md: every argument and option with its default, as the code has it."""

import inspect
import json
import re
from collections.abc import Callable
from importlib.metadata import EntryPoint

import pytest
from spacy.language import Language
from spacy.util import load_config_from_str, load_model_from_config
from typer.models import OptionInfo

from spacy_hashembeds.cli import hashembeds_cli

from .conftest import ROOT
from .test_registry import REGISTERED, get_id, is_alias

READERS = "Corpus readers (`@readers`)"
FUNCTIONS = [entry_point for entry_point in REGISTERED if not is_alias(entry_point)]
COMMANDS = {
    command.name: command.callback
    for command in hashembeds_cli.registered_commands
    if command.callback is not None
}


def read_sections(page: str = "reference.md") -> dict[str, str]:
    """The text below each heading."""
    text = (ROOT / "docs" / page).read_text(encoding="utf8")
    sections = re.split(r"^#+ ", text, flags=re.MULTILINE)
    return dict(section.split("\n", 1) for section in sections if section)


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


def get_arguments(entry_point: EntryPoint) -> dict[str, str]:
    function = entry_point.load()
    if entry_point.group == "spacy_factories":
        config = Language.get_factory_meta(entry_point.name).default_config
        return {name: to_json(get_name(value)) for name, value in config.items()}
    parameters = inspect.signature(function).parameters
    return {name: to_json(p.default) for name, p in parameters.items()}


def get_name(value: object) -> object:
    """The name of what is called, if that is a block, or else the value."""
    if not isinstance(value, dict):
        return value
    return next(name for key, name in value.items() if key.startswith("@"))


def get_options(command: Callable) -> dict[str, str]:
    parameters = inspect.signature(command).parameters.values()
    options = [p.default for p in parameters if isinstance(p.default, OptionInfo)]
    return {
        (option.param_decls or ("",))[0].split("/")[0]: to_json(option.default)
        for option in options
    }


@pytest.mark.parametrize("entry_point", FUNCTIONS, ids=get_id)
def test_arguments_have_the_defaults_of_the_function(entry_point: EntryPoint):
    sections = read_sections()
    documented = read_defaults(sections[f"`{entry_point.name}`"], "argument")
    if entry_point.group == "spacy_readers":
        documented |= read_defaults(sections[READERS], "argument")
    assert documented == get_arguments(entry_point)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_options_have_the_defaults_of_the_command(name: str):
    section = read_sections().get(f"`{name}`")
    if section is not None:
        assert read_defaults(section, "option") == get_options(COMMANDS[name])


def test_tables_of_the_page_are_found():
    sections = read_sections()
    counted = {
        kind: sum(bool(read_defaults(text, kind)) for text in sections.values())
        for kind in ("argument", "option")
    }
    assert counted == {
        kind: sum(text.count(f"| {kind} |") for text in sections.values())
        for kind in ("argument", "option")
    }
    described = {f"`{name}`" for name in COMMANDS} & sections.keys()
    assert described == {"`accelerate`", "`doctor`"}


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
