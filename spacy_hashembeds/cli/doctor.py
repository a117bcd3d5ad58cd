"""`spacy hashembeds doctor`."""

from typing import TYPE_CHECKING, Any

import typer
from wasabi import msg

from ._app import failing, hashembeds_cli
from ._output import JSON, QUIET, print_json

if TYPE_CHECKING:
    from ..acceleration.doctor import Health


@hashembeds_cli.command("doctor")
def doctor_cli(as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """Check the installation, measure this machine, and say what could be faster.

    Warns of versions, and of a system, that our tests did not run with. Ends with an
    error only if something is broken: a version outside our ranges, a name that does
    not load, a CuPy that can't be used.
    """
    from dataclasses import asdict

    with failing("Can't load the package"):  # for what is in the environment
        from ..acceleration.doctor import examine
    health = examine()
    if as_json:
        print_json(asdict(health))
    else:
        _print_health(health)
    if health.problems:
        raise typer.Exit(1)


def _print_health(health: "Health") -> None:
    from dataclasses import astuple

    versions = [(v.name, v.installed or "none", v.required) for v in health.versions]
    msg.table(versions, header=("Package", "Installed", "Required"), divider=True)
    msg.table(_describe_machine(health), title="Machine")
    blas = [["?" if f is None else f for f in astuple(one)] for one in health.blas]
    if health.blas[0].kernels == "generic":
        blas[0][2] = "generic: none for this processor"
    msg.table(blas, header=("BLAS", "Version", "Kernels", "Threads"), divider=True)
    msg.table(
        [
            (name, *(_format(*spread) for spread in row))
            for name, row in health.speeds.items()
        ],
        title="Matrix products: rows x inputs x outputs, median (quartiles)",
        header=("GFLOP/s", *("x".join(map(str, shape)) for shape in health.shapes)),
        divider=True,
        aligns=("l", *"r" * len(health.shapes)),
    )
    for text in health.disturbances:
        msg.warn("The measurements were disturbed", text)
    said = {"warn": health.untested, "info": health.advice, "fail": health.problems}
    for kind, texts in said.items():
        for text in texts:
            getattr(msg, kind)(text)
    if not health.problems:
        msg.good(f"Nothing is broken{_conclude(health)}")


def _conclude(health: "Health") -> str:
    if health.disturbances:
        return ". To know what would be faster, measure once more while all is idle"
    return "" if health.advice else ", and we know of nothing that would be faster"


def _describe_machine(health: "Health") -> dict[str, Any]:
    missing = (
        "the processor has no instructions"
        if health.kernels.in_use == "compiled"
        else "compiled kernels are not in use"
    )
    return {
        "Processor": health.processor,
        "Cores": health.cores,
        "GPU": health.gpu.device or "none in use",
        "CuPy": health.gpu.cupy or "none",
        "Python": health.python,
        "spaCy's parser": "compiled "
        f"{'with' if health.parser_profiled else 'without'} profiling",
        "Thinc's operations": health.ops,
        "Kernels of our layers": health.kernels.in_use,
        **{
            f"Products of {precision}": name or f"in float32: {missing}"
            for precision, name in health.kernels.instructions.items()
        },
        **health.threads,
    }


def _format(middle: float, quartiles: tuple[float, float]) -> str:
    places = 0 if middle >= 100 else 1
    lower, upper = (f"{quartile:,.{places}f}" for quartile in quartiles)
    return f"{middle:,.{places}f} ({lower}..{upper})"
