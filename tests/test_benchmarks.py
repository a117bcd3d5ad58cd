"""Each benchmark in a tiny setting. How fast anything is, is not tested."""

import json
import shutil
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy
import pytest
from spacy.vocab import Vocab
from thinc.api import get_current_ops

from benchmarks import (
    _agreement,
    _command,
    _embedders,
    _memory,
    _sharing,
    _weighted_embedders,
    accelerate,
    embedding,
    growth,
    pipeline,
    precision,
    weights,
)
from benchmarks._data import Corpus, load_corpus
from benchmarks._pipelines import make_pipeline, make_trained
from benchmarks._small_pipeline import make_small_pipeline, make_up
from spacy_hashembeds.acceleration import blas
from spacy_hashembeds.kernels.quantized import PRECISIONS
from spacy_hashembeds.optimizers import OnePassAdam

from .toy_benchmarks import (
    BUSY,
    MACHINE,
    ONCE,
    assert_timing,
    assert_writes,
    make_watch,
    small_steps,
)

ROWS = [50, 40, 30, 20]


@pytest.fixture(scope="module")
def corpus(tiny_corpus) -> Corpus:
    return load_corpus(tiny_corpus / "train.spacy")


def measure_embedding(corpus: Corpus) -> dict[str, Any]:
    return embedding.measure_embedding(
        corpus, ONCE, docs=(1, 3), words=(30,), dropouts=(0.0, 0.1)
    )


