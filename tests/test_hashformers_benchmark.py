"""The benchmark of HashFormers in a tiny setting."""

from typing import Any

import pytest

from benchmarks import _hashformers, hashformers
from benchmarks._data import Corpus, load_corpus
from benchmarks._embedders import ROWS
from benchmarks._hashformers_tables import make_hashformers_tables
from spacy_hashembeds.architectures.embedders import hash_words
from spacy_hashembeds.architectures.embedders.hash_former_embed import find_parts
from spacy_hashembeds.hashing import lsh, md5

from .toy_benchmarks import ONCE, assert_timing, assert_writes

FEWER = ["MultiFewerHashEmbed, 4 hashes", "MultiFewerHashEmbed, 1 hash"]
PAIRS = [
    *("MD5, Emb", "MD5, Pool", "MD5, Add", "MD5, Proj"),
    *("LSH, Emb", "LSH, Pool", "LSH, Add", "LSH, Proj"),
]
WAYS = ["prediction, 20 Docs", "prediction, a short Doc", "training, 1,000 words"]
PASSES = ["new words", "words met before"]


@pytest.fixture(scope="module")
def corpus(tiny_corpus) -> Corpus:
    return load_corpus(tiny_corpus / "train.spacy")


@pytest.fixture(scope="module")
def embedders(corpus) -> Any:
    return _hashformers.make_hashformers(corpus.docs)


@pytest.fixture(scope="module")
def results(corpus) -> dict[str, Any]:
    return hashformers.measure_hashformers(corpus, ONCE, docs=20, updates=1)


def test_all_pairs_are_timed_in_prediction_and_training(results):
    assert list(results["timings"]) == WAYS
    for timed in results["timings"].values():
        assert list(timed["contenders"]) == [*FEWER, *PAIRS]
        us = {name: t["us_per_word"] for name, t in timed["contenders"].items()}
        for name, timing in timed["contenders"].items():
            assert_timing(timing)
            ratio = timed["times_as_fast_as_fewer"][name]
            assert ratio == pytest.approx(us[FEWER[0]] / us[name])
    assert [*hashformers.find_baselines(results)] == [
        f"{FEWER[0]} ({what})" for what in WAYS
    ]


def test_pairs_have_the_parameters_of_their_compressors(results):
    mixer = 3 * 96 * 4 * 96 + 3 * 96 + 2 * 96
    sizes = {"Emb": 1037, "Pool": 1024 + 13, "Add": 2 * 128, "Proj": 128}
    assert results["parameters"] == {
        **dict.fromkeys(FEWER, sum(ROWS) * 96 + mixer),
        **{name: 4 * sizes[name[5:]] * 96 + mixer for name in PAIRS},
    }


def test_each_attribute_has_the_pair_and_no_slow_path(corpus, embedders):
    for name in PAIRS:
        columns = find_parts(embedders.thinc[name]).columns
        assert [c.words.attrs["attr"] for c in columns] == [
            *("NORM", "PREFIX", "SUFFIX", "SHAPE")
        ]
        for column in columns:
            hasher = column.hashing.layers[0]
            expected = [part.lower() for part in name.split(", ")]
            assert [
                hasher.name.removesuffix("hasher"),
                column.compressor.name.removesuffix("compressor"),
            ] == expected
            if expected[0] == "lsh":
                assert len(hasher.attrs["ngrams"]) > 10


def test_plain_hashing_has_the_hashes_of_its_name(embedders):
    for name, k in zip(FEWER, (4, 1), strict=True):
        nodes = [n for n in embedders.thinc[name].walk() if n.has_param("E")]
        assert [node.attrs["num_hashes"] for node in nodes] == [k] * 4


