"""What holds for the commands of the package and those of the lab alike."""

import inspect
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.main import get_command
from typer.testing import CliRunner, Result

from spacy_hashembeds.cli import _output

#: What a short option stands for, wherever there is one that several commands have.
SHORT = {
    "-c": {"--code", "--config", "--corpus"},
    "-F": {"--force"},
    "-g": {"--gpu-id"},
    "-j": {"--jobs"},
    "-l": {"--lang"},
    "-o": {"--output"},
    "-q": {"--quiet"},
    "-s": {"--seed"},
    "-t": {"--train"},
}
ALWAYS_SHORT = ("--output", "--train", "--quiet", "--force", "--lang", "--seed")


class Rules:
    """Tests of commands, collected by a subclass `Test…` that says which.

    root (Typer): What is invoked.
    words (tuple[str, ...]): The words before a command.
    commands (Typer): What has the commands.
    """

    root: Typer
    words: tuple[str, ...] = ()
    commands: Typer

    def invoke(self, command: str) -> Result:
        return CliRunner().invoke(self.root, [*self.words, *command.split()])


class HelpRules(Rules):
    """What `--help` says, and that options mean the same in all commands.

    with_json (tuple[str, ...]): The commands that show data.
    arguments (tuple[str, ...]): All names of arguments: what is written is an option.
    """

    with_json: tuple[str, ...]
    arguments: tuple[str, ...]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "command" in metafunc.fixturenames:
            names = (str(command.name) for command in self.commands.registered_commands)
            metafunc.parametrize("command", sorted(names))

    @pytest.fixture(autouse=True)
    def _eighty_columns(self, monkeypatch) -> None:
        monkeypatch.setenv("COLUMNS", "80")

    def show_help(self, command: str = "") -> str:
        result = self.invoke(f"{command} --help")
        assert result.exit_code == 0, result.output
        return result.output

    def get_parameters(self, command: str) -> Iterator[Any]:
        """The arguments and options of a command, as click has them."""
        group: Any = get_command(self.commands)
        yield from (p for p in group.commands[command].params if p.name != "help")

    def check_help(self, text: str) -> None:
        # what may be given several times is written so
        text = re.sub(r"(\[ARGS\]|\{?(metrics|models)\}?)\.\.\.", "", text, flags=re.I)
        assert not re.search(r"\.\.\.|…", text)
        assert max(map(len, text.splitlines())) <= 80

    def test_help_is_not_cut_and_fits(self, command):
        self.check_help(self.show_help(command))

    def test_the_first_sentence_of_each_command_is_listed_whole(self):
        text = self.show_help()
        self.check_help(text)
        listed = " ".join(text.split())
        for command in self.commands.registered_commands:
            assert command.callback is not None
            paragraph, *_ = (command.callback.__doc__ or "").split("\n\n")
            sentence = " ".join(paragraph.split())
            assert sentence.endswith(".")
            assert f" {command.name} {sentence}" in listed

    def test_every_parameter_is_explained_in_a_sentence(self, command):
        for parameter in self.get_parameters(command):
            assert re.fullmatch(r"[A-Z].*\.", parameter.help or "", re.S), (
                parameter.name
            )

    def test_short_options_mean_the_same_everywhere(self, command):
        for parameter in self.get_parameters(command):
            names = get_names(parameter)
            for short, long in SHORT.items():
                assert short not in names or names & long, (parameter.name, short)
            for long in ALWAYS_SHORT:
                (short,) = (s for s, names_ in SHORT.items() if long in names_)
                assert long not in names or short in names, (parameter.name, short)

    def test_quiet_and_json_are_the_same_everywhere(self, command):
        helps = {
            name: p.help for p in self.get_parameters(command) for name in get_names(p)
        }
        assert helps["--quiet"].startswith("Print only warnings, errors, and data")
        assert ("--json" in helps) == (command in self.with_json)
        if "--json" in helps:
            assert helps["--json"].startswith("Print everything as JSON, instead of ta")

    def test_nothing_that_is_written_is_an_argument(self):
        names = [str(command.name) for command in self.commands.registered_commands]
        assert set(self.arguments) == {
            p.name
            for name in names
            for p in self.get_parameters(name)
            if p.param_type_name == "argument"
        }


def get_names(parameter: Any) -> set[str]:
    return {*parameter.opts, *parameter.secondary_opts}


