"""Processes that run cases, with limits to time and memory."""

import faulthandler
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from .cases import Bench, Outcome, damage_case
from .target import Target
from .verdict import Kind, Verdict

if sys.platform != "win32":
    import resource

#: What is damaged, and the number of the case.
Case = tuple[Target, int]

#: How long a worker may take to start, and to read undamaged files.
_PATIENCE_SECONDS = 300

#: So many cases, and a worker is replaced: what it lost track of goes with it.
_CASES_A_WORKER = 500


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a case may take.

    seconds (float): Its time.
    gib (float): The memory that its process may have on top of what it starts with.
    """

    seconds: float = 30
    gib: float = 3


def run_cases(
    cases: Iterable[Case],
    *,
    seed: int,
    material: Path,
    limits: Limits,
    on_outcome: Callable[[Outcome], None],
) -> None:
    """Run cases one after the other, in processes of their own.

    cases (Iterable[tuple[Target, int]]): What is damaged, and the number of the case.
    seed (int): The seed of the damage.
    material (Path): The folder of undamaged files: see `cases.make_material`.
    on_outcome (Callable[[Outcome], None]): Called with each outcome.
    RAISES (RuntimeError): If the fuzzer itself fails, or this is not Linux.
    """
    if sys.platform != "linux":
        raise RuntimeError(
            "Files should be damaged on Linux, which limits memory and shows where a "
            f"process hangs, but this is {sys.platform}. Run it there, or in WSL."
        )
    waiting = iter(cases)
    case = next(waiting, None)
    while case is not None:
        with _Worker(seed, material, limits) as worker:
            for _ in range(_CASES_A_WORKER):
                outcome = worker.run(*case)
                on_outcome(outcome)
                case = next(waiting, None)
                if case is None or outcome.verdict.kind in (Kind.HANG, Kind.CRASH):
                    break


class _Worker:
    """A process that runs cases until one hangs or crashes."""

    def __init__(self, seed: int, material: Path, limits: Limits) -> None:
        self.seed, self.material, self.limits = seed, material, limits

    def __enter__(self) -> "_Worker":
        self.scratch = tempfile.TemporaryDirectory(prefix="fuzz-")
        self.stack = Path(self.scratch.name) / "stack"
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        scratch, gib = Path(self.scratch.name), self.limits.gib
        self.process = context.Process(
            target=_work,
            args=(theirs, self.seed, self.material, scratch, gib),
            daemon=True,
        )
        self.process.start()
        theirs.close()
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()
        self.scratch.cleanup()

    def run(self, target: Target, case: int) -> Outcome:
        """Run one case."""
        self.connection.send((target, case))
        self._receive(_PATIENCE_SECONDS)
        try:
            received = self._receive(self.limits.seconds)
        except TimeoutError:
            verdict = Verdict(kind=Kind.HANG, cause=self._get_stack())
        except EOFError:
            self.process.join()
            cause = f"{_name_exit(self.process.exitcode)} in {self._get_stack()}"
            verdict = Verdict(kind=Kind.CRASH, cause=cause)
        else:
            assert isinstance(received, Outcome)
            return received
        return self._fail(target, case, verdict)

    def _receive(self, seconds: float) -> Outcome | str:
        if not self.connection.poll(seconds):
            # has faulthandler write down where it is
            if self.process.pid is not None:
                os.kill(self.process.pid, signal.SIGUSR1)
            self.process.join(1)
            raise TimeoutError
        received = self.connection.recv()
        if isinstance(received, Exception):
            raise RuntimeError("The fuzzer failed.") from received
        return received

    def _fail(self, target: Target, case: int, verdict: Verdict) -> Outcome:
        folder = self.material / target.name
        part, *_, how = damage_case(target, folder, self.seed, case)
        return Outcome(
            target=target.name, case=case, part=part.path, damage=how, verdict=verdict
        )

    def _get_stack(self) -> str:
        """Say where the process was last, its own functions left out."""
        text = self.stack.read_text(errors="replace")
        frames = [line.strip() for line in text.splitlines() if "File" in line]
        places = [_shorten(frame) for frame in frames]
        return " < ".join(list(_cut(places))[:2]) or "an unknown place"


def _cut(places: list[str]) -> Iterator[str]:
    """Leave out what repeats itself, as in a recursion."""
    last = None
    for place in places:
        if place != last:
            yield place
        last = place


def _shorten(frame: str) -> str:
    # File "/…/spacy/util.py", line 12 in load
    path, _, function = frame.partition('", line ')
    return f"{'/'.join(path.split('/')[-2:])}:{function.split(' in ')[-1]}"


def _name_exit(code: int | None) -> str:
    return signal.Signals(-code).name if code and code < 0 else f"exit {code}"


def _work(
    connection: Connection, seed: int, material: Path, scratch: Path, gib: float
) -> None:
    with (
        (scratch / "stack").open("w") as stack,
        open(os.devnull, "w") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
        suppress(EOFError, BrokenPipeError),  # the parent was stopped
    ):
        faulthandler.enable(stack)
        faulthandler.register(signal.SIGUSR1, stack)
        import_module("fuzz.targets")  # with torch, whose addresses alone are gigabytes
        _limit_memory(gib)
        benches: dict[str, Bench] = {}
        while True:
            target, case = connection.recv()
            try:
                if target.name not in benches:
                    benches[target.name] = Bench(target, material, scratch)
                connection.send("ready")
                connection.send(benches[target.name].run(seed, case))
            except Exception:  # a fault of the fuzzer's own: the parent says so
                connection.send(RuntimeError(traceback.format_exc()))


def _limit_memory(gib: float) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + int(gib * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
