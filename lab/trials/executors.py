"""Call a function for each of several items, each call in a process of its own.

Executors know nothing of trials.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

from .processes import check_system

Item = TypeVar("Item")

#: What the libraries that multiply matrices read when they are loaded.
THREAD_VARIABLES = tuple(
    f"{library}_THREADS"
    for library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "BLIS_NUM", "VECLIB_MAXIMUM")
)

# How often those who wait are told that we still do.
_TICK_SECONDS = 1.0


def run_local(
    function: Callable[[Item], object],
    items: Sequence[Item],
    *,
    jobs: int,
    on_start: Callable[[Item], None],
    on_wait: Callable[[], None],
) -> Generator[tuple[Item, str | None], None, None]:
    """Call a function for each item, in processes on this machine.

    Each call has a new process, in a session of its own together with what it starts.
    All of them are killed when the iterator is closed, upon an interrupt, and when this
    process dies, however it does. Where several run at once, the libraries that
    multiply matrices are told to use one thread in each, unless the environment already
    says how many.

    function (Callable): Anything that can be pickled.
    items (Sequence): Likewise. They are started in this order.
    jobs (int): How many calls to run at once.
    on_start (Callable): Called with each item when its process was started.
    on_wait (Callable): Called about every second while nothing ends.
    RAISES (ValueError): If there is to be no job at all.
    RAISES (OSError): On Windows (see `check_system`).
    YIELDS (tuple): Each item when its call has ended, and what went wrong, or None.
    """
    if jobs < 1:
        raise ValueError(f"'jobs' should be 1 or more, but is {jobs}.")
    check_system()
    queue = deque(items)
    running: dict[Any, tuple[SpawnProcess, Item]] = {}
    try:
        while queue or running:
            while queue and len(running) < jobs:
                item = queue.popleft()
                with _interrupts_blocked():
                    connection, process = _start(function, item, one_thread=jobs > 1)
                    running[connection] = process, item
                on_start(item)
            ready = wait(list(running), timeout=_TICK_SECONDS)
            if not ready:
                on_wait()
            for connection in ready:
                process, item = running[connection]
                error = _finish(process, connection)
                del running[connection]
                yield item, error
    finally:
        for process, _ in running.values():
            _kill(process)


def _start(
    function: Callable[[Item], object], item: Item, *, one_thread: bool
) -> tuple[Any, SpawnProcess]:
    # A fork would inherit our threads' locks and, with CUDA, a broken device.
    context = multiprocessing.get_context("spawn")
    connection, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(function, item, theirs))
    with _one_thread_each(one_thread):
        process.start()
    theirs.close()
    return connection, process


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Put off Ctrl-C, so that no process is started that we don't know of.

    A process that is started meanwhile never gets any: stopping it is left to us.
    """
    resource_tracker.ensure_running()  # or its start would end the blocking
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _one_thread_each(is_wanted: bool) -> Iterator[None]:
    ours = [name for name in THREAD_VARIABLES if is_wanted and name not in os.environ]
    os.environ.update(dict.fromkeys(ours, "1"))
    try:
        yield
    finally:
        for name in ours:
            del os.environ[name]


def _work(function: Callable[[Item], object], item: Item, result: Connection) -> None:
    os.setsid()
    threading.Thread(target=_die_with_parent, daemon=True).start()
    result.send(_call(function, item))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.killpg(0, signal.SIGKILL)


def _call(function: Callable[[Item], object], item: Item) -> str | None:
    try:
        function(item)
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return None


def _finish(process: SpawnProcess, connection: Any) -> str | None:
    try:
        error = connection.recv()
    except EOFError:
        process.join(_TICK_SECONDS)  # or the exit code would be that of our signal
        _kill(process)  # for what it started
        return f"Its process died with exit code {process.exitcode}."
    finally:
        connection.close()
    process.join()
    return error


def _kill(process: SpawnProcess) -> None:
    # Its session may not be there yet, or no longer.
    assert process.pid is not None
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()


def run_on_ray(
    function: Callable[[Item], object],
    items: Sequence[Item],
    *,
    jobs: int | None,
    on_start: Callable[[Item], None],
    on_wait: Callable[[], None],
    num_gpus: int = 0,
) -> Generator[tuple[Item, str | None], None, None]:
    """Call a function for each item, on a Ray cluster (extra: ray).

    The cluster is the one that Ray finds (`ray.init`; see RAY_ADDRESS), else one is
    made on this machine for as long as the work lasts. Each call has a new process with
    one CPU and one thread, in a folder of the same path as ours, which the nodes must
    share. A call whose process dies is tried once more.

    jobs (int, optional): How many calls to run at once; None for as many as the cluster
        has CPUs, or GPUs if they need these.
    num_gpus (int): GPUs that each call needs. Ray shows it no others.
    RAISES (ImportError): If Ray is not installed.
    RAISES (ValueError): If the cluster has no CPU, or no GPU where one is needed.
    All else is as for `run_local`.
    """
    ray = import_ray()
    if is_ours := not ray.is_initialized():
        ray.init(log_to_driver=False, logging_level="ERROR")
    call = ray.remote(
        num_cpus=1,
        num_gpus=num_gpus,
        max_calls=1,
        max_retries=1,
        runtime_env={"env_vars": dict.fromkeys(THREAD_VARIABLES, "1")},
    )(_call_in_folder)
    queue = deque(items)
    running: dict[Any, Item] = {}
    try:
        room = _count_room(ray.cluster_resources(), num_gpus)
        while queue or running:
            while queue and len(running) < (jobs or room):
                item = queue.popleft()
                running[call.remote(function, item, os.getcwd())] = item
                on_start(item)
            ready, _ = ray.wait(list(running), timeout=_TICK_SECONDS)
            if not ready:
                on_wait()
            for reference in ready:
                error = _get_error(ray, reference)
                yield running.pop(reference), error
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
        if is_ours:
            ray.shutdown()


def import_ray() -> Any:
    """Import Ray, or raise an ImportError that names the extra."""
    try:
        import ray
    except ImportError as e:
        raise ImportError(
            "Sweeps on a cluster need Ray: pip install 'spacy-hashembeds[ray]'."
        ) from e
    return ray


def _count_room(resources: Mapping[str, float], num_gpus: int) -> int:
    """Say how many calls a cluster can run at once. Ray would wait for ever for one."""
    room = resources.get("CPU", 0)
    if num_gpus:
        room = min(room, resources.get("GPU", 0) / num_gpus)
    if room < 1:
        raise ValueError(
            f"Each call needs 1 CPU and {num_gpus} GPUs, but the Ray cluster has "
            f"{resources.get('CPU', 0):g} and {resources.get('GPU', 0):g}."
        )
    return int(room)


def _call_in_folder(
    function: Callable[[Item], object], item: Item, folder: str
) -> str | None:
    os.chdir(folder)
    return _call(function, item)


def _get_error(ray: Any, reference: Any) -> str | None:
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as e:
        return f"{type(e).__name__}: {e}".strip()
