"""Tests that are left out for want of something: how many, why, and what runs them."""

import os
from collections import Counter
from collections.abc import Iterator

import pytest
from thinc.compat import has_torch
from thinc.util import gpu_is_available

NO_TORCH = "needs PyTorch"
NO_GPU = "needs a GPU with CuPy"
NO_NVCC = "needs nvcc, CUDA's compiler"
NO_COMPILER = "needs a C++ compiler"
NO_ZIG = "needs Zig's compiler, which compiles for other systems"
NO_EMULATOR = "needs QEMU's emulator of aarch64"
NO_CORPORA = "needs the real corpora"
NO_MKDOCS = "needs MkDocs"
NO_LOOKUPS = "needs spacy-lookups-data and pymorphy3"
NO_RAY = "needs Ray Data"
NO_FASTAPI = "needs FastAPI"
NO_STEMMER = "needs snowballstemmer"
NO_SPARK = "needs PySpark and Java"

#: What runs those that are left out, by the reason that they give.
REMEDIES = {
    NO_TORCH: "`make test-torch` runs them",
    NO_GPU: "`pytest -m gpu` runs them where there is one",
    NO_NVCC: "they run where it is found",
    NO_COMPILER: "Debian's package g++ brings it",
    NO_ZIG: "`pip install ziglang` brings it",
    NO_EMULATOR: "Debian's package qemu-user-static brings it",
    NO_CORPORA: "they run where SPACY_HASHEMBEDS_DATA names their folder",
    NO_MKDOCS: "`make docs` runs them",
    NO_LOOKUPS: "`pip install -e .[test]` brings them",
    NO_RAY: "`pip install -e .[test]` brings it",
    NO_FASTAPI: "`pip install -e .[test]` brings it",
    NO_STEMMER: "`pip install -e .[test]` brings it",
    NO_SPARK: "`pip install pyspark pyarrow` and a JVM bring them",
}

#: Marks of tests that need something, and why they are left out where it is missing.
MARKS = {
    "gpu": None if gpu_is_available() else NO_GPU,
    "torch": None if has_torch else NO_TORCH,
}

#: What need not be where CI runs.
MISSING_IN_CI = (
    *(NO_GPU, NO_NVCC, NO_COMPILER, NO_ZIG, NO_EMULATOR, NO_CORPORA, NO_MKDOCS),
    NO_SPARK,
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark, reason in MARKS.items():
            if reason is not None and item.get_closest_marker(mark) is not None:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail in CI if anything was left out that CI could have run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and _find_wrong(reporter) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter) -> Iterator[None]:
    yield
    for reason, count in _count_reasons(terminalreporter).most_common():
        remedy = f": {REMEDIES[reason]}" if reason in REMEDIES else ""
        line = f"Tests left out: {count} ({reason}){remedy}"
        terminalreporter.line(line, yellow=True)
    for reason in _find_wrong(terminalreporter):
        line = f"CI should run them: {reason}"
        terminalreporter.line(line, red=True)


def _count_reasons(reporter) -> Counter[str]:
    skipped = reporter.stats.get("skipped", [])
    return Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)


def _find_wrong(reporter) -> list[str]:
    """Find the reasons that nothing may be left out for in CI."""
    if os.environ.get("CI") != "true":
        return []
    return [each for each in _count_reasons(reporter) if each not in MISSING_IN_CI]
