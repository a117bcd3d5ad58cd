"""Skipped tests: their number, the reasons, and the commands that run them."""

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
NO_ZIG = "needs Zig's compiler"
NO_EMULATOR = "needs QEMU's emulator of aarch64"
NO_CORPORA = "needs the real corpora"
NO_MKDOCS = "needs MkDocs"
NO_LOOKUPS = "needs spacy-lookups-data and pymorphy3"
NO_RAY = "needs Ray Data"
NO_FASTAPI = "needs FastAPI"
NO_STEMMER = "needs snowballstemmer"
NO_SPARK = "needs PySpark and Java"

_INSTALL = "run `pip install -e .[test]`"

#: Remedies, by the reason for skipping a test.
REMEDIES = {
    NO_TORCH: "`make test-torch` runs them",
    NO_GPU: "`pytest -m gpu` runs them on a machine with a GPU",
    NO_NVCC: "install the CUDA toolkit",
    NO_COMPILER: "install Debian's package g++",
    NO_ZIG: "run `pip install ziglang`",
    NO_EMULATOR: "install Debian's package qemu-user-static",
    NO_CORPORA: "set SPACY_HASHEMBEDS_DATA to their folder",
    NO_MKDOCS: "`make docs` runs them",
    **dict.fromkeys((NO_LOOKUPS, NO_RAY, NO_FASTAPI, NO_STEMMER), _INSTALL),
    NO_SPARK: "run `pip install pyspark pyarrow`, and install a JVM",
}

#: Reasons for skipping tests with a mark, or None.
MARKS = {
    "gpu": None if gpu_is_available() else NO_GPU,
    "torch": None if has_torch else NO_TORCH,
}

#: Requirements that CI need not have.
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
    """Fail in CI if tests that CI could run were skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and _find_wrong(reporter) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter) -> Iterator[None]:
    yield
    for reason, count in _count_reasons(terminalreporter).most_common():
        remedy = f": {REMEDIES[reason]}" if reason in REMEDIES else ""
        line = f"Tests skipped: {count} ({reason}){remedy}"
        terminalreporter.line(line, yellow=True)
    for reason in _find_wrong(terminalreporter):
        line = f"CI should run these tests: {reason}"
        terminalreporter.line(line, red=True)


def _count_reasons(reporter) -> Counter[str]:
    skipped = reporter.stats.get("skipped", [])
    return Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)


def _find_wrong(reporter) -> list[str]:
    """Find reasons that may not skip tests in CI."""
    if os.environ.get("CI") != "true":
        return []
    return [each for each in _count_reasons(reporter) if each not in MISSING_IN_CI]
