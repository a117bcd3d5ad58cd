"""`spacy hashembeds doctor`."""

from typing import TYPE_CHECKING

import typer
from wasabi import msg

from ._app import failing, hashembeds_cli
from ._output import JSON, QUIET, print_json

if TYPE_CHECKING:
    from ...acceleration.doctor import Health


@hashembeds_cli.command("doctor")
def doctor_cli(as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """Check the installation, measure this machine, and say what could be faster.

    Warns of versions, and of a system, that our tests did not run with. Ends with an
    error only if something is broken: a version outside our ranges, a name that does
    not load, a CuPy that can't be used.
    """
    from dataclasses import asdict

    with failing("Can't load the package"):  # for what is in the environment
        from ...acceleration.doctor import examine
    health = examine()
    if as_json:
        print_json(asdict(health))
    else:
        _print_health(health)
    if health.problems:
        raise typer.Exit(1)


def _print_health(health: "Health") -> None:
    from dataclasses import astuple

    from ...acceleration.blas import SHAPES

    versions = [(v.name, v.installed or "none", v.required) for v in health.versions]
    msg.table(versions, header=("Package", "Installed", "Required"), divider=True)
    missing = (
        "the processor has no instructions"
        if health.compiled
        else "compiled kernels are not in use"
    )
    machine = {
        "Processor": health.processor,
        "GPU": health.gpu.device or "none in use",
        "CuPy": health.gpu.cupy or "none",
        "Python": health.python,
        "spaCy's parser": "compiled "
        f"{'with' if health.parser_profiled else 'without'} profiling",
        "Thinc's operations": health.ops,
        "Kernels of our layers": "compiled" if health.compiled else "numpy",
    }
    for precision, name in health.instructions.items():
        machine[f"Products of {precision}"] = name or f"in float32: {missing}"
    msg.table(machine, title="Machine")
    blas = [
        ["?" if field is None else field for field in astuple(b)] for b in health.blas
    ]
    msg.table(blas, header=("BLAS", "Version", "Kernels"), divider=True)
    msg.table(
        [(name, *(f"{x:,.0f}" for x in row)) for name, row in health.speeds.items()],
        title="Matrix products: rows x inputs x outputs",
        header=("GFLOP/s", *("x".join(map(str, shape)) for shape in SHAPES)),
        divider=True,
        aligns=("l", *"r" * len(SHAPES)),
    )
    said = {"warn": health.untested, "info": health.advice, "fail": health.problems}
    for kind, texts in said.items():
        for text in texts:
            getattr(msg, kind)(text)
    if not health.problems:
        rest = "" if health.advice else ", and we know of nothing that would be faster"
        msg.good(f"Nothing is broken{rest}")