def test_hashing_is_a_part_of_two_passes(results):
    assert list(results["hashing"]) == WAYS
    for passes in results["hashing"].values():
        assert list(passes) == PASSES
        for title, pairs in passes.items():
            assert list(pairs) == PAIRS
            for measured in pairs.values():
                lower, upper = measured["share_quartiles"]
                assert 0 <= lower <= measured["share"] <= upper < 1
                # prediction of few tokens keeps more of words than their codes
                assert lower > 0 or title == PASSES[1]
                ratio = measured["hashing_us_per_word"] / measured["us_per_word"]
                assert measured["share"] == pytest.approx(ratio)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("name", "module", "function"),
    [("MD5, Emb", md5, "hash_words"), ("LSH, Proj", lsh, "find_ngrams")],
)
def test_words_are_new_in_the_first_pass_alone(
    corpus, embedders, way, name, module, function, monkeypatch
):
    ways = hashformers._make_ways(embedders, corpus, n_docs=20, updates=1)
    hashed: list[str] = []
    compute = getattr(module, function)

    def watch(words, *args):
        hashed.extend(words)
        return compute(words, *args)

    monkeypatch.setattr(module, function, watch)
    for _ in range(2):  # a copy has met nothing, whatever the one before has
        run = ways[way].makers[name]()(ways[way].batches)
        run()
        texts = {t.norm_ for batch in ways[way].batches for doc in batch for t in doc}
        assert texts <= set(hashed)
        assert len(hashed) < sum(map(len, corpus.docs))
        hashed.clear()
        run()
        assert not hashed


def test_ways_go_through_the_corpus(corpus, embedders):
    ways = hashformers._make_ways(embedders, corpus, n_docs=20, updates=2)
    n_words = sum(map(len, corpus.docs))
    prediction, _, training = (way.batches for way in ways.values())
    assert prediction == [corpus.docs[i : i + 20] for i in range(0, 80, 20)]
    assert len(training) == max(1, n_words // 1000)
    assert [len(sample) for sample in ways[WAYS[0]].samples] == [1] * 4


def test_contenders_have_met_all_words_before_they_are_timed(corpus, embedders):
    ways = hashformers._make_ways(embedders, corpus, n_docs=20, updates=1)
    way = ways[WAYS[0]]
    seen: list[Any] = []
    make = hashformers._warm_up(
        lambda: lambda batches: lambda: seen.append(batches), way
    )
    contender = make()
    assert seen == [way.batches]
    contender(way.samples[0])()
    assert seen == [way.batches, way.samples[0]]


def test_hashing_is_watched_only_where_it_is_measured(corpus, embedders, monkeypatch):
    model = embedders.thinc["MD5, Add"]
    times = iter(range(100))
    monkeypatch.setattr(_hashformers, "thread_time", lambda: next(times))
    encode = hash_words.encode_words
    with _hashformers.timing_hashing() as seconds:
        model.predict(corpus.docs)
        assert seconds == [1] * 4
    assert hash_words.encode_words is encode
    model.predict(corpus.docs)
    assert len(seconds) == 4


def test_shares_are_medians_of_passes():
    described = hashformers._describe([(1.0, 10.0), (1.0, 2.0), (3.0, 10.0)], 100)
    assert described == {
        "share": pytest.approx(0.3),
        "share_quartiles": pytest.approx([0.1, 0.5]),
        "hashing_us_per_word": pytest.approx(1e4),
        "us_per_word": pytest.approx(1e5),
    }


def test_tables_have_shares_and_quartiles(results):
    pairs = {name: {**results["hashing"][WAYS[0]][PASSES[0]][name]} for name in PAIRS}
    for i, measured in enumerate(pairs.values()):
        share = 0.02 * (i + 1)
        measured.update(share=share, share_quartiles=[share / 2, 2 * share])
    hashing = {"prediction, 20 Docs": dict.fromkeys(PASSES, pairs)}
    tables = make_hashformers_tables({**results, "hashing": hashing})
    assert "| MD5, Pool | 4.0 (2.0..8.0) | 4.0 (2.0..8.0) |" in tables


def test_hashformers_write_data_and_chart(results, tmp_path, capsys):
    assert_writes(hashformers, results, "measure_hashformers", tmp_path)
    assert "| LSH, Proj | 160,224 |" in capsys.readouterr().out
