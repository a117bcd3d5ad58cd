"""`spacy hashembeds doctor`."""

from typing import TYPE_CHECKING

import typer

from ._app import hashembeds_cli
from ._output import JSON, QUIET, print_json

if TYPE_CHECKING:
    from ..acceleration.doctor import Health


@hashembeds_cli.command("doctor")
def doctor_cli(
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Check the installation, measure this machine, and say what could be faster.

    Warns of versions, and of a system, that our tests did not run with. Ends with an
    error only if something is broken: a version outside our ranges, a name that does
    not load, a CuPy that can't be used.
    """
    from dataclasses import asdict

    from wasabi import msg

    try:
        from ..acceleration.doctor import examine
    except ValueError as e:  # of the environment
        msg.fail("Can't load the package", str(e), exits=1)
    health = examine()
    if as_json:
        print_json(_name_fields(asdict(health)))
    else:
        _print_health(health)
    if health.problems:
        raise typer.Exit(1)


def _name_fields(value: object) -> object:
    """Make dicts of named tuples, which JSON would have as lists."""
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, dict):
        return {key: _name_fields(item) for key, item in value.items()}
    return [_name_fields(item) for item in value] if isinstance(value, list) else value


def _print_health(health: "Health") -> None:
    from wasabi import msg

    versions = [(v.name, v.installed or "none", v.required) for v in health.versions]
    msg.table(versions, header=("Package", "Installed", "Required"), divider=True)
    profiled = health.parser_profiled
    machine = {
        "Processor": health.processor,
        "Cores": health.cores,
        "GPU": health.gpu.device or "none in use",
        "CuPy": health.gpu.cupy or "none",
        "Python": health.python,
        "spaCy's parser": f"compiled with{'' if profiled else 'out'} profiling",
        "Thinc's operations": health.ops,
        **health.threads,
    }
    msg.table(machine, title="Machine")
    blas = [["?" if f is None else f for f in library] for library in health.blas]
    header = ("BLAS", "Version", "Kernels", "Threads")
    msg.table(blas, header=header, divider=True)
    speeds = [
        (name, *(f"{speed:.1f}" for speed in row))
        for name, row in health.speeds.items()
    ]
    shapes = tuple("x".join(map(str, shape)) for shape in health.shapes)
    msg.table(
        speeds,
        title="Matrix products: rows x inputs x outputs",
        header=("GFLOP/s", *shapes),
        divider=True,
        aligns=tuple("l" + "r" * len(shapes)),
    )
    _print_kernels(health)
    for text in health.untested:
        msg.warn(text)
    for text in health.advice:
        msg.info(text)
    for text in health.problems:
        msg.fail(text)
    if not health.problems:
        more = "" if health.advice else ", and we know of nothing that would be faster"
        msg.good(f"Nothing is broken{more}")


def _print_kernels(health: "Health") -> None:
    from wasabi import msg

    in_use, _, _, measured = health.kernels
    names = {"compiled": "our compiled kernels", "numpy": "numpy alone"}
    rows = [
        (
            f"{names[name]}, in use" if name == in_use else names[name],
            *(f"{us:.1f}" for us in of_name.values()),
        )
        for name, of_name in measured.items()
    ]
    if "compiled" not in measured:
        rows.insert(0, (names["compiled"], "-", "-", "-"))
    msg.table(
        rows,
        title="Tok2Vec of width 96 on the CPU, microseconds a word",
        header=("", "one text", "a batch", "training"),
        divider=True,
        aligns=("l", "r", "r", "r"),
    )
