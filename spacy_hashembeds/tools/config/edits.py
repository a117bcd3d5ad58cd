"""Edit a config, and write the reason of each change as a comment."""

import json
import re
from collections.abc import Iterator, Mapping
from configparser import Error as ConfigParserError
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import DEFAULT_CONFIG, Language
from spacy.util import (
    dot_to_object,
    get_lang_class,
    get_package_path,
    is_package,
    load_config_from_str,
    load_model_from_config,
    set_dot_to_object,
    walk_dict,
)
from thinc.api import Config

from ...architectures.symbols import SymbolTables, save_symbols
from ...files import STANDARD_INPUT, find_descriptor, open_file, replacing
from ...loading import check_variables, describe_config_error
from .presets import Preset

#: Types of values that are read before spaCy validates the config.
_KINDS: dict[str, type] = {
    **dict.fromkeys([*DEFAULT_CONFIG, "training.score_weights"], dict),
    **dict.fromkeys(["nlp.lang", "training.train_corpus", "training.dev_corpus"], str),
    "nlp.pipeline": list,
    "nlp.disabled": list,
    "training.frozen_components": list,
    "training.seed": int,
}


class Change(NamedTuple):
    """A change of a config."""

    section: str
    key: str | None  #: None if the whole section is new.
    why: str

    @property
    def place(self) -> str:
        """The section and key, such as `[nlp] lang`."""
        return f"[{self.section}]" + (f" {self.key}" if self.key else "")


class Edits:
    """A config being edited, and its changes.

    base (str | Path): A `.cfg` file, or the folder or package of a saved pipeline.
    """

    def __init__(self, base: str | Path) -> None:
        self.base = find_config(base)
        self.config = _read_config(self.base)  #: The config with variables.
        self.plain = self.config.interpolate()  #: Without variables: see `refresh`.
        self.changes: list[Change] = []
        self.warnings: list[str] = []
        self.text = ""  #: The config as text, set by `write`.
        #: Symbols of the pretraining texts, to be saved beside the config as .npz.
        self.symbols: SymbolTables | None = None
        self._before = {*_walk_lines(self.config.to_str(interpolate=False))}
        self._reasons: dict[tuple[str, str | None], str] = {}
        self.kept: set[str] = set()  #: Sourced or frozen components.
        frozen = self.plain["training"]["frozen_components"]
        for name, component in self.config["components"].items():
            if "source" in component or name in frozen:
                self.kept.add(name)
                why = component.get("source", "[training] frozen_components")
                self.warnings.append(f"[components.{name}] keeps its model ({why}).")

    def get(self, section: str) -> Any:
        """Return a section or value, with variables unresolved, or None."""
        return get_value(self.config, section)

    def resolve(self, section: str) -> Any:
        """Return a section or value of `plain`, or None."""
        return get_value(self.plain, section)

    def find_components(self, *factories: str, is_any: bool = False) -> list[str]:
        """Find components by factory, unless they are sourced or frozen, or all."""
        components = self.plain["components"].items()
        found = [name for name, c in components if c.get("factory") in factories]
        return [name for name in found if is_any or name not in self.kept]

    @property
    def running(self) -> set[str]:
        """Names of enabled components."""
        return {*self.plain["nlp"]["pipeline"]} - {*self.plain["nlp"]["disabled"]}

    def make_tokenizer(self) -> Language:
        """Make the pipeline without components."""
        settings = {**self.resolve("nlp"), "pipeline": [], "disabled": []}
        settings |= {key: None for key in settings if key.endswith("creation")}
        return load_model_from_config({"nlp": settings}, auto_fill=True)

    def refresh(self) -> None:
        """Update `plain` from `config`."""
        try:
            self.plain = self.config.interpolate()
        except (ValueError, ConfigParserError) as error:
            raise ValueError(
                "A variable refers to a value that is replaced. Write out its value: "
                f"{describe_config_error(error)[:500]}"
            ) from error

    def set_block(
        self, section: str, block: Mapping[str, Any], why: Mapping[Any, str]
    ) -> None:
        """Replace a section. `why`: reasons by key; the key None is the section."""
        set_dot_to_object(self.config, section, dict(block))
        for key, reason in why.items():
            is_section = isinstance(block.get(key or ""), Mapping)
            place = (f"{section}.{key}", None) if is_section else (section, key)
            self._reasons[place] = " ".join(reason.split())

    def set(self, section: str, key: str, value: Any, why: str) -> None:
        """Set a value without variables."""
        self.set_block(section, {**(self.get(section) or {}), key: value}, {key: why})

    def set_path(self, key: str, value: str | Path, why: str) -> None:
        """Set a value of [paths], and refer to it in [initialize]."""
        self.set("paths", key, str(value), why)
        if key in self.config["initialize"]:
            self.config["initialize"][key] = f"${{paths.{key}}}"

    def apply(self, preset: Preset, section: str = "") -> None:
        """Insert a preset, unless another function is kept in its section."""
        section = section or preset.section
        current, ours = find_name(self.resolve(section)), find_name(preset.values)
        if not re.fullmatch(preset.replaces, str(current)):
            if preset.warns and current != ours:
                self.warnings.append(
                    f"[{section}] keeps {current}, so this setting is not inserted: "
                    f"{preset.why}"
                )
            return
        found = self.get(section)
        block = dict(found) if isinstance(found, dict) else {}
        kept = {key: block[key] for key in preset.keeps or () if key in block}
        if preset.keeps is not None and current != ours:
            block = kept
        why = dict.fromkeys([None, *preset.values], preset.why)
        self.set_block(section, {**block, **preset.values, **kept}, why)

    def save(self, output: Path) -> None:
        """Save the config, and the symbols beside it, both or neither."""
        with ExitStack() as stack:
            temporary = stack.enter_context(replacing(output))
            temporary.write_text(self.text, encoding="utf8")
            if self.symbols is not None:
                path = name_symbols(output)
                save_symbols(stack.enter_context(replacing(path)), self.symbols)

    def write(self) -> None:
        """Set `text`, with reasons as comments above changes, and `changes`."""
        self.refresh()
        explained = set()
        for place, line in _walk_lines(self.config.to_str(interpolate=False)):
            why = self._reasons.get(place)
            is_new = (place, line) not in self._before
            if why and is_new and (place[0], why) not in explained:
                explained.add((place[0], why))
                self.changes.append(Change(*place, why))
                self.text += f"# spacy-hashembeds: {why}\n"
            self.text += f"{line}\n"
        if load_config_from_str(self.text, interpolate=True) != self.plain:
            raise ValueError("The config has a value that can't be saved, such as NaN.")


