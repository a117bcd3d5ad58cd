"""Tables 4 and 5 of the paper, beside the config that is made after them."""

from collections.abc import Mapping
from typing import Any

from spacy_hashembeds.loading import load_config

from ...trials.configs import find_config
from ..printed import get_printed_texts, get_rows
from ..tables import TextTable, make_text_table
from .layouts import PAPER

#: The config of the paper's size.
CONFIG = "glue_base"

_ENCODE = "components.tok2vec.model.encode"

#: For each table and each of its rows the setting of the config.
_OPTIMIZER = {
    "Adam ε": "optimizer.eps",
    "Adam β1": "optimizer.beta1",
    "Adam β2": "optimizer.beta2",
    "Peak learning rate": "optimizer.learn_rate.initial_rate",
    "Learning rate schedule": "optimizer.learn_rate",
    "Warmup steps": "optimizer.learn_rate.warmup_steps",
    "Weight decay": "optimizer.L2",
    "Maximum train epochs": "max_epochs",
    "Batch size (per GPU)": "batcher.size",
    "Dropout": "dropout",
}
_SETTINGS = {
    4: {
        **{row: f"pretraining.{key}" for row, key in _OPTIMIZER.items()},
        "Sequence length": f"{_ENCODE}.max_length",
        "Attention Dropout": f"{_ENCODE}.attention_dropout",
    },
    5: {
        **{row: f"training.{key}" for row, key in _OPTIMIZER.items()},
        "Attention Dropout": f"{_ENCODE}.attention_dropout",
        "Evaluation steps": "training.eval_frequency",
    },
}


def make_hyperparameter_tables() -> dict[int, TextTable]:
    """Set the paper's hyperparameters beside those of our config.

    RAISES (ValueError): If the config can't be read.
    RETURNS (dict[int, TextTable]): Tables 4 and 5. What the config does not set has no
        figure of ours, and nothing has if there is no such config.
    """
    settings = _read_settings()
    headings = ("Hyperparameter", "The paper", f"{CONFIG}.cfg", "Setting")
    return {
        number: make_text_table(
            number,
            headings,
            [_make_row(number, row, settings) for row in get_rows(number, PAPER)],
            PAPER,
        )
        for number in _SETTINGS
    }


def _read_settings() -> Mapping[str, Any]:
    try:
        path = find_config(CONFIG)
    except FileNotFoundError:
        return {}
    return load_config(path).interpolate()


def _make_row(number: int, row: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
    key = _SETTINGS[number][row]
    (printed,) = get_printed_texts(number, row, PAPER)["printed"]
    return (row, printed, _describe(_get_setting(settings, key)), key)


def _get_setting(settings: Any, key: str) -> Any:
    for part in key.split("."):
        settings = settings.get(part) if isinstance(settings, Mapping) else None
    return settings


def _describe(value: Any) -> str:
    """Say what a setting is: of a function, its name and its arguments."""
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, Mapping):
        name = next((name for key, name in value.items() if key.startswith("@")), "")
        settings = (
            f"{key} = {_describe(setting)}"
            for key, setting in value.items()
            if not key.startswith("@")
        )
        return f"{name} ({', '.join(settings)})"
    return f"{value:g}" if isinstance(value, int | float) else str(value)
