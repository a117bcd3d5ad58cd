"""Make wheels a quarter smaller, for machines that they travel to.

    python -m benchmarks._shrink_wheels FOLDER

Wheels are compressed by deflate. Python reads LZMA too, and so does pip, while package
registries take none. What is in the wheels stays the same.
"""

import os
import sys
from pathlib import Path
from zipfile import ZIP_LZMA, ZipFile


def shrink(wheel: Path) -> None:
    """Compress a wheel anew, in its place."""
    smaller = wheel.with_suffix(".tmp")
    with ZipFile(wheel) as old, ZipFile(smaller, "w") as new:
        for info in old.infolist():
            new.writestr(info, old.read(info), ZIP_LZMA)
    os.replace(smaller, wheel)


if __name__ == "__main__":
    for path in sorted(Path(sys.argv[1]).glob("*.whl")):
        shrink(path)
