"""The recipes of docs/scale.md, each run on a few texts as a reader runs it."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from .conftest import ROOT, load_script
from .left_out import NO_FASTAPI, NO_RAY, NO_SPARK
from .toy_ner import make_ruler

FOLDER = ROOT / "docs" / "scale"
#: More than spaCy takes.
TOO_LONG = "x" * 1_000_001
TEXTS = ["Anna sings", TOO_LONG, "", "so does Anna"]
ANNA = {"label": "PER", "text": "Anna", "score": None}
ROWS = [
    {"id": 1, "start": 0, "end": 4, **ANNA},
    {"id": 2, "error": "ValueError: [E088] Text of length 1000001 exceeds maximum"},
    {"id": 4, "start": 8, "end": 12, **ANNA},
]


@pytest.fixture
def recipe(monkeypatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))

    def load(name: str) -> ModuleType:
        return load_script(FOLDER / f"{name}.py")

    return load


@pytest.fixture
def model(tmp_path) -> Path:
    make_ruler({"Anna": "PER"}, None).to_disk(tmp_path / "model")
    return tmp_path / "model"


def run(name: str, *args: str | Path) -> str:
    """Run a recipe as a process of its own, elsewhere."""
    command = [sys.executable, str(FOLDER / f"{name}.py"), *map(str, args)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_worker_niceness": "0"}
    env["SPARK_LOCAL_IP"] = "127.0.0.1"
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd=Path(args[0]).parent,
        env=env,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return done.stdout


def check_rows(found: list[dict[str, Any]], ids: dict[int, Any] | None = None) -> None:
    """Check rows, whose errors are longer, and columns may be filled."""
    kept = [{k: v for k, v in row.items() if v is not None} for row in found]
    for row in kept:
        if "error" in row:
            row["error"] = row["error"][: len(ROWS[1]["error"])]
    names = ids or {}
    assert kept == [
        {
            k: names.get(v, v) if k == "id" else v
            for k, v in row.items()
            if v is not None
        }
        for row in ROWS
    ]


@pytest.mark.parametrize("zone", [1, 3, 1000])
def test_a_text_that_fails_is_named_and_no_other_is_lost(
    recipe, model, monkeypatch, zone
):
    entities = recipe("entities")
    monkeypatch.setattr(entities, "ZONE", zone)
    check_rows([*entities.find_entities(entities.load(model), enumerate(TEXTS, 1))])
    assert entities.load(model) is entities.load(model)


def test_what_fails_in_a_component_is_named_too(recipe):
    entities = recipe("entities")
    nlp = spacy.blank("en")

    @Language.component("picky")
    def be_picky(doc: Doc) -> Doc:
        if doc.text == "b":
            raise RuntimeError("no b")
        return doc

    nlp.add_pipe("picky")
    rows = [*entities.find_entities(nlp, zip("abc", "abc", strict=True))]
    assert rows == [{"id": "b", "error": "RuntimeError: no b"}]


def test_words_of_a_zone_are_forgotten(recipe):
    entities = recipe("entities")
    nlp = spacy.blank("en")
    assert [*entities.find_entities(nlp, [(1, "unheardof")])] == []
    assert "unheardof" not in nlp.vocab.strings


def test_scores_of_token_ner_are_in_the_rows(recipe):
    doc = spacy.blank("en")("Anna saw Bert")
    spans = [Span(doc, 0, 1, "PER"), Span(doc, 2, 3, "PER")]
    doc.set_ents(spans)
    group = SpanGroup(doc, name="ents", spans=spans, attrs={"scores": [0.5, 0.25]})
    doc.spans["ents"] = group
    rows = recipe("entities").make_rows(doc)
    assert [(row["text"], row["score"]) for row in rows] == [
        ("Anna", 0.5),
        ("Bert", 0.25),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("options", ["--processes 1", "--processes 2"])
def test_one_machine(model, tmp_path, options):
    texts, output = tmp_path / "texts.txt", tmp_path / "rows.jsonl"
    texts.write_text("\n".join(TEXTS))
    run("one_machine", model, texts, output, *options.split())
    check_rows([json.loads(line) for line in output.read_text().splitlines()])
    assert not list(tmp_path.glob(".*"))


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
    shutil.copy(parts / "a.txt", out / "c.txt.entities.parquet")  # is not done again
    said = run("ray_entities", model, parts, out)
    assert "a.txt: 4 texts, 1 failed" in said
    assert "c.txt:" not in said
    assert "1 parts were done before" in said
    names = {f"{name}.entities.parquet" for name in ("a.txt", "b.parquet", "c.txt")}
    assert {path.name for path in out.iterdir()} == names
    check_rows(read_parquet(out / "a.txt.entities.parquet"))
    ids = {i: f"t{i}" for i in range(1, 5)}
    check_rows(read_parquet(out / "b.parquet.entities.parquet"), ids)


@pytest.mark.slow
def test_spark(model, parts, tmp_path):
    if not find_spec("pyspark") or not shutil.which("java"):
        pytest.skip(NO_SPARK)
    write_parquet(parts / "b.parquet")
    write_parquet(parts / "d.parquet")
    out = tmp_path / "out"
    (out / "d").mkdir(parents=True)
    (out / "d" / "_SUCCESS").touch()
    run("spark_entities", model, parts, out)
    check_rows(read_parquet(out / "b"), {i: f"t{i}" for i in range(1, 5)})
    assert [path.name for path in (out / "d").iterdir()] == ["_SUCCESS"]


@pytest.fixture
def service(recipe, model, monkeypatch) -> Any:
    if not all(map(find_spec, ("fastapi", "httpx", "uvicorn"))):
        pytest.skip(NO_FASTAPI)
    monkeypatch.setenv("MODEL", str(model))
    return recipe("service")


def ask(service: Any, *bodies: dict[str, str]) -> list[Any]:
    """Give the answers to requests that are sent one after the other, but at once."""
    httpx = pytest.importorskip("httpx")

    async def send() -> list[Any]:
        transport = httpx.ASGITransport(service.app)
        async with (
            service.run(service.app),
            httpx.AsyncClient(transport=transport, base_url="http://test") as client,
        ):
            sent = [client.post("/entities", json=body) for body in bodies]
            return await asyncio.gather(*sent)

    return asyncio.run(send())


def test_a_service_answers(service):
    bodies = [{"text": text} for text in ("so does Anna", "", TOO_LONG)]
    found, nothing, *refused = ask(service, *bodies, {})
    assert found.json() == [{"start": 8, "end": 12, **ANNA}]
    assert nothing.json() == []
    assert [answer.status_code for answer in refused] == [422, 422]


def test_texts_that_arrive_together_are_a_batch(service, monkeypatch):
    """And one of them that fails is the only one that does."""
    batches = []
    find_rows = service.find_rows

    def find_and_note(nlp: Any, texts: list[str]) -> Any:
        batches.append(texts)
        time.sleep(0.2)  # while others arrive
        return find_rows(nlp, [TOO_LONG if text == "fail" else text for text in texts])

    monkeypatch.setattr(service, "find_rows", find_and_note)
    monkeypatch.setattr(service, "MAX_BATCH", 3)
    texts = ["a", "b", "fail", "Anna", "c", "d"]
    answers = ask(service, *({"text": text} for text in texts))
    assert [answer.status_code for answer in answers] == [200, 200, 422, 200, 200, 200]
    assert [bool(answer.json()) for answer in answers[3:]] == [True, False, False]
    assert [text for batch in batches for text in batch] == texts
    assert len(batches) <= 3
    assert max(map(len, batches)) == 3


def test_a_service_goes_on_after_an_error_of_its_own(service, monkeypatch):
    find_rows = service.find_rows

    def find_or_fail(nlp: Any, texts: list[str]) -> Any:
        return find_rows(nlp, None if texts == ["b"] else texts)

    monkeypatch.setattr(service, "find_rows", find_or_fail)
    monkeypatch.setattr(service, "MAX_BATCH", 1)
    answers = ask(service, *({"text": text} for text in "abc"))
    assert [answer.status_code for answer in answers] == [200, 422, 200]


def test_a_batch_may_wait_for_others(service, monkeypatch):
    monkeypatch.setattr(service, "MAX_WAIT", 0.2)
    batches = []
    find_rows = service.find_rows
    monkeypatch.setattr(
        service, "find_rows", lambda nlp, x: batches.append(x) or find_rows(nlp, x)
    )
    ask(service, *({"text": text} for text in "abc"))
    assert batches == [["a", "b", "c"]]


def test_a_service_that_can_not_keep_up_says_so(service, monkeypatch):
    monkeypatch.setattr(service, "MAX_QUEUE", 2)
    monkeypatch.setattr(service, "MAX_WAIT", 0.2)
    answers = ask(service, *({"text": "a"} for _ in range(9)))
    codes = [answer.status_code for answer in answers]
    assert {*codes} == {200, 503}
    assert codes.count(503) >= 6