class StreamRules(Rules):
    """Files and data on standard output. Subclasses have the fixture `folder`: the
    current one, with something to do for each command.

    to_stdout (tuple): Commands that write a file to standard output, each with what
        tells whether the file is right.
    data (tuple): Commands that show data.
    outputs (tuple): Each command and its argument of a file to write.
    callbacks (tuple): What checks these.
    """

    to_stdout: tuple[tuple[str, Callable[[bytes], bool]], ...]
    data: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    callbacks: tuple[Callable, ...]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        for name in ("to_stdout", "data"):
            if f"of_{name}" in metafunc.fixturenames:
                metafunc.parametrize(f"of_{name}", getattr(self, name))

    def test_files_go_to_standard_output_alone(self, folder, capfdbinary, of_to_stdout):
        command, is_right = of_to_stdout
        check_alone(self.invoke(command), is_right, capfdbinary)

    def test_json_is_alone_on_standard_output_and_replaces_tables(
        self, folder, capfdbinary, of_data
    ):
        result = self.invoke(f"{of_data} --json")
        assert is_json(capfdbinary.readouterr().out)
        assert result.output == ""

    def test_every_file_that_a_command_writes_may_be_standard_output(self):
        found = {}
        for command in self.commands.registered_commands:
            assert command.callback is not None
            parameters = inspect.signature(command.callback).parameters
            for name, parameter in parameters.items():
                default = parameter.default
                if "- is standard output" in (getattr(default, "help", None) or ""):
                    found[str(command.name), name] = default.callback
        assert set(found.values()) == set(self.callbacks)
        assert set(found) == set(self.outputs)


def is_json(data: bytes) -> bool:
    return isinstance(json.loads(data), dict)


def check_alone(
    result: Result, is_right: Callable[[bytes], bool], capfdbinary: Any
) -> None:
    """Check that a file alone went to standard output, and words elsewhere."""
    assert result.exit_code == 0, result.output
    assert is_right(capfdbinary.readouterr().out)
    assert result.stdout == ""
    assert any(word in result.stderr for word in ("Saved", "Wrote"))


class ProgressRules(Rules):
    """Progress, which is shown where somebody watches. Subclasses have the fixture
    `folder`: the current one, with something to do for each command.

    progress (tuple): Commands, each with what it says meanwhile.
    """

    progress: tuple[tuple[str, list[str]], ...]

    def run(self, command: str) -> Result:
        result = self.invoke(command)
        assert result.exit_code == 0, result.output
        return result

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "of_progress" in metafunc.fixturenames:
            metafunc.parametrize("of_progress", self.progress)

    def test_it_is_shown_on_a_screen(self, folder, monkeypatch, of_progress):
        command, titles = of_progress
        monkeypatch.setattr(_output, "hide_progress", lambda: False)
        result = self.run(command)
        for title in titles:
            assert title in result.stderr
            assert title not in result.stdout

    @pytest.mark.parametrize("options", ["", " --quiet"])
    def test_it_is_hidden_where_nobody_watches(self, folder, options):
        for command, _ in self.progress:
            assert self.run(command + options).stderr == ""


class TargetRules(Rules):
    """What a command reads, it does not replace; what it can't write, it says first.
    Subclasses have the fixture `folder`: the current one, with something to read.

    over_inputs (tuple): Commands that would replace what they read, each with the
        output, and what it is of that is read.
    elsewhere (tuple): Commands with `{}` for the place to write.
    """

    over_inputs: tuple[tuple[str, str, str], ...]
    elsewhere: tuple[str, ...]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        for name in ("over_inputs", "elsewhere"):
            if f"of_{name}" in metafunc.fixturenames:
                metafunc.parametrize(f"of_{name}", getattr(self, name))

    def test_an_input_is_not_replaced(self, folder, of_over_inputs):
        command, output, read = of_over_inputs
        before = read_all(folder)
        result = self.invoke(command)
        assert result.exit_code == 1, result.output
        said = " ".join(result.output.split())
        assert f"'{output}' can't be written: it would" in said
        assert f"'{read}', which is read. Name a file elsewhere" in said
        assert read_all(folder) == before

    @pytest.mark.parametrize("output", ["text.txt/x", f"new/{'n' * 300}/x"])
    def test_a_place_where_nothing_can_be_written_is_named(
        self, folder, of_elsewhere, output
    ):
        before = read_all(folder)
        result = self.invoke(of_elsewhere.format(output))
        assert result.exit_code == 1, result.output
        said = "".join(result.output.split())
        if output == "text.txt/x":
            assert "'text.txt/x" in said.replace(str(folder), "")
            assert "text.txt'isafile,andnofolder." in said
        else:
            assert "Filenametoolong" in said
            assert output in said
        assert "Traceback" not in said
        assert read_all(folder) == before


def read_all(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
