"""The scripts of docs/scale.md, each run on a few texts."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from multiprocessing import Process
from pathlib import Path
from runpy import run_path
from types import ModuleType
from typing import Any

import pytest

from .conftest import ROOT, load_script
from .left_out import NO_FASTAPI, NO_RAY, NO_SPARK
from .toy_ner import make_ruler

FOLDER = ROOT / "docs" / "scale"
#: Longer than spaCy's `max_length`.
TOO_LONG = "x" * 1_000_001
TEXTS = ["Anna sings", TOO_LONG, "", "so does Anna"]
ANNA = {"label": "PER", "text": "Anna", "score": None}


def check_rows(found: list[dict[str, Any]], prefix: str = "") -> None:
    keys = ("start", "end", "label", "text")
    rows = [(str(row["id"]), *(row.get(key) for key in keys)) for row in found]
    assert rows == [
        (f"{prefix}1", 0, 4, "PER", "Anna"),
        (f"{prefix}2", None, None, None, None),
        (f"{prefix}4", 8, 12, "PER", "Anna"),
    ]
    errors = [(row.get("error") or "").partition(" of length")[0] for row in found]
    assert errors == ["", "ValueError: [E088] Text", ""]


@pytest.fixture
def recipe(monkeypatch) -> Callable[[str], ModuleType]:
    """Return a function that loads a script."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return lambda name: load_script(FOLDER / f"{name}.py")


@pytest.fixture
def model(tmp_path) -> Path:
    make_ruler({"Anna": "PER"}, None).to_disk(tmp_path / "model")
    return tmp_path / "model"


def run_alone(name: str, *args: Path) -> str:
    """Run a script that exits with an error in a new process, in another folder."""
    env = {
        "PYTHONPATH": os.pathsep.join(map(str, (FOLDER, ROOT))),
        "RAY_OVERRIDE_RESOURCES": '{"CPU": 1}',
        "RAY_worker_niceness": "0",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py", *args],
        check=False,
        capture_output=True,
        text=True,
        cwd=args[0].parent,
        env=os.environ | env,
    )
    assert done.returncode != 0, done.stderr[-5000:]
    return done.stdout + done.stderr


@pytest.mark.parametrize("zone", [1, 3, 1000])
def test_failing_texts_get_a_row_and_others_are_processed(
    recipe, model, monkeypatch, zone
):
    entities = recipe("entities")
    monkeypatch.setattr(entities, "ZONE", zone)
    nlp = entities.load(model)
    check_rows([*entities.find_entities(nlp, enumerate(TEXTS, 1))])
    assert entities.load(model) is nlp
    assert "sings" not in nlp.vocab.strings


def test_ids_are_line_numbers(recipe, model, tmp_path):
    path = tmp_path / "texts.txt"
    texts = "\ufeffAnna\r\n\u2028Anna\x0b\n\n"
    path.write_bytes(texts.encode() + b"\xff Anna\nb\rAnna")
    entities = recipe("entities")
    rows = [*entities.find_entities(entities.load(model), entities.read_lines(path))]
    found = [(row["id"], row.get("start")) for row in rows]
    assert found == [(1, 0), (2, 1), (4, None), (5, 2)]
    assert rows[2]["error"].startswith("UnicodeDecodeError: 'utf-8' codec can't decode")


@pytest.fixture
def one_machine(recipe, monkeypatch) -> Callable[..., None]:
    """Return a function that runs one_machine.py in this process."""
    module = recipe("one_machine")
    monkeypatch.setitem(sys.modules, "one_machine", module)  # for worker processes

    def run(*args: str | Path, work: Any = module.work) -> None:
        monkeypatch.setattr(sys, "argv", ["one_machine", *map(str, args)])
        monkeypatch.setattr(module, "work", work)
        module.main()

    return run


@pytest.fixture
def texts(tmp_path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS))
    return path


