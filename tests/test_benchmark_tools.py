"""What the benchmarks share: words, turns, threads."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy
import pytest

from benchmarks import _machine, _memory, _profile
from benchmarks._data import Corpus, batch_by_words, find_short_docs, load_corpus
from benchmarks._timing import (
    Schedule,
    Timing,
    Work,
    get_ratios,
    get_relative_times,
    time_in_turns,
    time_on_threads,
)

ROOT = Path(__file__).parent.parent
ONCE = Schedule(blocks=1, rounds=1)


@pytest.fixture(scope="module")
def corpus(tiny_corpus) -> Corpus:
    return load_corpus(tiny_corpus / "train.spacy")


def test_distinct_words_and_ids_are_distinct():
    words = [word for batch in _memory.make_distinct_words(2500) for word in batch]
    assert len(set(words)) == len(words) == 2500
    docs = list(_memory.make_id_docs(2500, distinct=True))
    assert [len(doc) for doc in docs] == [1000, 1000, 500]
    norms = numpy.concatenate([doc.to_array([])[:, 0] for doc in docs])
    assert len(numpy.unique(norms)) == 2500


def test_frequent_ids_come_again():
    (doc,) = _memory.make_id_docs(1000, distinct=False)
    assert 10 < len(numpy.unique(doc.to_array([])[:, 0])) < 900


def test_threads_share_out_what_a_sample_has():
    seen: list[str] = []
    together = {"aceg": 2, "bdf": 2, "ae": 4, "bf": 4, "cg": 4, "d": 4}
    barriers = {n: threading.Barrier(n, timeout=60) for n in (2, 4)}

    def prepare(sample):
        def run() -> None:
            seen.append(sample)
            if sample in together:  # or it waits for the others in vain
                barriers[together[sample]].wait()

        return run

    measured = time_on_threads({"a": lambda: prepare}, Work(["abcdefg"], len), ONCE)
    assert set(seen) == {"abcdefg", *together}
    assert list(measured["a"]["contenders"]) == ["1", "2", "4"]
    assert measured["a"]["times_as_fast_as_1"]["1"] == 1


def test_contenders_have_turns_on_the_same_samples():
    seen: list[tuple[str, str]] = []

    def make(name):
        return lambda: lambda sample: lambda: seen.append((name, sample))

    work = Work(["one", "three"], len)
    makers = {name: make(name) for name in "ab"}
    timings = time_in_turns(makers, work, Schedule(blocks=2, rounds=2))
    warm_up = [(name, sample) for name in "ab" for sample in work.samples]
    first = [("a", "one"), ("b", "one"), ("b", "three"), ("a", "three")]
    second = [("b", "one"), ("a", "one"), ("a", "three"), ("b", "three")]
    assert seen == [*warm_up, *first, *warm_up, *second]
    assert [len(timing.seconds_per_word) for timing in timings.values()] == [4, 4]
    assert [len(timing.first_seconds) for timing in timings.values()] == [2, 2]


def test_each_contender_comes_first_and_after_each_neighbour():
    seen: list[str] = []
    makers = {name: lambda n=name: lambda _: lambda: seen.append(n) for name in "abc"}
    time_in_turns(makers, Work(["x"], len), Schedule(blocks=1, rounds=6))
    rounds = ["".join(seen[i : i + 3]) for i in range(6, len(seen), 3)]
    assert rounds == ["abc", "cba", "bca", "acb", "cab", "bac"]


def test_samples_without_words_are_refused():
    with pytest.raises(ValueError, match="words to time in every sample"):
        time_in_turns({}, Work([[]], len), ONCE)


@pytest.mark.parametrize("name", ["blocks", "rounds"])
def test_schedules_without_times_are_refused(name):
    with pytest.raises(ValueError, match=f"'{name}' should be 1 or more, but is 0"):
        Schedule(**{"blocks": 1, "rounds": 1, name: 0})


def test_ratios_are_those_of_medians():
    timings = {
        "base": Timing([1.0, 4.0, 100.0]),
        "fast": Timing([1.0, 2.0, 3.0]),
        "absent": None,
    }
    assert get_ratios(timings, "base") == {"base": 1.0, "fast": 2.0, "absent": None}
    assert get_ratios(timings, "absent")["fast"] is None
    measured = {"base": timings["base"], "fast": timings["fast"]}
    assert get_relative_times(measured, "base") == {"base": 1.0, "fast": 0.5}


def test_stages_within_another_are_not_counted_to_it(monkeypatch):
    clock = _profile._Clock()
    # each stage starts and ends
    times = iter([0, *(1, 3), *(4, 8), 9, *(10, 15)])
    monkeypatch.setattr(_profile, "perf_counter", lambda: next(times))

    def run():
        clock.time("inner", int)
        clock.time("other", int)

    clock.time("outer", run)
    assert clock.take() == {"inner": 2, "other": 4, "outer": 9 - 2 - 4}
    clock.time("outer", int)
    assert clock.take() == {"outer": 5}


def test_the_demo_corpus_stands_in(tmp_path, capsys):
    corpus = load_corpus(tmp_path / "nothing.spacy")
    assert corpus.to_json() == {
        "name": "demo",
        "docs": 1200,
        "words": sum(map(len, corpus.docs)),
    }
    assert any(doc.ents for doc in corpus.docs)
    # Lines are wrapped, wherever the path ends.
    said = " ".join(capsys.readouterr().out.split())
    assert "measuring on the demo corpus" in said


def test_batches_have_so_many_words_and_start_over(corpus):
    n_words = sum(map(len, corpus.docs))
    (batch,) = batch_by_words(corpus.docs, n_words + 1, 1)
    assert batch == [*corpus.docs, corpus.docs[0]]


def test_short_docs_are_nearest_to_a_length(corpus):
    lengths = sorted(abs(len(doc) - 27) for doc in corpus.docs)
    found = find_short_docs(corpus.docs, 5)
    assert [abs(len(doc) - 27) for doc in found] == lengths[:5]


def test_the_machine_is_described_as_json():
    machine = _machine.describe_machine()
    assert json.loads(json.dumps(machine)) == machine
    assert machine["cpu"]
    assert machine["cores"] >= 1
    assert machine["versions"]["spacy-hashembeds"]
    assert machine["parser_profiled"] is (sys.version_info < (3, 12))
    busy = machine["processors_busy"]
    assert busy["numpy"] > 0
    assert busy["thinc"] > 0


def test_commands_restart_with_one_thread():
    code = (
        "import json; from benchmarks._machine import *; use_one_thread(); "
        "busy = measure_threads(); check_one_thread(busy); print(json.dumps(busy))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        check=True,
        text=True,
    )
    busy = json.loads(result.stdout)
    assert 0 < busy["numpy"] < 1.2
    assert busy["torch_threads"] in (1, None)


def test_more_than_one_thread_is_refused():
    _machine.check_one_thread({"numpy": 1.1, "torch": None})
    with pytest.raises(RuntimeError, match="'numpy' should use one thread"):
        _machine.check_one_thread({"numpy": 1.9})
