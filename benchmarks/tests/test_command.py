"""Run each benchmark with tiny sizes. Speeds are not tested."""

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from importlib.util import find_spec
from itertools import islice
from typing import Any

import pytest
import spacy
import typer
from matplotlib.image import imread
from thinc.api import get_current_ops

from benchmarks import command, data, page, pipelines, published, scale
from benchmarks.command import BENCHMARKS
from benchmarks.timing import Schedule
from spacy_hashembeds.acceleration.conversion import list_low_precisions
from spacy_hashembeds.kernels import compiled
from tests.kernels.paths import KERNELS
from tests.left_out import NO_FASTAPI
from tests.toy_classifiers import save_texts

from .test_timing import BUSY, ONCE

TINY = data.Sizes(
    **{"calls": (1, 3), "words": (30,), "docs": 20, "updates": 1, "steps": 40},
    **{"texts": (4,), "texts_trained": 8, "stock_steps": 40, "distinct_words": 8000},
)


@pytest.fixture
def write(monkeypatch) -> Callable[..., dict[str, Any]]:
    """Return a function that writes results like the command, and reads them."""
    monkeypatch.setattr(command, "describe_software", dict)
    monkeypatch.setattr(command, "watch_machine", lambda: nullcontext({**BUSY}))
    monkeypatch.setattr(command, "_SECONDS_TO_WATCH", 0)

    def write_and_read(measured: Iterator[Any], output) -> dict[str, Any]:
        command.write_results(measured, output)
        return json.loads(output.read_text(encoding="utf8"))

    return write_and_read


@pytest.fixture
def corpora(tiny_corpus, tmp_path, monkeypatch) -> dict[str, Any]:
    """Make corpora for benchmarks that do not read `train.spacy`, and reduce others."""
    for name, value in {
        "pipelines.BATCH_WORDS": 200,  # enough steps to find entities
        "layers.DROPOUTS": (0.1,),
        "accelerate.TRAINED": tmp_path,
        "accelerate.GROUPS": {"efficiency": "Default config"},
        "scale.IMPLEMENTATIONS": dict(islice(scale.IMPLEMENTATIONS.items(), 2)),
        "scale.SERVICES": dict(islice(scale.SERVICES.items(), 1)),
        "scale.SECONDS": 1.0,
    }.items():
        monkeypatch.setattr(f"benchmarks.{name}", value)
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger").add_label("NN")
    nlp.initialize()
    nlp.to_disk(tmp_path / "model")
    lines = [f"word{i} and word{i % 7} again" for i in range(60)]
    (tmp_path / "texts.txt").write_text("\n".join(lines))
    one = published.Published("a pipeline", "a-pipeline==1", "00", "texts.txt")
    for module in (published, scale):
        monkeypatch.setattr(module, "PIPELINES", [one])
        monkeypatch.setattr(module, "fetch", lambda *_: tmp_path / "model")
    save_texts(tmp_path / "train.spacy", 40, seed=0)
    alone = {"textcat": tmp_path / "train.spacy", "accelerate": tiny_corpus}
    return {"published": tmp_path, "scale": tmp_path, **alone}


@pytest.mark.parametrize("name", [name for name in BENCHMARKS if name != "gpu"])
def test_results_are_written_tabulated_and_drawn(
    name, tiny_corpus, corpora, write, tmp_path
):
    if name == "scale" and not all(map(find_spec, ("fastapi", "uvicorn"))):
        pytest.skip(NO_FASTAPI)
    path, before = corpora.get(name, tiny_corpus / "train.spacy"), get_current_ops()
    with compiled.using(KERNELS):
        measured = command.measure(BENCHMARKS[name], path, ONCE, TINY)
        results = write(measured, tmp_path / f"{name}.json")
    assert get_current_ops() is before
    assert results["machine"] == BUSY
    assert results["disturbances"][0].startswith("Other processes kept 0.9 of 2 cores")
    assert (results["blocks"], results["rounds"]) == (1, 1)
    for groups in results.get("timings", {}).values():
        for implementations in groups.values():
            assert len(implementations) > 1
            for timing in implementations.values():
                lower, upper = timing["us_per_word_quartiles"]
                assert 0 < lower <= timing["us_per_word"] <= upper
    for part in (part for part, (source, _) in page.PARTS.items() if source == name):
        table = page.make_part(part, tmp_path)
        # the table has the same header as that of the real results
        assert table.startswith(page.make_part(part).partition(" | ")[0])
        assert "nan" not in table
    if name in page.CHARTS:
        (chart,) = page.draw_charts(tmp_path)
        assert imread(chart).shape > (300, 500)
        assert imread(chart)[..., 3].min() == 1, "the chart is transparent"
    check(name, results)


def check(name: str, results: dict[str, Any]) -> None:
    if name == "published":
        (about,) = results["pipelines"].values()
        exact, auto = about["accelerated"].values()
        assert exact["tokens"] == auto["tokens"] == 4 * 60
        assert (exact["changed"], exact["kinds"]) == (0, {})
        assert {*auto["precisions"]} == ({"tagger"} if list_low_precisions() else set())
        assert all(of["memory_mib"] > 10 for of in about["processes"].values())
    if name == "pipeline":
        assert results["agreement"]["entities"] > 0
        differing = results["agreement"]["docs_that_differ"].items()
        assert {name for name, n in differing if n} <= {pipelines.OURS_INT8}


def test_results_before_a_failure_are_kept(write, tmp_path):
    def fail() -> Iterator[Any]:
        yield {"first": 1}
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write(fail(), tmp_path / "results.json")
    assert json.loads((tmp_path / "results.json").read_text())["first"] == 1


def test_the_command_measures_and_prints_tables(tmp_path, monkeypatch, capsys):
    kept = json.loads((data.RESULTS / "memory.json").read_text())
    seen = []
    measure = lambda *args: seen.append(args) or iter([{"rss_mib": kept["rss_mib"]}])  # noqa: E731
    benchmark = BENCHMARKS["memory"]._replace(measure=measure)
    monkeypatch.setitem(BENCHMARKS, "memory", benchmark)
    monkeypatch.setattr(command, "_SECONDS_TO_WATCH", 0)
    command.run("memory", output=tmp_path / "memory.json", rounds=2)
    assert seen == [(data.ROOT, Schedule(1, 2), data.Sizes())]
    assert "| ours, one vocab |" in capsys.readouterr().out
    with pytest.raises(typer.BadParameter):
        command.run("memor")