@pytest.mark.parametrize("output", ["texts.txt", "link", "folder"])
def test_one_machine_does_not_overwrite_its_input(one_machine, texts, output, capsys):
    before = texts.read_text()
    (texts.parent / "link").symlink_to(texts)
    (texts.parent / "folder").mkdir()
    with pytest.raises(SystemExit):
        one_machine("model", texts, texts.parent / output)
    assert "can't be replaced by entities" in capsys.readouterr().err
    assert texts.read_text() == before


def kill_worker(*args: Any) -> None:
    """Kill the worker process."""
    os.kill(os.getpid(), signal.SIGKILL)


FORKED = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@FORKED
@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("processes", ["1", "2"])
def test_one_machine(one_machine, model, texts, processes):
    output = texts.with_name("rows.jsonl")
    with pytest.raises(BrokenProcessPool, match="terminated abruptly"):
        one_machine(model, texts, output, "--processes", "2", work=kill_worker)
    assert not output.exists()
    assert not list(texts.parent.glob(".*"))
    one_machine(model, texts, output, "--processes", processes)
    check_rows([json.loads(line) for line in output.read_text().splitlines()])
    assert not list(texts.parent.glob(".*"))


def write_parquet(path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    ids = [f"t{i}" for i in range(1, len(TEXTS) + 1)]
    pq.write_table(pa.table({"id": ids, "text": TEXTS}), path)


def read_parquet(path: Path) -> list[dict[str, Any]]:
    rows = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    return sorted(rows, key=lambda row: row["id"])


@pytest.fixture
def parts(tmp_path) -> Path:
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "a.txt").write_text("\n".join(TEXTS))
    (folder / "c.txt").write_text("Anna\n")
    return folder


@pytest.mark.slow
def test_ray_data(model, parts, tmp_path):
    if not all(map(find_spec, ("ray", "pyarrow", "pandas"))):
        pytest.skip(NO_RAY)
    write_parquet(parts / "b.parquet")
    out = tmp_path / "out"
    out.mkdir()
    shutil.copy(parts / "a.txt", out / "c.txt.entities.parquet")  # is skipped
    (parts / ".hidden.txt").write_text("Anna")
    (parts / "d.parquet").write_bytes(b"PAR1")
    said = run_alone("ray_entities", model, parts, out)
    assert "d.parquet: can't be read" in said
    assert "a.txt: 4 texts, 1 failed" in said
    assert "c.txt:" not in said
    assert "1 parts were done before" in said
    names = {f"{name}.entities.parquet" for name in ("a.txt", "b.parquet", "c.txt")}
    assert {path.name for path in out.iterdir()} == names
    check_rows(read_parquet(out / "a.txt.entities.parquet"))
    check_rows(read_parquet(out / "b.parquet.entities.parquet"), "t")


@pytest.mark.slow
def test_spark(model, parts, tmp_path):
    if not find_spec("pyspark") or not shutil.which("java"):
        pytest.skip(NO_SPARK)
    write_parquet(parts / "b.parquet")
    write_parquet(parts / "d.parquet")
    out = tmp_path / "out"
    (out / "d").mkdir(parents=True)
    (out / "d" / "_SUCCESS").touch()
    (parts / "a.parquet").write_bytes(b"PAR1")
    assert "a.parquet: " in run_alone("spark_entities", model, parts, out)
    assert "no Parquet files" in run_alone("spark_entities", model, out, parts)
    check_rows(read_parquet(out / "b"), "t")
    assert [path.name for path in (out / "d").iterdir()] == ["_SUCCESS"]


@pytest.fixture
def service(recipe, model, monkeypatch) -> Any:
    if not all(map(find_spec, ("fastapi", "httpx", "uvicorn"))):
        pytest.skip(NO_FASTAPI)
    monkeypatch.setenv("MODEL", str(model))
    return recipe("service")


