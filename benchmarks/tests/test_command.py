"""Each benchmark in a tiny setting. How fast anything is, is not tested."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import typer
from matplotlib.image import imread
from spacy.vocab import Vocab
from thinc.api import get_current_ops

from benchmarks import (
    accelerate,
    command,
    data,
    layers,
    memory,
    page,
    pipelines,
    precision,
    published,
    scale,
)
from benchmarks.command import BENCHMARKS
from benchmarks.timing import Schedule
from spacy_hashembeds.kernels import compiled
from tests.kernels.paths import KERNELS, needs_kernels
from tests.left_out import NO_FASTAPI
from tests.toy_classifiers import save_texts

ONCE = Schedule(blocks=1, rounds=1)
BUSY = {
    "cpu": "a CPU",
    "cores": 2,
    "python": "3.11.7",
    "load_at_start": 0.1,
    "load_at_end": 1.9,
    "other_cores_busy": 0.9,
}
TINY = data.Sizes(
    **{"calls": (1, 3), "words": (30,), "docs": 20, "updates": 1, "steps": 40},
    **{"texts": (4,), "texts_trained": 8, "stock_steps": 40},
    **{"rows": 8, "kernel_calls": 2, "distinct_words": 8000},
)
KEPT_WAYS = ("default", "two threads")
MARKS = {
    "encoders": pytest.mark.torch,
    "kernels": needs_kernels,
}


@contextmanager
def watch(machine: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {**machine}


def write(measured: Iterator[Any], output: Path, machine=BUSY) -> dict[str, Any]:
    """Write results as the command does, on a machine of which all is known."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "describe_software", dict)
        patch.setattr(command, "watch_machine", partial(watch, machine))
        patch.setattr(command, "_SECONDS_TO_WATCH", 0)
        command.write_results(measured, output)
    return json.loads(output.read_text(encoding="utf8"))


def save_pipeline(name: str, path: Path) -> None:
    nlp = pipelines.build_pipeline(name, Vocab())
    nlp.get_pipe("ner").add_label("LOC")
    nlp.initialize()
    path.mkdir(parents=True)
    nlp.to_disk(path)


def prepare(name: str, corpus: Path, folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Have all that a benchmark needs, and say where its corpus is."""
    patch.setattr(pipelines, "BATCH_WORDS", 200)  # steps make entities found
    patch.setattr(layers, "DROPOUTS", (0.1,))
    patch.setattr(memory, "WAYS", memory.WAYS[:1])
    patch.setattr(accelerate, "TRAINED", folder)
    patch.setattr(accelerate, "GROUPS", {"efficiency": "Default config"})
    patch.setattr(precision, "TRAINED", folder)
    patch.setattr(precision, "TRIALS", ["ours/steps1"])
    patch.setattr(scale, "CONTENDERS", dict(islice(scale.CONTENDERS.items(), 2)))
    patch.setattr(scale, "WAYS", {way: scale.WAYS[way] for way in KEPT_WAYS})
    patch.setattr(scale, "SERVICES", dict(islice(scale.SERVICES.items(), 1)))
    patch.setattr(scale, "SECONDS", 0.2)
    if name in ("published", "scale"):
        save_published(folder, patch)
        for what in ("PIPELINES", "fetch"):
            patch.setattr(scale, what, getattr(published, what))
        return folder
    if name == "precision":
        trial = folder / corpus.name / "ours/steps1"
        for seed in range(2):
            save_pipeline("ours", trial / f"seed{seed}" / "model-best")
        return corpus.parent
    if name == "textcat":
        save_texts(folder / "train.spacy", 40, seed=0)
        return folder / "train.spacy"
    return corpus if name == "accelerate" else corpus / "train.spacy"


def save_published(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Have a pipeline of our own, without a package index."""
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger").add_label("NN")
    nlp.initialize()
    nlp.to_disk(folder / "model")
    lines = [f"word{i} and word{i % 7} again" for i in range(60)]
    (folder / "texts.txt").write_text("\n".join(lines))
    one = published.Published("a pipeline", "a-pipeline==1", "00", "texts.txt")
    patch.setattr(published, "PIPELINES", [one])
    patch.setattr(published, "fetch", lambda *_: folder / "model")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=MARKS.get(n, ())) for n in BENCHMARKS if n != "gpu"],
)
def test_results_are_written_tabulated_and_drawn(
    name, tiny_corpus, tmp_path, monkeypatch, request
):
    if name == "precision":
        request.getfixturevalue("instructions")
    if name == "scale" and not all(map(find_spec, ("fastapi", "uvicorn"))):
        pytest.skip(NO_FASTAPI)
    path = prepare(name, tiny_corpus, tmp_path, monkeypatch)
    before = get_current_ops()
    with compiled.using(KERNELS):
        measured = command.measure(BENCHMARKS[name], path, ONCE, TINY)
        results = write(measured, tmp_path / f"{name}.json")
    assert get_current_ops() is before
    assert results["machine"] == BUSY
    assert results["disturbances"][0].startswith("Other processes kept 0.9 of 2 cores")
    assert (results["blocks"], results["rounds"]) == (1, 1)
    kept = json.loads((data.RESULTS / f"{name}.json").read_text(encoding="utf8"))
    assert {*kept} - {"machine", "disturbances"} <= {*results}
    for section, groups in kept.get("timings", {}).items():
        assert_timed(results["timings"][section])
        names = {*next(iter(groups.values()))}
        assert {*next(iter(results["timings"][section].values()))} <= names
    for part in (part for part, (source, _) in page.PARTS.items() if source == name):
        table = page.make_part(part, tmp_path)
        assert table.startswith(page.make_part(part).partition(" | ")[0])
        assert "nan" not in table
    if "timings" in results:
        (chart,) = page.draw_charts(tmp_path)
        height, width, _ = imread(chart).shape
        assert width > 500
        assert height > 300
        assert imread(chart)[..., 3].min() == 1, "dark pages would shine through"
    check = globals().get(f"check_{name}")
    if check:
        check(results)