@pytest.fixture(scope="module")
def embedding_results(corpus) -> dict[str, Any]:
    """Those without PyTorch, which say so."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as output:
        patch.setattr(_embedders, "import_torch", lambda: None)
        results = measure_embedding(corpus)
    assert "torch is not installed" in output.getvalue()
    return results


@pytest.fixture(scope="module")
def pipeline_results(corpus) -> dict[str, Any]:
    with small_steps():
        return pipeline.measure_pipelines(
            corpus, ONCE, docs=20, updates=1, training_steps=40
        )


@pytest.fixture(scope="module")
def growth_results() -> dict[str, Any]:
    # starting a process takes seconds
    sharing = {way: _sharing.WAYS[way] for way in list(_sharing.WAYS)[:2]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_memory, "WAYS", _memory.WAYS[:1])
        patch.setattr(_sharing, "WAYS", sharing)
        return growth.measure_growth(
            3500, 8000, rows=ROWS, shared_rows=[20_000] * 4, workers=2
        )


def test_embedding_times_all_contenders_at_each_size(embedding_results):
    rows = embedding_results["predict"] + embedding_results["train"]
    assert [row["docs_per_call"] for row in embedding_results["predict"]] == [1, 3]
    assert [row["dropout"] for row in embedding_results["train"]] == [0.0, 0.1]
    for row in rows:
        for name, timing in row["contenders"].items():
            if name.startswith("torch"):
                continue
            assert_timing(timing)
            base = row["contenders"]["spacy_4"]["us_per_word"]
            ratio = base / timing["us_per_word"]
            assert row["times_as_fast_as_spacy"][name] == pytest.approx(ratio)
    thinc = {"spacy_4", "spacy_4_blas", "multi_embed"}
    for row in rows:
        assert {*thinc, "ours_1", "ours_2", "ours_3", "ours_4"} <= set(
            row["contenders"]
        )


def test_predicting_is_timed_on_several_threads(embedding_results, pipeline_results):
    threads = {**embedding_results["threads"], **pipeline_results["threads"]}
    assert list(threads) == [
        *("1 Docs a call", "3 Docs a call", "nlp.pipe", "nlp(text), one short text")
    ]
    for contenders in threads.values():
        assert list(contenders) in (["spacy_4", "ours_4"], ["spacy", "ours + callback"])
        for timed in contenders.values():
            assert list(timed["contenders"]) == ["1", "2", "4"]
            for timing in timed["contenders"].values():
                assert_timing(timing)


def test_embedding_times_spacys_layer_on_numpys_blas_too(corpus, monkeypatch):
    embedders = _embedders.make_embedders(corpus.docs, ROWS)
    seen = []

    def gemm(ops, *args, **settings):
        seen.append(ops)
        return super(blas.NumpyBlasOps, ops).gemm(*args, **settings)

    monkeypatch.setattr(blas.NumpyBlasOps, "gemm", gemm)
    predict = _embedders.make_predictors(embedders)
    train = _embedders.make_trainers(embedders, 0.1)
    for makers in (predict, train):
        for name, products in (("spacy_4", 0), ("spacy_4_blas", 1)):
            seen.clear()
            makers[name]()([corpus.docs[:2]])()
            assert (len(seen) >= products) if products else not seen


def test_embedding_says_how_far_apart_outputs_and_gradients_are(embedding_results):
    for row in embedding_results["predict"]:
        assert_agreement(row, 1)
    for row in embedding_results["train"]:
        # tables, Maxout's weights and bias, and those of the layer norm
        assert len(row["agreement"]) == 4 + 2 + 2
        for distances in row["agreement"].values():
            assert 0 <= distances["norm"] < 1e-2


def assert_agreement(row: dict[str, Any], n_compared: int) -> None:
    agreement = row["agreement"]
    assert len(agreement["largest_difference"]) == n_compared
    for difference in agreement["largest_difference"].values():
        assert 0 <= difference <= 1e-5 * agreement["largest_output"]


@pytest.mark.torch
def test_embedding_compares_with_torch_at_equal_hashes(corpus, tmp_path):
    results = measure_embedding(corpus)
    assert results["torch"] is True
    for row in results["predict"] + results["train"]:
        for k in (1, 2, 3, 4):
            ours, theirs = (
                row["contenders"][f"{who}_{k}"] for who in ("ours", "torch")
            )
            assert_timing(theirs)
            ratio = theirs["us_per_word"] / ours["us_per_word"]
            assert row["times_as_fast_as_torch"][f"ours_{k}"] == pytest.approx(ratio)
    for row in results["predict"]:
        assert_agreement(row, 6)  # spaCy's with ours and PyTorch's, and ours with each
    assert_writes(embedding, results, "measure_embedding", tmp_path)


def test_embedding_without_torch_has_nulls(embedding_results):
    assert embedding_results["torch"] is False
    for row in embedding_results["predict"] + embedding_results["train"]:
        assert row["contenders"]["torch_4"] is None
        assert row["times_as_fast_as_spacy"]["torch_4"] is None
        assert row["times_as_fast_as_torch"]["ours_4"] is None


def test_embedding_writes_data_and_chart(embedding_results, tmp_path, capsys):
    assert_writes(embedding, embedding_results, "measure_embedding", tmp_path)
    output = capsys.readouterr().out
    assert "| 1 Docs a call, ours, 4 hashes |" in output
    assert "| threads: 4 |" in output


@pytest.fixture(scope="module")
def weights_results(corpus) -> dict[str, Any]:
    return weights.measure_weights(
        corpus, ONCE, docs=(1, 3), words=(30,), dropouts=(0.0, 0.1)
    )


def test_weights_are_timed_beside_plain_hashing(weights_results):
    assert [row["docs_per_call"] for row in weights_results["predict"]] == [1, 3]
    assert [row["dropout"] for row in weights_results["train"]] == [0.0, 0.1]
    for row in weights_results["predict"] + weights_results["train"]:
        contenders = row["contenders"]
        assert list(contenders) == ["fewer", "weighted", "weighted_symbols", "hybrid"]
        for name, timing in contenders.items():
            assert_timing(timing)
            ratio = timing["us_per_word"] / contenders["fewer"]["us_per_word"]
            assert row["times_as_long_as_fewer"][name] == pytest.approx(ratio)
    names = list(weights.find_plain(weights_results))
    assert names[0] == "fewer (predict, 1 docs)"
    assert len(names) == 4


def test_embedders_with_weights_differ_in_nothing_but_their_tables(corpus):
    embedders = _weighted_embedders.make_weighted_embedders(corpus.docs).thinc
    tables = {}
    for name, model in embedders.items():
        assert model.name == {
            "fewer": "multi_fewer_hash_embed",
            "hybrid": "multi_hybrid_embed",
        }.get(name, "multi_weighted_hash_embed")
        nodes = [node for node in model.walk() if node.has_param("E")]
        assert {node.attrs["num_hashes"] for node in nodes} == {2}
        tables[name] = nodes
    rows = [node.get_dim("nV") for node in tables["fewer"]]
    assert rows == [5000, 1000, 2500, 2500]
    for name in ("weighted", "weighted_symbols"):
        assert [node.get_dim("nV") for node in tables[name]] == rows
    n_weights = [node.get_dim("nK") for node in tables["weighted"]]
    assert n_weights == [10 * n for n in rows]
    for name, min_freq in (("weighted_symbols", 2), ("hybrid", 10)):
        counts = Counter(token.norm for doc in corpus.docs for token in doc)
        n_frequent = sum(count >= min_freq for count in counts.values())
        assert len(tables[name][0].attrs["symbols"]) == n_frequent > 0


def test_weights_write_data_and_chart(weights_results, tmp_path, capsys):
    assert_writes(weights, weights_results, "measure_weights", tmp_path)
    assert "| `MultiHybridEmbed` |\n" in capsys.readouterr().out


def test_wrong_numbers_are_not_timed(corpus):
    embedders = _embedders.make_embedders(corpus.docs, ROWS)
    batches = [corpus.docs[:3]]
    assert _agreement.compare_outputs(embedders, batches)["largest_output"] > 0
    for node in embedders.thinc["ours_4"].walk():
        if node.name == "hashembed":
            node.set_param("E", numpy.asarray(node.get_param("E")) + 0.01)
    with pytest.raises(RuntimeError, match="should be within 1e-05 of each other"):
        _agreement.compare_outputs(embedders, batches)


def test_wrong_gradients_are_seen(corpus):
    thinc = dict(_embedders.make_embedders(corpus.docs, ROWS).thinc)
    thinc["ours_4"] = thinc["ours_1"]
    distances = _agreement.compare_gradients(thinc, [corpus.docs[:3]])
    assert max(distance["norm"] for distance in distances.values()) > 0.1


def test_gradients_are_new_arrays_of_equal_values(corpus):
    sample = [corpus.docs[:2], corpus.docs[2:3]]
    first, second = (_embedders.make_gradients(sample) for _ in range(2))
    for batch, others, docs in zip(first, second, sample, strict=True):
        for dY, other, doc in zip(batch, others, docs, strict=True):
            assert dY.shape == (len(doc), _embedders.WIDTH)
            numpy.testing.assert_array_equal(dY, other)
            assert not numpy.shares_memory(dY, other)


def test_pipelines_are_timed_and_agree(pipeline_results):
    names = [
        *("spacy", "spacy + callback", "ours", "ours + callback"),
        *("ours + callback + Adam", "ours + callback + Adam, int8"),
        "ours + callback + Adam, in numpy",
    ]
    for kind in ("pipe", "update", "text", "small_pipe"):
        contenders = pipeline_results[kind]["contenders"]
        assert list(contenders) == names
        for timing in contenders.values():
            assert_timing(timing)
    for key in ("agreement", "small_agreement"):
        agreement = pipeline_results[key]
        assert agreement["entities"] > 0
        differing = agreement["docs_that_differ"]
        assert {name for name, n in differing.items() if n} <= {pipeline.OURS_INT8}


def test_small_pipelines_learn_what_is_made_up(corpus):
    """Trees without circles, and tags, lemmas and entities from the words alone."""
    for doc in corpus.docs:
        gold = make_up(doc)
        assert [t.text for t in gold] == [t.text for t in doc]
        assert gold.to_json()["ents"] == doc.to_json()["ents"]
        assert gold.has_annotation("DEP")
        (root,) = [token for token in gold if token.dep_ == "ROOT"]
        assert all(root in [token, *token.ancestors] for token in gold)
    nlp = make_small_pipeline("ours + callback", corpus.vocab)
    assert nlp.pipe_names == [
        *("tok2vec", "ner", "tagger", "parser", "trainable_lemmatizer")
    ]
    listeners = nlp.get_pipe("tok2vec").listening_components
    assert sorted(listeners) == ["ner", "parser", "tagger", "trainable_lemmatizer"]


def test_pipelines_have_a_profile_that_adds_up(pipeline_results):
    names = ["spacy", "ours + callback + Adam"]
    assert list(pipeline_results["profile"]) == names
    for kinds in pipeline_results["profile"].values():
        assert list(kinds["pipe"]["us_per_word"]) == ["embed", "encode", "ner", "rest"]
        assert list(kinds["update"]["us_per_word"]) == [
            *("embed", "encode", "optimizer", "ner and rest")
        ]
        for profile in kinds.values():
            stages = profile["us_per_word"]
            assert all(us > 0 for name, us in stages.items() if name != "rest")
            functions = profile["functions"]
            percents = [function["percent"] for function in functions]
            assert percents == sorted(percents, reverse=True)
            assert 0 < sum(percents) <= 100.5
            assert not any("/" in f["function"].split(":")[0] for f in functions)


def test_pipelines_write_data_and_chart(pipeline_results, tmp_path, capsys):
    assert_writes(pipeline, pipeline_results, "measure_pipelines", tmp_path)
    assert "nlp.update" in capsys.readouterr().out


@pytest.mark.parametrize("name", pipeline.NAMES)
def test_each_pipeline_has_its_own_layers_and_blas(corpus, name, monkeypatch):
    monkeypatch.setattr(blas, "is_numpy_faster", lambda: True)
    before = get_current_ops()
    source = make_pipeline("spacy", corpus.vocab)
    source.initialize()
    nlp = make_trained(name, source)
    model = nlp.get_pipe("tok2vec").model
    embed, encode = (model.get_ref(part) for part in ("embed", "encode"))
    package = "spacy_hashembeds." if name.startswith("ours") else ("thinc.", "spacy.")
    for layer in (embed, encode):
        assert layer._func.__module__.startswith(package)
        is_numpy = all(node.ops is blas.NUMPY_BLAS_OPS for node in layer.walk())
        assert is_numpy is ("callback" in name)
    optimizer = nlp.create_optimizer()
    assert isinstance(optimizer, OnePassAdam) is ("Adam" in name)
    assert len(encode.layers[0].layers) == 4
    if name.startswith("ours"):
        weights, has_fewer = encode.attrs["weights"], "int8" in name
        precisions = weights.precision, weights.training_precision
        assert precisions == (("int8", "bfloat16") if has_fewer else ("float32",) * 2)
    assert get_current_ops() is before
    stock = source.get_pipe("tok2vec").model
    for node, original in zip(model.walk(), stock.walk(), strict=True):
        for param in original.param_names:
            numpy.testing.assert_array_equal(
                node.get_param(param), original.get_param(param)
            )


def test_wrong_machines_are_refused_before_anything_is_measured(tmp_path, monkeypatch):
    busy = {"processors_busy": {"numpy": 1.9}}
    monkeypatch.setattr(_command, "describe_machine", lambda: busy)
    output = tmp_path / "results.json"
    never = [pytest.fail] * 4
    with pytest.raises(RuntimeError, match="'numpy' should use one thread"):
        _command.run_benchmark(*never, output)
    assert not output.exists()


def run_steady(output: Path, upper_quartile: float) -> dict[str, Any]:
    """Run a benchmark of a baseline that takes 9 to so many microseconds."""
    spread = (10.0, (9.0, upper_quartile))
    ignore = lambda *_: None  # noqa: E731
    _command.run_benchmark(dict, lambda _: {"spacy": spread}, ignore, ignore, output)
    return json.loads(output.read_text(encoding="utf8"))


def test_benchmarks_warn_where_the_machine_is_not_idle(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_command, "describe_machine", lambda: {**MACHINE})
    monkeypatch.setattr(_command, "_SECONDS_TO_WATCH", 0)
    idle = {**BUSY, "other_cores_busy": 0.02}
    monkeypatch.setattr(_command, "watch_machine", make_watch(idle))
    assert run_steady(tmp_path / "results.json", 10.2)["disturbances"] == []
    assert "disturbed" not in capsys.readouterr().out
    (text,) = run_steady(tmp_path / "results.json", 11.0)["disturbances"]
    assert text.startswith("The quartiles of spacy are 20 percent of its median apart")
    assert "The timings were disturbed" in capsys.readouterr().out
    monkeypatch.setattr(_command, "watch_machine", make_watch())
    run_steady(tmp_path / "results.json", 10.2)
    said = capsys.readouterr().out
    # before it is measured for minutes, and after
    before, after = said.index("is not idle"), said.index("were disturbed")
    assert before < after


def test_growth_has_a_point_for_each_decade(growth_results):
    for points in growth_results["time"]["points"].values():
        assert [point["words"] for point in points] == [1000, 3500]
        first, second = points
        assert first["us_per_word"] > 0
        assert first["us_per_word_quartiles"] is None  # of a single call
        lower, upper = second["us_per_word_quartiles"]
        assert 0 < lower <= second["us_per_word"] <= upper


def test_baselines_are_spacys(embedding_results, pipeline_results, growth_results):
    row = embedding_results["predict"][0]["contenders"]["spacy_4"]
    name, (middle, _) = next(iter(embedding.find_baselines(embedding_results).items()))
    assert name == "spacy_4 (predict, 1 docs)"
    assert middle == row["us_per_word"]
    assert len(embedding.find_baselines(embedding_results)) == 4
    stock = pipeline_results["pipe"]["contenders"]["spacy"]
    middle, quartiles = pipeline.find_baselines(pipeline_results)["spacy (nlp.pipe)"]
    assert [middle, [*quartiles]] == [
        stock[key] for key in ("us_per_word", "us_per_word_quartiles")
    ]
    assert [*growth.find_baselines(growth_results)] == ["spacy_4 (after 3,500 words)"]


def test_growth_measures_memory(growth_results):
    memory = growth_results["memory"]
    assert list(memory["rss_mib"]) == ["ours, ids alone"]
    assert [seen for seen, _ in memory["rss_mib"]["ours, ids alone"]] == [
        *(5000, 6000, 7000, 8000)
    ]
    for sizes in memory["tables"].values():
        parameters = (sum(ROWS) * 96 + 3 * 96 * (4 * 96 + 1) + 2 * 96) * 4
        assert sizes["parameters_mib"] == pytest.approx(parameters / 2**20)
        assert sizes["kept_after_training_mib"] > 0
        assert sizes["peak_while_predicting_mib"] > 0


def test_growth_shares_read_only_tables(growth_results):
    sharing = growth_results["sharing"]
    assert sharing["workers"] == 2
    assert sharing["tables_mib"] == pytest.approx(4 * 20_000 * 96 * 4 / 2**20, abs=0.1)
    stock, ours = sharing["ways"].values()
    assert not stock["works"]
    assert "buffer source array is read-only" in stock["error"]
    assert ours["works"]
    assert ours["pss_mib"] > ours["uss_mib"] > 0


@pytest.fixture(scope="module")
def accelerate_results(tiny_corpus, tmp_path_factory) -> dict[str, Any]:
    return accelerate.measure_acceleration(
        tiny_corpus,
        tmp_path_factory.mktemp("trained"),
        ONCE,
        groups=accelerate.GROUPS[:1],
        steps=40,
    )


def test_stock_pipelines_are_timed_before_and_after(accelerate_results):
    (group,) = accelerate_results["groups"]
    sizes = {"width": 96, "depth": 4, "rows": [5000, 1000, 2500, 2500]}
    assert {**group, **sizes} == group
    fewer = [f"accelerated, {p}" for p in PRECISIONS[1:] if accelerate.is_fast(p)]
    names = ["stock", "fastest BLAS alone", "accelerated", *fewer]
    assert [*group["contenders"]] == names
    for timing in group["contenders"].values():
        assert_timing(timing)
    assert group["times_as_fast_as_stock"]["stock"] == 1
    assert [*group["one_by_one"]["contenders"]] == names
    for timing in group["one_by_one"]["contenders"].values():
        assert_timing(timing)
    assert group["texts"] == 40
    assert group["entities"] > 0
    assert 0 <= group["max_relative_diff"] < 1e-5
    assert [*group["changes"]] == fewer
    assert all(one["tokens"][1] == group["tokens"] for one in group["changes"].values())
    assert [*accelerate.find_baselines(accelerate_results)] == [
        "stock (width 96, depth 4)"
    ]


def test_acceleration_writes_data_and_chart(accelerate_results, tmp_path, capsys):
    assert_writes(accelerate, accelerate_results, "measure_acceleration", tmp_path)
    assert "| accelerated, a text a call | " in capsys.readouterr().out


def test_each_contender_is_what_its_name_says(tiny_corpus, tmp_path, monkeypatch):
    """And none of them changes the operations of those that are made later."""
    before = get_current_ops()
    seen = []

    def make_all(makers, work, schedule):
        for make in makers.values():
            make()(work.samples[0])
        return {}

    monkeypatch.setattr(accelerate, "train_stock", lambda *_: make_stock(tmp_path))
    monkeypatch.setattr(blas, "is_numpy_faster", lambda: True)
    for name in ("prepare", "prepare_calls"):
        monkeypatch.setattr(accelerate, name, lambda nlp, docs: seen.append(nlp))
    monkeypatch.setattr(accelerate, "time_in_turns", make_all)
    accelerate.measure_acceleration(
        tiny_corpus, tmp_path, ONCE, groups=accelerate.GROUPS[:1]
    )
    assert get_current_ops() is before
    found = []
    for nlp in seen:
        config = nlp.config["components"]["tok2vec"]["model"]
        names = {config[part]["@architectures"] for part in ("embed", "encode")}
        nodes = nlp.get_pipe("tok2vec").model.walk()
        is_numpy = all(node.ops is blas.NUMPY_BLAS_OPS for node in nodes)
        found.append((sorted(names), is_numpy))
    stock = ["spacy.MaxoutWindowEncoder.v2", "spacy.MultiHashEmbed.v2"]
    ours = [
        "spacy-hashembeds.MaxoutWindowEncoder.v1",
        "spacy-hashembeds.MultiFewerHashEmbed.v1",
    ]
    n_precisions = 1 + sum(map(accelerate.is_fast, PRECISIONS[1:]))
    expected = [(stock, False), (stock, True), *n_precisions * [(ours, True)]]
    assert found == 2 * expected


def make_stock(folder: Path) -> Path:
    nlp = make_pipeline("spacy", Vocab())
    nlp.get_pipe("ner").add_label("LOC")
    nlp.initialize()
    nlp.to_disk(folder / "stock")
    return folder / "stock"


def test_trained_pipelines_are_used_again(tiny_corpus, tmp_path, monkeypatch, capsys):
    (group, *_) = accelerate.GROUPS
    trained = tmp_path / f"efficiency-{tiny_corpus.name}-40" / "model-last"
    trained.mkdir(parents=True)
    monkeypatch.setattr(accelerate, "train", pytest.fail)
    assert accelerate.train_stock(group, tiny_corpus, tmp_path, 40) == trained
    assert "remove it to train it anew" in " ".join(capsys.readouterr().out.split())


def test_acceleration_needs_a_prepared_corpus(tiny_corpus, tmp_path):
    shutil.copy(tiny_corpus / "train.spacy", tmp_path)
    message = (
        r"There is no '.*dev\.spacy'\. Make it with .*another folder with --corpus"
    )
    with pytest.raises(FileNotFoundError, match=message):
        accelerate.measure_acceleration(tmp_path, tmp_path, ONCE)


def test_growth_writes_data_and_chart(growth_results, tmp_path, capsys):
    assert_writes(growth, growth_results, "measure_growth", tmp_path)
    assert "read-only" in capsys.readouterr().out


@pytest.mark.parametrize("way", _memory.WAYS)
def test_each_way_embeds_all_words(way):
    points = _memory.watch_rss(way, 7000, ROWS)
    assert [seen for seen, _ in points] == [5000, 6000, 7000]
    assert all(mib > 0 for _, mib in points)


def test_too_few_words_show_no_growth():
    with pytest.raises(ValueError, match="'words' should be more than 5000"):
        _memory.watch_rss(_memory.WAYS[0], 5000, ROWS)


@pytest.mark.usefixtures("fewer_bits")
def test_precisions_are_compared_on_the_pipelines_of_trials(
    tiny_corpus, tmp_path, capsys
):
    nlp = make_pipeline("ours", Vocab())
    nlp.get_pipe("ner").add_label("LOC")
    nlp.initialize()
    trained = tmp_path / "training"
    for seed in range(2):
        folder = trained / tiny_corpus.name / f"ours/steps1/seed{seed}/model-best"
        folder.mkdir(parents=True)
        nlp.to_disk(folder)
    results = precision.measure_precision(
        trained, tiny_corpus.parent, trials=["ours/steps1"]
    )
    assert [*results["instructions"]] == ["bfloat16", "int8"]
    assert len(results["pipelines"]) == 4
    for one in results["pipelines"]:
        assert (one["corpus"], one["trial"]) == (tiny_corpus.name, "ours/steps1")
        assert one["tokens"][1] > 0
        assert len(one["f1"]) == 2
    table = precision.make_precision_table(results)
    assert f"| {tiny_corpus.name}, `ours/steps1` | int8 | 2 | " in table


def test_without_pipelines_of_trials_there_is_nothing_to_compare(tmp_path):
    with pytest.raises(FileNotFoundError, match="no pipeline of multi_hash_embed/"):
        precision.measure_precision(tmp_path, tmp_path)