def _walk_lines(text: str) -> Iterator[tuple[tuple[str, str | None], str]]:
    """Yield each line of a config with its section and key."""
    section = ""
    for line in text.split("\n"):
        header = re.fullmatch(r"\[(.+)\]", line)
        section = header[1] if header else section
        yield (section, None if header else line.partition(" = ")[0]), line


def find_name(block: Any) -> Any:
    """Return a block's registered function."""
    if not isinstance(block, Mapping):
        return block
    return next((value for key, value in block.items() if key.startswith("@")), None)


def get_value(config: Config, section: str, default: Any = None) -> Any:
    """Return a section or value, or `default`."""
    try:
        return dot_to_object(config, section)
    except KeyError:
        return default


def find_config(base: str | Path) -> Path:
    """Return the path of a config file, or of a pipeline's config."""
    path, name = Path(base), str(base)
    if path == STANDARD_INPUT or (path.exists() and not path.is_dir()):
        return path
    if name and not path.exists() and is_package(name):
        path = next(get_package_path(name).glob("*/config.cfg"), path).parent
    if name and (path / "config.cfg").is_file():
        return path / "config.cfg"
    raise FileNotFoundError(
        f"There is no config, pipeline folder or package '{base}'. Pass a .cfg file or "
        "a saved pipeline, such as the folder model-best."
    )


def list_outputs(output: Path, raw: str | Path | None) -> list[Path]:
    """List the config, and with `raw` the file of symbols beside it."""
    if raw is not None and find_descriptor(output) is not None:
        raise ValueError("--output should be a file, beside which --raw saves symbols.")
    return [output] if raw is None else [output, name_symbols(output)]


def name_symbols(output: str | Path) -> Path:
    """Return the path of a config's symbols."""
    return Path(output).with_suffix(".npz")


def _read_config(path: Path) -> Config:
    """Read a config, filled with spaCy's defaults."""
    with open_file(path, "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")  # spaCy refuses a byte-order mark
        config = load_config_from_str(text)
        check_variables(config)
        if "$$" in text:  # `Config.to_str` escapes it again
            config = Config(json.loads(json.dumps(config).replace("$$", "$")))
            if config.interpolate() != load_config_from_str(text, interpolate=True):
                raise ValueError("it contains '$${', which can't be saved unchanged.")
        if not (config.get("nlp") and config.get("components")):
            raise ValueError("[nlp] or [components] is empty.")
        config = DEFAULT_CONFIG.merge(config)
        plain = config.interpolate()
        _check_kinds(config, plain)
        get_lang_class(plain["nlp"]["lang"])
    except Exception as error:  # importing a language's module may raise any error
        raise ValueError(
            f"'{path}' should be a spaCy config in UTF-8, but can't be read: "
            + describe_config_error(error)[:600]
        ) from error
    return config


def _check_kinds(config: Config, plain: Config) -> None:
    """Check types of values, and refuse variables for sections outside components."""
    kinds = {**_KINDS}
    for name in plain["components"] if isinstance(plain["components"], dict) else ():
        place = f"components.{name}"
        kinds |= {place: dict, f"{place}.factory": str, f"{place}.source": str}
    kinds |= {".".join(k): str for k, _ in walk_dict(plain) if k[-1].startswith("@")}
    for place, kind in kinds.items():
        value = get_value(plain, place, default=kind())
        names = value if kind is list and isinstance(value, list) else []
        if not isinstance(value, kind) or not all(isinstance(n, str) for n in names):
            raise ValueError(f"{place} should be a {kind.__name__}, not {value!r:.99}")
    for keys, value in walk_dict(config):
        place = ".".join(keys)
        is_inside = place.startswith("components.") and len(keys) > 2
        is_inside &= str(value).startswith("${components.")
        if isinstance(get_value(plain, place), dict) and not is_inside:
            raise ValueError(f"{place} is a variable, {value}: write out the section.")
