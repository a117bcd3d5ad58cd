"""What is damaged, read and used."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

#: Damages the bytes of a file, and says how.
Damage = Callable[[bytes, Random], tuple[bytes, str]]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A file that is damaged.

    path (str): Where it is, below the folder of its target.
    structured (Damage, optional): What damages a value in its format, next to the ways
        in which any bytes are damaged.
    weight (int): How often it is damaged, among the parts of its target.
    is_ours (bool): Whether its content is this package's. What spaCy or Thinc alone
        understand is theirs to check.
    """

    path: str
    structured: Damage | None = None
    weight: int = 1
    is_ours: bool = True


@dataclass(frozen=True, kw_only=True)
class Target:
    """Files of one kind, and what a user does with them.

    name (str): Its name on the command line.
    parts (Sequence[Part]): Its files.
    make (Callable[[Path], None]): Writes them, whole, to a folder.
    load (Callable[[Path, Part], Any]): Reads them, one of which may be damaged.
    use (Callable[[Any], Any]): Does what a user does next. Gives the answer, to be
        compared with that of the undamaged files.
    find_fault (Callable[[Part, bytes, bytes, Any], str | None]): Given a file as it was
        and as it is, and the answer, says what a check of the file could have seen.
        None: the file might have been written so.
    is_same (Callable[[Any, Any], bool]): Whether two answers are the same.
    names_file (bool): Whether errors should name the file. Where weights are refused,
        they should name the layer instead, since layers know no files.
    """

    name: str
    parts: Sequence[Part]
    make: Callable[[Path], None]
    load: Callable[[Path, Part], Any]
    use: Callable[[Any], Any]
    find_fault: Callable[[Part, bytes, bytes, Any], str | None]
    is_same: Callable[[Any, Any], bool] = operator.eq
    names_file: bool = True