def ask(service: Any, *bodies: Any) -> list[Any]:
    """Send requests in this order, without waiting, and return their responses."""
    httpx = pytest.importorskip("httpx")
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(service.app), base_url="http://test"
    )

    async def send() -> list[Any]:
        async with service.run(service.app), client:
            kinds = ["json" if type(body) is dict else "content" for body in bodies]
            posts = zip(kinds, bodies, strict=True)
            sent = [client.post("/entities", **{kind: body}) for kind, body in posts]
            return await asyncio.gather(*sent)

    return asyncio.run(send())


@pytest.mark.parametrize(
    ("body", "code", "rows"),
    [
        ({"text": "so does Anna"}, 200, [{"start": 8, "end": 12, **ANNA}]),
        ({"text": ""}, 200, []),
        ({"text": TOO_LONG}, 422, None),
        (b'{"text": "Anna', 422, None),
        (b'{"text": null}', 422, None),
        (b'{"text": NaN}', 422, None),
        (b'{"text": "\\ud800 Anna"}', 422, None),
        (b"{}", 422, None),
        (b"[" * 100_000, 422, None),
        (b"\xff", 422, None),
        (b" " * 1_200_001, 413, None),
    ],
    ids=lambda value: f"{value!r:.30}",
)
def test_service_responses(service, body, code, rows):
    answer, after = ask(service, body, {"text": "Anna"})
    assert (answer.status_code, len(answer.content) < 200) == (code, True)
    assert rows is None or answer.json() == rows
    assert after.status_code == 200


def test_service_batches_waiting_texts(service, monkeypatch):
    """If a text of a batch fails, the others are still processed."""
    find_rows, batches = service.find_rows, []

    def find_slowly(nlp: Any, texts: list[str]) -> Any:
        batches.append(texts)
        time.sleep(0.2)  # other texts arrive meanwhile
        return find_rows(nlp, [TOO_LONG if text == "fail" else text for text in texts])

    monkeypatch.setattr(service, "find_rows", find_slowly)
    monkeypatch.setattr(service, "MAX_BATCH", 3)
    texts = ["a", "b", "fail", "Anna", "c", "d"]
    answers = ask(service, *({"text": text} for text in texts))
    assert [answer.status_code for answer in answers] == [200, 200, 422, 200, 200, 200]
    assert [bool(answer.json()) for answer in answers[3:]] == [True, False, False]
    assert [text for batch in batches for text in batch] == texts
    assert len(batches) <= 3
    assert max(map(len, batches)) == 3


@FORKED
@pytest.mark.usefixtures("service", "forked")
@pytest.mark.parametrize("killed", ["worker", "parent"])
def test_service_exits_if_one_process_is_killed(monkeypatch, killed):
    with socket.create_server(("127.0.0.1", 0)) as found:
        monkeypatch.setenv("PORT", str(found.getsockname()[1]))
    script = str(FOLDER / "service.py")
    process = Process(target=run_path, args=[script], kwargs={"run_name": "__main__"})
    process.start()
    assert process.pid is not None
    try:
        workers = wait_for(lambda: find_children(process.pid))
        os.kill(workers[0] if killed == "worker" else process.pid, signal.SIGKILL)
        process.join(60)
        assert process.exitcode == (1 if killed == "worker" else -signal.SIGKILL)
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    finally:
        process.kill()


def find_children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    found = [*map(int, path.read_text().split())] if path.exists() else []
    return found if len(found) == os.cpu_count() else []


def wait_for(find: Callable[[], Any]) -> Any:
    for _ in range(600):
        if found := find():
            return found
        time.sleep(0.1)
    raise TimeoutError


def test_service_with_a_full_queue_responds_503(service, monkeypatch):
    monkeypatch.setattr(service, "MAX_QUEUE", 2)
    monkeypatch.setattr(service, "MAX_WAIT", 0.2)
    answers = ask(service, *({"text": "a"} for _ in range(9)))
    codes = [answer.status_code for answer in answers]
    assert {*codes} == {200, 503}
    assert codes.count(503) >= 6
