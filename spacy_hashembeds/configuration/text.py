"""Editing the text of a config line by line, so that its comments and order stay."""

import json
import re
from collections.abc import Iterator, Mapping
from configparser import Error as ConfigParserError
from textwrap import wrap
from typing import Any

from confection import VARIABLE_RE
from spacy.util import load_config_from_str
from thinc.api import Config

#: Why something was changed, by section and key. The key None stands for a section
#: that is new.
Comments = Mapping[tuple[str, str | None], str]

_OURS, _CONTINUED = "# spacy-hashembeds: ", "#   "
_LINE_LENGTH = 88
_HEADER = re.compile(r"\[(.+)\]")
_KEY = re.compile(r"([^\s#;\[=:][^=:]*?)\s*[=:]")


def edit_text(text: str, old: Config, new: Config, comments: Comments) -> str:
    """Edit the text of a config, and leave all lines as they are that don't change.

    text (str): The text, with lines that end in LF, as Python reads them.
    old (Config): What it says, with variables.
    new (Config): What it shall say.
    comments (Comments): What to write above the lines that change. Comments that this
        wrote above them before are replaced.
    RAISES (ValueError): If the text is laid out in a way that can't be edited. Does
        not name the file.
    RETURNS (str): The new text.
    """
    document = _Document(text)
    before, after = _flatten(old), _flatten(new)
    for name in before:
        if name not in after:
            document.remove(name)
    for name, values in after.items():
        if before.get(name) != values:
            document.write(name, before.get(name, {}), after, comments)
    edited = document.join()
    if not _says(edited, new):
        raise ValueError(
            "it is laid out in a way that can't be edited line by line. Have it "
            "written anew with `spacy init fill-config`, and give that"
        )
    return edited


def _says(text: str, config: Config) -> bool:
    try:
        return load_config_from_str(text) == config
    except (KeyError, ValueError, ConfigParserError):  # a section twice, or nowhere
        return False


