"""Damage to data written as JSON or YAML, and traps for those who read them."""

import json
from collections.abc import Sequence
from random import Random
from typing import Any

import srsly

from .damage_values import change_value, damage_value

_MARK = "@@trap@@"

#: Valid in JSON, and a trap all the same.
JSON_TRAPS = (
    "[" * 100_000,
    "[" * 100_000 + "]" * 100_000,
    '{"a":' * 50_000 + "1" + "}" * 50_000,
    "9" * 5000,
    "-1e400",
    "1e400",
    "NaN",
    "-Infinity",
    '"\\ud800"',
    '"\\u0000"',
    '{"a": 1, "a": 2}',
    '"' + "x" * 1_000_000 + '"',
)

#: Values of YAML that JSON has not.
YAML_TRAPS = (
    "&a [*a]",
    "&a {k: *a}",
    "&a {k: {m: *a}}",
    "{<<: 1}",
    "*nowhere",
    "!!python/object/apply:os.getcwd []",
    "!!binary aGk=",
    "!!set {a, b}",
    "!!omap [a: 1]",
    "!unknown x",
    "2001-01-01",
    "2001-01-01T00:00:00Z",
    "0x10",
    "1_000",
    "1e400",
    ".nan",
    "-.inf",
    "yes",
    "~",
    "9" * 5000,
    "[" * 3000 + "]" * 3000,
    "[" * 3000,
    "{a: 1, a: 2}",
    "{? [x] : 1}",
    "{1: 2}",
    "{null: 1}",
    "'x",
    "x" * 1_000_000,
)


def damage_json(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Damage a value of JSON data."""
    return _damage(json.loads(data), JSON_TRAPS, rng)


def damage_yaml(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Damage a value of YAML data. The result is YAML in the form of JSON."""
    return _damage(srsly.yaml_loads(data.decode("utf8")), YAML_TRAPS, rng)


def _damage(data: Any, traps: Sequence[str], rng: Random) -> tuple[bytes, str]:
    if rng.random() < 0.7:
        damaged, how = damage_value(data, rng)
        return _dump(damaged), how
    trap = rng.choice(traps)
    damaged, how = change_value(data, rng, lambda value, rng: _MARK)
    where = how.split(": ")[0]
    text = _dump(damaged).replace(f'"{_MARK}"'.encode(), trap.encode())
    return text, f"{where}: {trap[:40]}"


def _dump(data: Any) -> bytes:
    return json.dumps(data, indent=1, ensure_ascii=False).encode(
        "utf8", "surrogatepass"
    )
