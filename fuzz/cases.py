"""One case: a file of a target, damaged in one way, and what becomes of it."""

import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from .damage_bytes import damage_bytes
from .target import Damage, Part, Target
from .verdict import Verdict, judge_answer, judge_error

#: How often to look for damage that changes the file, and that its format can write.
_TRIES = 100

_CANT_WRITE = (
    *(ValueError, TypeError, AttributeError),
    *(KeyError, OverflowError, RecursionError),
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A case and what became of it.

    target (str): The name of its target.
    case (int): Its number.
    part (str): The file that was damaged.
    damage (str): How.
    verdict (Verdict): What became of it.
    """

    target: str
    case: int
    part: str
    damage: str
    verdict: Verdict


class Bench:
    """The undamaged files of a target in a folder of their own, with their answer.

    target (Target): What is damaged.
    material (Path): The folder of undamaged files, which is copied.
    scratch (Path): An empty folder to work in.
    """

    def __init__(self, target: Target, material: Path, scratch: Path) -> None:
        self.target = target
        self.folder = scratch / target.name
        shutil.copytree(material / target.name, self.folder)
        self.answers: dict[str, Any] = {}

    def run(self, seed: int, case: int) -> Outcome:
        """Damage a file, load and use it, and put the undamaged one back."""
        part, original, damaged, how = damage_case(self.target, self.folder, seed, case)
        if part.path not in self.answers:
            loaded = self.target.load(self.folder, part)
            self.answers[part.path] = self.target.use(loaded)
        with _in_place(self.folder / part.path, damaged, original):
            verdict = self._judge(part, original, damaged)
        # the folder has another name each time
        message = verdict.message.replace(f"{self.folder}/", "")
        return Outcome(
            target=self.target.name,
            case=case,
            part=part.path,
            damage=how,
            verdict=replace(verdict, message=message),
        )

    def _judge(self, part: Part, original: bytes, damaged: bytes) -> Verdict:
        is_loaded = False
        try:
            loaded = self.target.load(self.folder, part)
            is_loaded = True
            answer = self.target.use(loaded)
        except Exception as error:  # of whichever kind: it is what is to be judged
            return judge_error(self.target, part, error, is_loaded=is_loaded)
        answers = self.answers[part.path], answer
        return judge_answer(self.target, part, (original, damaged), answers)


def damage_case(
    target: Target, folder: Path, seed: int, case: int
) -> tuple[Part, bytes, bytes, str]:
    """Damage a file of a target. The same seed and number give the same damage.

    RETURNS (tuple[Part, bytes, bytes, str]): The file, its bytes as they were and as
        they are, and what happened to them.
    """
    rng = Random(f"{seed} {target.name} {case}")
    (part,) = rng.choices(target.parts, [part.weight for part in target.parts])
    original = (folder / part.path).read_bytes()
    for _ in range(_TRIES):
        damage: Damage = damage_bytes
        if part.structured is not None and rng.random() < 0.6:
            damage = part.structured
        try:
            damaged, how = damage(original, rng)
        except _CANT_WRITE:
            continue  # the format can't write this
        if damaged != original:
            return part, original, damaged, how
    raise RuntimeError(f"{part.path} of {target.name} can't be damaged.")


def make_material(target: Target, material: Path) -> None:
    """Write the undamaged files of a target."""
    folder = material / target.name
    folder.mkdir(parents=True)
    target.make(folder)


@contextmanager
def _in_place(path: Path, damaged: bytes, original: bytes) -> Iterator[None]:
    path.write_bytes(damaged)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        path.write_bytes(original)