def assert_timed(groups: dict[str, Any]) -> None:
    for contenders in groups.values():
        assert len(contenders) > 1
        for timing in contenders.values():
            lower, upper = timing["us_per_word_quartiles"]
            assert 0 < lower <= timing["us_per_word"] <= upper
            assert timing["times_measured"] > 0


def check_published(results: dict[str, Any]) -> None:
    (about,) = results["pipelines"].values()
    exact, auto = about["accelerated"].values()
    assert exact["tokens"] == auto["tokens"] == 4 * 60
    assert (exact["changed"], exact["kinds"]) == (0, {})
    assert auto["precisions"].keys() == {"tagger"}
    assert all(of["memory_mib"] > 10 for of in about["processes"].values())


def check_scale(results: dict[str, Any]) -> None:
    assert all(start["s to start"] > 0 for start in results["start"].values())
    for mib in results["fork_mib"].values():
        assert 0 < mib["its own"] < mib["all"]
    for services in results["service"].values():
        for spreads in services.values():
            assert all(0 < low <= mid <= high for mid, (low, high) in spreads.values())


def check_accelerate(results: dict[str, Any]) -> None:
    ((what, about),) = results["pipelines"].items()
    assert what == "Default config (width 96, depth 4)"
    assert about["texts"] == 40
    assert about["entities"] > 0
    assert 0 <= about["max_relative_diff"] < 1e-5
    assert all(one["tokens"][1] == about["tokens"] for one in about["changes"].values())


def check_precision(results: dict[str, Any]) -> None:
    assert [one["seed"] for one in results["pipelines"]] == [
        *("seed0", "seed0", "seed1", "seed1")
    ]
    for one in results["pipelines"]:
        assert one["tokens"][1] > 0
        assert len(one["f1"]) == 2


def check_pipeline(results: dict[str, Any]) -> None:
    for key in ("agreement", "small_agreement"):
        assert results[key]["entities"] > 0
        differing = results[key]["docs_that_differ"].items()
        assert {name for name, n in differing if n} <= {pipelines.OURS_INT8}
    pipe, update, *_ = results["profile"].values()
    assert {*pipe} == {"embed", "encode", "tok2vec", "ner"}
    assert {*update} == {"embed", "encode", "optimizer", "rest"}
    assert all(us > 0 for us in [*pipe.values(), *update.values()])


def check_memory(results: dict[str, Any]) -> None:
    (points,) = results["rss_mib"].values()
    assert [*points] == ["5,000", "8,000"]


def check_textcat(results: dict[str, Any]) -> None:
    stages = results["profile"]["HashNgramTextCat, nlp.update, 4 texts"]
    parts = {"words", "n-grams", "tables", "labels", "optimizer", "rest"}
    assert {*stages} == parts
    assert "model" in results["profile"]["TextCatBOW, nlp.pipe"]
    # a table, weights, and a softmax of two labels
    for name, rows in (("", 100_000), (", large", 1_000_000)):
        n_parameters = results["parameters"][f"HashNgramTextCat{name}"]
        assert n_parameters == 10_000 * 20 + rows * 2 + 20 * 2 + 2


@pytest.mark.parametrize("way", memory.WAYS)
def test_memory_is_watched_in_each_way(way):
    points = memory.watch_rss(way, 7000)
    assert [*points] == ["5,000", "7,000"]
    assert all(mib > 0 for mib in points.values())


def test_words_are_distinct():
    norms = [memory.make_values(start)[:, 0] for start in range(0, 3000, 1000)]
    assert len(np.unique(norms)) == 3000
    assert len({memory._spell(i) for i in range(3000)}) == 3000


def test_fewer_words_than_show_growth_are_refused():
    with pytest.raises(ValueError, match="'words' should be more than 5000"):
        memory.watch_rss(memory.WAYS[0], 5000)


