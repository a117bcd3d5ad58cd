"""Entities by HTTP. Texts that arrive while others are annotated make the next batch.

MODEL=FAST PORT=8000 python service.py    # a process for each core
"""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing import Process
from multiprocessing.connection import wait
from typing import Annotated, Any

import uvicorn
from entities import annotate, load, make_rows
from fastapi import Body, FastAPI, HTTPException

MAX_BATCH = int(os.environ.get("MAX_BATCH", "32"))
MAX_WAIT = float(os.environ.get("MAX_WAIT", "0"))  # seconds for a batch to fill
MAX_QUEUE, MAX_TEXT = 1000, 100_000


@asynccontextmanager
async def run(app: FastAPI) -> AsyncIterator[None]:
    """Load the pipeline, and have batches annotated as long as the service runs."""
    nlp = load(os.environ["MODEL"])
    app.state.queue = asyncio.Queue(MAX_QUEUE)
    worker = asyncio.create_task(work(nlp, app.state.queue))
    yield
    worker.cancel()


async def work(nlp: Any, queue: asyncio.Queue) -> None:
    """Annotate what is in the queue, up to a batch at a time, in a thread."""
    while True:
        batch = [await queue.get()]
        if MAX_WAIT:
            await asyncio.sleep(MAX_WAIT)
        while len(batch) < MAX_BATCH and not queue.empty():
            batch.append(queue.get_nowait())
        try:
            rows = await asyncio.to_thread(find_rows, nlp, [text for text, _ in batch])
        except Exception as error:  # the next batch is to be answered all the same
            rows = [[{"error": repr(error)}]] * len(batch)
        for (_, answer), found in zip(batch, rows, strict=True):
            if not answer.done():
                answer.set_result(found)


def find_rows(nlp: Any, texts: list[str]) -> list[list[dict[str, Any]]]:
    """Make the rows of each text, whose new words are then forgotten."""
    with nlp.memory_zone():
        return [list(make_rows(doc)) for doc in annotate(nlp, texts)]


app = FastAPI(lifespan=run)


@app.post("/entities")
async def entities(
    text: Annotated[str, Body(embed=True, max_length=MAX_TEXT)],
) -> list[dict[str, Any]]:
    """Find the entities of a text."""
    answer = asyncio.get_running_loop().create_future()
    try:
        app.state.queue.put_nowait((text, answer))
    except asyncio.QueueFull:
        raise HTTPException(503, "Too many texts are waiting.") from None
    rows = await answer
    if rows and "error" in rows[0]:
        raise HTTPException(422, rows[0]["error"])
    return rows


def serve(listening: socket.socket) -> None:
    """Serve in this process."""
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run([listening])


def main() -> None:
    """Serve in a process for each core. Where one ends, all do, to be started anew."""
    listening = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    # else answers wait 40 ms for the client's word, as with `uvicorn --workers 2`
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    load(os.environ["MODEL"])("A text.")  # forks share what is loaded, and folded
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    workers = [
        Process(target=serve, args=[listening], daemon=True)
        for _ in range(os.cpu_count() or 1)
    ]
    for worker in workers:
        worker.start()
    wait([worker.sentinel for worker in workers])


if __name__ == "__main__":
    main()
