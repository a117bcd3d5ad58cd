"""The config to start from: a file, or that of a saved pipeline."""

from configparser import Error as ConfigParserError
from dataclasses import dataclass
from pathlib import Path

from spacy.util import (
    get_model_meta,
    get_package_path,
    is_package,
    load_config_from_str,
)
from thinc.api import Config

_CONFIG, _META = "config.cfg", "meta.json"


@dataclass(frozen=True)
class Base:
    """A config that was read."""

    #: Where it stands.
    path: Path
    text: str
    #: What it says, with variables.
    config: Config

    @property
    def is_pipeline(self) -> bool:
        """Whether it is the config of a saved pipeline."""
        return self.path.name == _CONFIG and is_pipeline(self.path.parent)


def read_base(base: str | Path) -> Base:
    """Read a config.

    base (str | Path): A `.cfg` file, the folder of a saved pipeline, or the name of its
        package.
    RAISES (OSError): If there is none.
    RAISES (ValueError): If it is no config of a pipeline.
    """
    path = _find(base)
    try:
        text = path.read_text(encoding="utf8")
        config = load_config_from_str(text)
        config.interpolate()
    except (ValueError, ConfigParserError) as error:
        # spaCy names no file, and lays its messages out over many lines.
        reason = " ".join(str(error).split())
        raise ValueError(
            f"'{path}' should be a spaCy config, but can't be read as one: {reason}"
        ) from error
    for section in ("nlp", "components"):
        if not config.get(section):
            raise ValueError(
                f"'{path}' should be the config of a pipeline, but has nothing in "
                f"[{section}]. Make one with `spacy init config`."
            )
    if not config["nlp"].get("lang"):
        raise ValueError(
            f"'{path}' should say which language the pipeline is for, as 'lang' in "
            "[nlp]: norms depend on it."
        )
    return Base(path, text, config)


def is_pipeline(folder: Path) -> bool:
    """Tell whether a folder is that of a saved pipeline."""
    return (folder / _CONFIG).is_file() and (folder / _META).is_file()


def _find(base: str | Path) -> Path:
    path = Path(base)
    if path.is_file():
        return path
    if path.is_dir():
        return _find_in_folder(path)
    if is_package(str(base)):
        folder = get_package_path(str(base))
        meta = get_model_meta(folder)
        return folder / f"{meta['lang']}_{meta['name']}-{meta['version']}" / _CONFIG
    raise FileNotFoundError(
        f"There is no config, no folder and no package '{base}'. Give a .cfg file, as "
        "`spacy init config` writes it, or a saved pipeline."
    )


def _find_in_folder(folder: Path) -> Path:
    path = folder / _CONFIG
    if path.is_file():
        return path
    inside = sorted(str(meta.parent) for meta in folder.glob(f"*/{_META}"))
    remedy = f" Give one of those in it: {', '.join(inside)}." if inside else ""
    raise FileNotFoundError(
        f"The folder '{folder}' should be a saved pipeline, but has no {_CONFIG}."
        f"{remedy}"
    )