def test_benchmarks_warn_where_timings_vary(tmp_path, capsys):
    timing = {"us_per_word": 10.0, "us_per_word_quartiles": [9.0, 11.0]}
    results = {"timings": {"one thread": {"nlp.pipe": {"spacy": timing}}}}
    idle = {**BUSY, "other_cores_busy": 0.02}
    written = write(iter([results]), tmp_path / "results.json", idle)
    (text,) = written["disturbances"]
    assert text.startswith("The quartiles of spacy (one thread: nlp.pipe) are 20 perc")
    said = capsys.readouterr().out
    assert "not idle" not in said
    assert "The timings were disturbed" in said
    write(iter([results]), tmp_path / "results.json")
    said = capsys.readouterr().out
    # before it is measured for minutes, and after
    assert said.index("is not idle") < said.index("were disturbed")


def test_what_was_measured_before_a_failure_is_kept(tmp_path):
    def fail() -> Iterator[Any]:
        yield {"first": 1}
        raise RuntimeError("the second part")

    with pytest.raises(RuntimeError, match="the second part"):
        write(fail(), tmp_path / "results.json")
    assert json.loads((tmp_path / "results.json").read_text())["first"] == 1


def test_the_command_measures_and_prints_tables(tmp_path, monkeypatch, capsys):
    kept = json.loads((data.RESULTS / "kernels.json").read_text())
    seen = []

    def measure(*arguments: Any) -> Iterator[Any]:
        seen.append(arguments)
        yield {key: kept[key] for key in ("width", "timings")}

    benchmark = BENCHMARKS["kernels"]._replace(measure=measure)
    monkeypatch.setitem(BENCHMARKS, "kernels", benchmark)
    monkeypatch.setattr(command, "_SECONDS_TO_WATCH", 0)
    command.run("kernels", output=tmp_path / "kernels.json", rounds=2)
    assert seen == [(data.ROOT, Schedule(5, 2), data.Sizes())]
    assert "| dropout mask |" in capsys.readouterr().out
    written = json.loads((tmp_path / "kernels.json").read_text())
    assert {"cpu", "instructions", "versions"} <= written["machine"].keys()
    with pytest.raises(typer.BadParameter, match="one of published, accelerate"):
        command.run("kernel")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("accelerate", r"no '.*train\.spacy'\. .*another folder with --corpus"),
        ("precision", "no pipeline of multi_hash_embed/"),
        ("published", r"no '.*-src'. Fetch it with `spacy"),
        ("textcat", "no '.*'. .*ag_news_small.* with --corpus"),
    ],
)
def test_without_data_there_is_nothing_to_measure(name, message, tmp_path, monkeypatch):
    monkeypatch.setattr(precision, "TRAINED", tmp_path)
    with pytest.raises(FileNotFoundError, match=message):
        next(command.measure(BENCHMARKS[name], tmp_path / "gone", ONCE))


def test_without_kernels_there_is_nothing_to_measure(tmp_path):
    with compiled.using(None), pytest.raises(RuntimeError, match="kernels in use"):
        next(command.measure(BENCHMARKS["kernels"], tmp_path, ONCE))


def test_classifiers_need_texts_with_labels(tiny_corpus):
    with pytest.raises(ValueError, match=r"should have categories, but some have none"):
        data.load_texts(tiny_corpus / "train.spacy")


def test_trained_pipelines_are_used_again(tiny_corpus, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(accelerate, "TRAINED", tmp_path)
    trained = tmp_path / f"efficiency-{tiny_corpus.name}-40" / "model-last"
    trained.mkdir(parents=True)
    assert accelerate.train_stock("efficiency", tiny_corpus, 40) == trained
    assert "remove it to train it anew" in " ".join(capsys.readouterr().out.split())


def test_the_pages_have_the_tables_of_the_results():
    """Else run `python -m benchmarks.page`."""
    texts = [path.read_text(encoding="utf8") for path in page.PAGES]
    assert page.fill_pages(texts) == texts
    assert all((data.RESULTS / f"{name}.png").is_file() for name in page.CHARTS)


@pytest.mark.parametrize(
    "change",
    [
        lambda texts: [text.replace("<!-- end memory -->", "") for text in texts],
        lambda texts: [*texts, "<!-- begin memory -->\n<!-- end memory -->"],
    ],
)
def test_pages_without_a_place_for_each_table_are_refused(tmp_path, change):
    texts = [path.read_text(encoding="utf8") for path in page.PAGES]
    with pytest.raises(
        ValueError, match="once for each of published, changes, published-avx2"
    ):
        page.fill_pages(change(texts))
    filled = "".join(page.fill_pages(texts, tmp_path))
    assert "Not measured yet: `python -m benchmarks memory` does it." in filled
    assert "MiB, after so many distinct words" not in filled


def test_captions_say_what_was_measured_on():
    results = {"machine": BUSY, "corpus": {"name": "wnut17"}, "rows": [5, 2]}
    caption = page.make_caption({**results, "disturbances": ["One.", "Two.", "Three."]})
    assert caption == (
        "wnut17, one thread, Python 3.11.7, a CPU; load 0.10 to 1.90, others 0.90 "
        "cores: disturbed. Rows 5/2.\n**Disturbed:** One. (2 more)"
    )
    assert re.search(
        r"others 0\.90 cores\.$",
        page.make_caption({"machine": BUSY, "disturbances": []}),
    )
