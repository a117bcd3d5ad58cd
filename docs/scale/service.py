"""Find entities by HTTP. Texts that arrive during a batch form the next batch.

MODEL=FAST PORT=8000 python service.py    # one process per core
"""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from multiprocessing import Process, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import Annotated, Any

import uvicorn
from entities import annotate, load, make_rows
from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel, Field, ValidationError

MAX_BATCH = int(os.environ.get("MAX_BATCH", "32"))
MAX_WAIT = float(os.environ.get("MAX_WAIT", "0"))  # for a full batch, in seconds
MAX_QUEUE, MAX_TEXT = 1000, 100_000
MAX_BODY = 12 * MAX_TEXT  # JSON may escape a character by 12 bytes


class Query(BaseModel):
    """The body of a request."""

    text: Annotated[str, Field(max_length=MAX_TEXT)]


@asynccontextmanager
async def run(app: FastAPI) -> AsyncIterator[None]:
    """Load the pipeline, and annotate batches while the service runs."""
    nlp = load(os.environ["MODEL"])
    app.state.queue = asyncio.Queue(MAX_QUEUE)
    worker = asyncio.create_task(work(nlp, app.state.queue))
    yield
    worker.cancel()


async def work(nlp: Any, queue: asyncio.Queue) -> None:
    """Annotate texts from the queue, one batch at a time, in a thread."""
    while True:
        batch = [await queue.get()]
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_WAIT):  # queued texts need no wait
                while len(batch) < MAX_BATCH:
                    batch.append(await queue.get())
        # skip requests of disconnected clients
        batch = [each for each in batch if not await each[2].is_disconnected()]
        try:
            texts = [text for text, *_ in batch]
            rows = await asyncio.to_thread(find_rows, nlp, texts)
        except Exception as error:  # go on with the next batch
            rows = [[{"error": repr(error)}]] * len(batch)
        for (_, answer, _), found in zip(batch, rows, strict=True):
            if not answer.done():
                answer.set_result(found)


def find_rows(nlp: Any, texts: list[str]) -> list[list[dict[str, Any]]]:
    """Return the rows of each text, and free its new words."""
    with nlp.memory_zone():
        return [list(make_rows(doc)) for doc in annotate(nlp, texts)]


app = FastAPI(lifespan=run)


@app.post("/entities")
async def entities(request: Request) -> list[dict[str, Any]]:
    """Find the entities of a text."""
    if int(request.headers.get("content-length", MAX_BODY + 1)) > MAX_BODY:
        message = f"Content-Length should be given, and at most {MAX_BODY:,} bytes."
        raise HTTPException(413, message)
    try:
        text = Query.model_validate_json(await request.body()).text
    except ValidationError as error:  # FastAPI's response would repeat the text
        raise HTTPException(422, error.errors()[0]["msg"]) from None
    answer = asyncio.get_running_loop().create_future()
    try:
        app.state.queue.put_nowait((text, answer, request))
    except asyncio.QueueFull:
        raise HTTPException(503, "Too many texts are waiting.") from None
    rows = await answer
    if rows and "error" in rows[0]:
        raise HTTPException(422, rows[0]["error"])
    return rows


def serve(listening: socket.socket) -> None:
    """Serve in this process until its parent exits."""
    Thread(target=end_with_parent, daemon=True).start()
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run([listening])


def end_with_parent() -> None:
    """Exit when the parent process dies: a killed parent cannot stop its children."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Serve in one process per core. If one exits, stop all, so that a supervisor can
    restart the service.
    """
    listening = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    # without this, responses are delayed by 40 ms, as with `uvicorn --workers 2`
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    load(os.environ["MODEL"])("A text.")  # forks share the pipeline and folded tables
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    workers = [
        Process(target=serve, args=[listening], daemon=True)
        for _ in range(os.cpu_count() or 1)
    ]
    for worker in workers:
        worker.start()
    wait([worker.sentinel for worker in workers])
    sys.exit("A process of the service has exited.")


if __name__ == "__main__":
    main()