def _flatten(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Give the values of each section, by the section's name."""
    return dict(_walk_sections(config, ""))


def _walk_sections(
    node: Mapping[str, Any], prefix: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            values = {k: v for k, v in value.items() if not isinstance(v, Mapping)}
            yield f"{prefix}{key}", values
            yield from _walk_sections(value, f"{prefix}{key}.")


class _Section:
    """The lines of a section: comments above its header, the header, its values."""

    def __init__(self, name: str | None, lines: list[str]) -> None:
        self.name = name
        self.lines = lines

    def set(
        self, key: str, value: Any, why: str | None, predecessors: list[str]
    ) -> None:
        """Write a value in place of the old one, or after the keys that precede it."""
        place = self._find(key)
        if place is None:
            ends = [p.stop for p in map(self._find, predecessors) if p is not None]
            start = max(ends, default=self._find_header() + 1)
            place = slice(start, start)
        self.lines[place] = _write_value(key, value, why)

    def delete(self, key: str) -> None:
        """Delete a value, if it is there."""
        place = self._find(key)
        if place is not None:
            del self.lines[place]

    def _find_header(self) -> int:
        return next(i for i, line in enumerate(self.lines) if _HEADER.match(line))

    def _find(self, key: str) -> slice | None:
        """Find the lines of a value, and of our comment above it."""
        for start in range(self._find_header() + 1, len(self.lines)):
            match = _KEY.match(self.lines[start])
            if match and match[1] == key:
                return slice(self._find_comment(start), self._find_end(start))
        return None

    def _find_end(self, start: int) -> int:
        """Find the line after the last one of a value: they are indented."""
        end = start + 1
        for i in range(end, len(self.lines)):
            line = self.lines[i]
            if line.strip() and not line.startswith(("#", ";")):
                if not line[0].isspace():
                    break
                end = i + 1
        return end

    def _find_comment(self, end: int) -> int:
        start = end
        while self.lines[start - 1].startswith(_CONTINUED):
            start -= 1
        return start - 1 if self.lines[start - 1].startswith(_OURS) else end


class _Document:
    """A config as a list of sections. The first is what stands above them all."""

    def __init__(self, text: str) -> None:
        self._sections = [_Section(None, [])]
        # splitlines() would split at U+2028 or a form feed too, where no line ends
        for line in text.split("\n"):
            header = _HEADER.match(line)
            if header:
                above = _take_comments(self._sections[-1].lines)
                self._sections.append(_Section(header[1], above))
            self._sections[-1].lines.append(line)

    def join(self) -> str:
        """Give the text."""
        lines = [line for section in self._sections for line in section.lines]
        return "\n".join(lines).strip("\n") + "\n"

    def remove(self, name: str) -> None:
        """Remove a section, wherever it is written."""
        section, (parent, key) = self._get(name), _split(name)
        if section is not None:
            self._sections.remove(section)
        elif above := self._get(parent):
            above.delete(key)

    def write(
        self,
        name: str,
        before: Mapping[str, Any],
        after: Mapping[str, dict[str, Any]],
        comments: Comments,
    ) -> None:
        """Write what is new in a section.

        before (Mapping[str, Any]): Its old values.
        after (Mapping[str, dict[str, Any]]): The new values of all sections.
        """
        section = self._get(name)
        if section is None:
            self._add(name, after, comments)
            return
        values = after[name]
        for key in before:
            if key not in values:
                section.delete(key)
        keys = list(values)
        for i, key in enumerate(keys):
            if key not in before or before[key] != values[key]:
                section.set(key, values[key], comments.get((name, key)), keys[:i])

    def _get(self, name: str) -> _Section | None:
        return next((s for s in self._sections if s.name == name), None)

    def _add(
        self, name: str, after: Mapping[str, dict[str, Any]], comments: Comments
    ) -> None:
        """Add a section, and all around it that was a value on one line."""
        parent, key = _split(name)
        while parent and self._get(parent) is None:
            name = parent
            parent, key = _split(name)
        above = self._get(parent)
        if above is not None:
            above.delete(key)
        position = len(self._sections) if above is None else self._find_place(parent)
        added = [n for n in after if n == name or n.startswith(f"{name}.")]
        for i, new in enumerate(added):
            section = _write_section(new, after[new], comments)
            self._sections.insert(position + i, section)
        _end_with_blank(self._sections[position - 1].lines)

    def _find_place(self, parent: str) -> int:
        """Find the place after a section, and after all inside it that follow it."""
        names = [section.name or "" for section in self._sections]
        place = names.index(parent) + 1
        while place < len(names) and names[place].startswith(f"{parent}."):
            place += 1
        return place


def _take_comments(lines: list[str]) -> list[str]:
    """Take the comments off the end, which belong to what comes next."""
    start = len(lines)
    while start and lines[start - 1].startswith(("#", ";")):
        start -= 1
    taken = lines[start:]
    del lines[start:]
    return taken


def _write_section(
    name: str, values: Mapping[str, Any], comments: Comments
) -> _Section:
    lines = [*_write_comment(comments.get((name, None))), f"[{name}]"]
    for key, value in values.items():
        lines += _write_value(key, value, comments.get((name, key)))
    return _Section(name, [*lines, ""])


def _write_value(key: str, value: Any, why: str | None) -> list[str]:
    is_variable = isinstance(value, str) and VARIABLE_RE.search(value)
    written = value if is_variable else json.dumps(value, ensure_ascii=False)
    return [*_write_comment(why), f"{key} = {written}"]


def _write_comment(why: str | None) -> list[str]:
    return wrap(
        why or "",
        width=_LINE_LENGTH,
        initial_indent=_OURS,
        subsequent_indent=_CONTINUED,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _end_with_blank(lines: list[str]) -> None:
    if lines and lines[-1].strip():
        lines.append("")


def _split(name: str) -> tuple[str, str]:
    parent, _, key = name.rpartition(".")
    return parent, key
