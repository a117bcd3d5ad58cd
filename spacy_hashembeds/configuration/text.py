"""Editing the text of a config line by line, so that its comments and order stay."""

import json
import re
from collections.abc import Iterator, Mapping
from configparser import Error as ConfigParserError
from contextlib import suppress
from textwrap import wrap
from typing import Any, NamedTuple

from confection import VARIABLE_RE
from spacy.util import load_config_from_str
from thinc.api import Config

#: Why something was changed, by section and key. The key None stands for a section
#: that is new.
Comments = Mapping[tuple[str, str | None], str]

_OURS, _CONTINUED = "# spacy-hashembeds: ", "#   "
_LINE_LENGTH = 88
_HEADER = re.compile(r"\[(.+)\]")
_KEY = re.compile(r"([^\s#;][^=:]*?)\s*(?:[=:]|$)")


def edit_text(text: str, old: Config, new: Config, comments: Comments) -> str:
    """Edit a text of lines that end in LF, which says `old`, to say `new`. Only lines
    that change are touched. Comments stand above these, in the place of those that this
    wrote before.
    """
    document = _Document(text, comments)
    before, after = dict(_walk_sections(old)), dict(_walk_sections(new))
    for name in before:
        if name not in after:
            document.remove(name)
    for name, values in after.items():
        if before.get(name) != values:
            document.write(name, before.get(name, {}), after)
    edited = document.join()
    # a section may be there twice, or nowhere
    with suppress(KeyError, ValueError, ConfigParserError):
        if load_config_from_str(edited) == new:
            return edited
    raise ValueError(
        "it is laid out in a way that can't be edited line by line. Have it written "
        "anew with `spacy init fill-config`, and give that"
    )


def _walk_sections(
    node: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the name of each section, and the values in it."""
    for key, value in node.items():
        if isinstance(value, Mapping):
            values = {k: v for k, v in value.items() if not isinstance(v, Mapping)}
            yield f"{prefix}{key}", values
            yield from _walk_sections(value, f"{prefix}{key}.")


class _Chunk(NamedTuple):
    """Lines of a header or a value with its comments, and the name of its section."""

    section: str
    #: That of a value. None for a header, "" for what belongs to neither.
    key: str | None
    lines: list[str]


class _Document:
    """A config as chunks: a header has the comments above it, and a value has ours."""

    def __init__(self, text: str, comments: Comments) -> None:
        self._comments = comments
        self._chunks = [_Chunk("", "", [])]
        # splitlines() would split at U+2028 or a form feed too, where no line ends
        for line in text.split("\n"):
            self._read(line)

    def _read(self, line: str) -> None:
        section, key, lines = self._chunks[-1]
        if header := _HEADER.match(line):
            above = _take_last(lines, "#", ";")
            self._chunks.append(_Chunk(header[1], None, [*above, line]))
        elif value := _KEY.match(line):
            above = _take_last(lines, _CONTINUED)
            if lines and lines[-1].startswith(_OURS):
                above.insert(0, lines.pop())
            else:
                lines += above
                above = []
            self._chunks.append(_Chunk(section, value[1], [*above, line]))
        elif line.strip() and line[0].isspace():  # the last value goes on
            if key == "" and len(self._chunks) > 1:
                self._chunks.pop()
                self._chunks[-1].lines.extend(lines)
            self._chunks[-1].lines.append(line)
        elif key == "":
            lines.append(line)
        else:
            self._chunks.append(_Chunk(section, "", [line]))

    def join(self) -> str:
        """Give the text."""
        lines = [line for chunk in self._chunks for line in chunk.lines]
        return "\n".join(lines).strip("\n") + "\n"

    def remove(self, name: str) -> None:
        """Remove a section, wherever it is written."""
        if self._find(name) is None:
            self._delete(*name.rpartition(".")[::2])
        else:
            self._chunks = [chunk for chunk in self._chunks if chunk.section != name]

    def write(
        self, name: str, before: Mapping[str, Any], after: Mapping[str, dict[str, Any]]
    ) -> None:
        """Write what is new in a section, given the new values of all sections."""
        if self._find(name) is None:
            self._add(name, after)
            return
        values = after[name]
        for key in before:
            if key not in values:
                self._delete(name, key)
        for i, (key, value) in enumerate(values.items()):
            if key not in before or before[key] != value:
                chunk, place = self._make_value(name, key, value), self._find(name, key)
                if place is None:  # after those that precede it
                    preceding = [None, *values][: i + 1]
                    places = (self._find(name, known) for known in preceding)
                    end = max(place for place in places if place is not None)
                    self._chunks.insert(end + 1, chunk)
                else:
                    self._chunks[place] = chunk

    def _find(self, section: str, key: str | None = None) -> int | None:
        """Find the chunk of a value, or of the section's header."""
        places = (i for i, c in enumerate(self._chunks) if c[:2] == (section, key))
        return next(places, None)

    def _delete(self, section: str, key: str) -> None:
        place = self._find(section, key)
        if place is not None:
            del self._chunks[place]

    def _add(self, name: str, after: Mapping[str, dict[str, Any]]) -> None:
        """Add a section, and all around it that was a value on one line."""
        parent, _, key = name.rpartition(".")
        while parent and self._find(parent) is None:
            name = parent
            parent, _, key = name.rpartition(".")
        self._delete(parent, key)
        # after the parent, and after all inside it that follow it
        places = range(self._find(parent) or len(self._chunks), len(self._chunks))
        ends = (i for i in places if not _is_in(self._chunks[i].section, parent))
        place = next(ends, len(self._chunks))
        above = [line for chunk in self._chunks[:place] for line in chunk.lines]
        new = [_Chunk(parent, "", [""])] if above and above[-1].strip() else []
        for section, values in after.items():
            if _is_in(section, name):
                comment = _write_comment(self._comments.get((section, None)))
                new.append(_Chunk(section, None, [*comment, f"[{section}]"]))
                new += [self._make_value(section, k, v) for k, v in values.items()]
                new.append(_Chunk(section, "", [""]))
        self._chunks[place:place] = new

    def _make_value(self, section: str, key: str, value: Any) -> _Chunk:
        comment = _write_comment(self._comments.get((section, key)))
        is_variable = isinstance(value, str) and VARIABLE_RE.search(value)
        written = value if is_variable else json.dumps(value, ensure_ascii=False)
        return _Chunk(section, key, [*comment, f"{key} = {written}"])


def _take_last(lines: list[str], *prefixes: str) -> list[str]:
    """Take the lines that begin with one of these off the end."""
    start = len(lines)
    while start and lines[start - 1].startswith(prefixes):
        start -= 1
    taken = lines[start:]
    del lines[start:]
    return taken


def _write_comment(why: str | None) -> list[str]:
    return wrap(
        why or "",
        width=_LINE_LENGTH,
        initial_indent=_OURS,
        subsequent_indent=_CONTINUED,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _is_in(section: str, other: str) -> bool:
    return f"{section}.".startswith(f"{other}.")
