"""Whether a folder holds a saved pipeline and nothing else that could be lost."""

import json
from filecmp import cmp
from pathlib import Path
from typing import Any

from spacy.util import load_config

#: What spaCy saves beside the components, in files or folders of these names.
_CONFIG, _META = "config.cfg", "meta.json"
_SAVED = {_CONFIG, _META, "tokenizer", "vocab"}
#: How many of the files and folders an error names that are in the way.
_N_NAMED = 5


def check_replaceable(output: Path, source: Path, *, force: bool) -> None:
    """Check that a folder may be written, or replaced, without a loss.

    output (Path): The folder. It may be missing or empty.
    source (Path): The folder of the pipeline that is to be saved there. Copies of its
        files are no loss.
    force (bool): Whether a pipeline may be replaced.
    RAISES (FileExistsError): If there is something that is not to be replaced.
    """
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    if not force:
        raise FileExistsError(
            f"There is something in '{output}' already. Name another folder, or ask "
            "for it to be replaced (--force)."
        )
    for name, is_own in ((_CONFIG, _is_config), (_META, _is_meta)):
        if not is_own(output / name):
            raise FileExistsError(
                f"'{output}' should be a pipeline to replace, but has no {name} of "
                "spaCy's. Name another folder, or remove it yourself."
            )
    if foreign := _find_foreign(output, source):
        more = f" and {len(foreign) - _N_NAMED} more" * (len(foreign) > _N_NAMED)
        raise FileExistsError(
            f"'{output}' should hold nothing but the pipeline to replace, but also "
            f"holds {', '.join(foreign[:_N_NAMED])}{more}. Name another folder, or "
            "move that elsewhere."
        )


def _is_config(path: Path) -> bool:
    return "nlp" in _read_config(path)


def _read_config(path: Path) -> dict[str, Any]:
    try:
        return load_config(path)
    except (OSError, ValueError):
        return {}


def _is_meta(path: Path) -> bool:
    try:
        meta = json.loads(path.read_text(encoding="utf8"))
    except (OSError, ValueError):
        return False
    return isinstance(meta, dict) and "spacy_version" in meta


def _find_foreign(folder: Path, source: Path) -> list[str]:
    own = {*_SAVED, *_read_config(folder / _CONFIG).get("components", {})}
    return sorted(
        path.name
        for path in folder.iterdir()
        if path.name not in own and not _is_copy(path, source / path.name)
    )


def _is_copy(path: Path, original: Path) -> bool:
    if path.is_dir():
        return original.is_dir() and all(
            _is_copy(inside, original / inside.name) for inside in path.iterdir()
        )
    # os.stat of a link to nothing fails
    return original.is_file() and path.is_file() and cmp(path, original, shallow=False)
