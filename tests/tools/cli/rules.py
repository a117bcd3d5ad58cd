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

from spacy_hashembeds.tools.cli import _output

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

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Parametrize tests by commands, or by what a subclass lists."""
        for name in metafunc.fixturenames:
            if name == "command":
                names = (str(each.name) for each in self.commands.registered_commands)
                metafunc.parametrize("command", sorted(names))
            elif name.startswith("of_"):
                metafunc.parametrize(name, getattr(self, name.removeprefix("of_")))


class HelpRules(Rules):
    """What `--help` says, and that options mean the same in all commands.

    with_json (tuple[str, ...]): The commands that show data.
    arguments (tuple[str, ...]): All names of arguments: what is written is an option.
    """

    with_json: tuple[str, ...]
    arguments: tuple[str, ...]

    def get_parameters(self, command: str) -> Iterator[Any]:
        """The arguments and options of a command, as click has them."""
        group: Any = get_command(self.commands)
        yield from (p for p in group.commands[command].params if p.name != "help")

    def test_help_is_not_cut_and_fits(self, command, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        texts = [self.invoke(f"{each} --help").output for each in (command, "")]
        for text in texts:
            # what may be given several times is written so
            text = re.sub(
                r"(\[ARGS\]|\{?(metrics|models)\}?)\.\.\.", "", text, flags=re.I
            )
            assert not re.search(r"\.\.\.|…", text)
            assert 0 < max(map(len, text.splitlines())) <= 80
        found = {each.name: each.callback for each in self.commands.registered_commands}
        sentence, *_ = (found[command].__doc__ or "").split("\n\n")
        assert f" {command} {' '.join(sentence.split())}" in " ".join(texts[1].split())

    def test_parameters_are_explained_and_mean_the_same_everywhere(self, command):
        helps = {}
        for parameter in self.get_parameters(command):
            assert re.fullmatch(r"[A-Z].*\.", parameter.help or "", re.S)
            names = {*parameter.opts, *parameter.secondary_opts}
            helps |= dict.fromkeys(names, parameter.help)
            for short, long in SHORT.items():
                assert short not in names or names & long, (parameter.name, short)
                if len(long) == 1 and short not in ("-j", "-g"):
                    assert not names & long or short in names, (parameter.name, short)
        assert helps["--quiet"].startswith("Print only warnings, errors, and data")
        assert ("--json" in helps) == (command in self.with_json)

    def test_what_is_no_list_is_given_once(self, command):
        for option in self.get_parameters(command):
            if option.param_type_name != "option":
                continue
            names = (option.opts[0], [*option.opts, *option.secondary_opts][-1])
            value = "" if option.is_flag else " x"
            for ends in ((value, value), (value, value.replace(" ", "="))):
                words = " ".join(map("".join, zip(reversed(names), ends, strict=True)))
                if "=" in words and not option.opts[0].startswith("--"):
                    continue
                result = self.invoke(f"{command} {words}")
                assert result.exit_code == 2, words
                is_named = f"{option.opts[0]}" in result.output.split("Error:")[1]
                is_refused = is_named and "once" in result.output
                assert is_refused is not option.multiple, words
                assert self.invoke(f"{command} {words} --help").exit_code == 0

    def test_nothing_that_is_written_is_an_argument(self):
        assert set(self.arguments) == {
            p.name
            for command in self.commands.registered_commands
            for p in self.get_parameters(str(command.name))
            if p.param_type_name == "argument"
        }


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

    def test_files_go_to_standard_output_alone(self, folder, capfdbinary, of_to_stdout):
        command, is_right = of_to_stdout
        result = self.invoke(command)
        assert result.exit_code == 0, result.output
        assert is_right(capfdbinary.readouterr().out)
        assert result.stdout == ""
        assert any(word in result.stderr for word in ("Saved", "Wrote"))

    def test_json_is_alone_on_standard_output(self, folder, capfdbinary, of_data):
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


class ProgressRules(Rules):
    """Progress, which is shown where somebody watches. Subclasses have the fixture
    `folder`: the current one, with something to do for each command.

    progress (tuple): Commands, each with what it says meanwhile.
    """

    progress: tuple[tuple[str, list[str]], ...]

    @pytest.mark.parametrize("option", ["", " --quiet"])
    def test_it_is_hidden_where_nobody_watches(self, folder, of_progress, option):
        result = self.invoke(of_progress[0] + option)
        assert (result.exit_code, result.stderr) == (0, "")

    def test_it_is_shown_on_a_screen(self, folder, monkeypatch, of_progress):
        command, titles = of_progress
        monkeypatch.setattr(_output, "hide_progress", lambda: False)
        result = self.invoke(command)
        for title in titles:
            assert title in result.stderr
            assert title not in result.stdout


class TargetRules(Rules):
    """What a command reads, it does not replace; what it can't write, it says first.
    Subclasses have the fixture `folder`: the current one, with something to read.

    over_inputs (tuple): Commands that would replace what they read, each with the
        output, and what it is of that is read.
    elsewhere (tuple): Commands with `{}` for the place to write.
    """

    over_inputs: tuple[tuple[str, str, str], ...]
    elsewhere: tuple[str, ...]

    def test_an_input_is_not_replaced(self, folder, of_over_inputs):
        command, output, read = of_over_inputs
        before = read_all(folder)
        result = self.invoke(command)
        assert result.exit_code == 1, result.output
        said = " ".join(result.output.split())
        assert f"'{output}' can't be written: it would" in said
        assert f"'{read}', which is read." in said
        assert read_all(folder) == before

    @pytest.mark.parametrize("output", ["text.txt/x", f"new/{'n' * 300}/x"])
    def test_a_place_where_nothing_can_be_written_is_named(
        self, folder, of_elsewhere, output
    ):
        before = read_all(folder)
        result = self.invoke(of_elsewhere.format(output))
        assert result.exit_code == 1, result.output
        said = "".join(result.output.split())
        assert output in said.replace(f"{folder}/", "")
        assert "Notadirectory" in said or "Filenametoolong" in said
        assert read_all(folder) == before


def read_all(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
