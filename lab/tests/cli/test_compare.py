import json
from functools import partial
from pathlib import Path

import pytest

from lab.tests.trial import make_trial

from ..calling import succeed

run = partial(succeed, "compare")


@pytest.fixture
def corpus(trained_root) -> Path:
    return trained_root / "corpus/demo/test.spacy"


@pytest.fixture
def metrics(trained_root, tmp_path) -> list[Path]:
    """Results of two trials. The second found nothing seen, and has nothing unseen."""
    trial = json.loads(make_trial(trained_root).metrics.read_text())
    paths = [tmp_path / f"{name}.json" for name in ("first", "second")]
    paths[0].write_text(json.dumps(trial))
    scores = trial["scores"]["test"]
    scores.update({f"ents_seen_{key}": 0.0 for key in "prf"})
    scores.update({f"ents_unseen_{key}": None for key in "prf"})
    scores["ents_unseen_support"] = 0
    trial["embedder"] = "other_embed"
    trial["sizes"] = {"embedding_parameters": 1234567, "bytes_on_disk": 8_910_000}
    paths[1].write_text(json.dumps(trial))
    return paths


def get_rows(text: str) -> dict[str, list[str]]:
    lines = [line.split() for line in text.splitlines()]
    return {line[0]: line[1:] for line in lines if line}


def percents(scores: dict[str, float]) -> list[str]:
    return " ".join(f"{100 * scores[key]:4.1f}" for key in "prf").split()


def test_the_tables_have_a_row_for_each_trial(metrics, corpus):
    result = run(*metrics, "--corpus", corpus)
    test = json.loads(metrics[0].read_text())["scores"]["test"]
    scores_text, others = result.output.split("Size and speed")
    speeds_text, ratios_text = others.split("Beside the first one")
    kinds = ("ents", "ents_seen", "ents_unseen")
    first = [{key: test[f"{kind}_{key}"] for key in "prf"} for kind in kinds]
    shown = [figure for scores in first for figure in percents(scores)]
    rows = get_rows(scores_text)
    assert rows["multi_fewer_hash_embed"] == shown
    assert rows["other_embed"] == [*shown[:3], *["0.0"] * 3, *["-"] * 3]
    params, megabytes, _speed, quartiles, times = get_rows(speeds_text)["other_embed"]
    assert (params, megabytes) == ("1,234,567", "8.91")
    lower, upper = quartiles.split("..")
    assert 0 < int(lower.replace(",", "")) <= int(upper.replace(",", ""))
    assert float(times) > 0
    # the second has recorded neither all parameters nor those that mix
    sizes = json.loads(metrics[0].read_text())["sizes"]
    emb = 1 - 1234567 / sizes["embedding_parameters"]
    ratios = get_rows(ratios_text)["other_embed"]
    assert ratios == ["-", "100.0", "-", f"{100 * emb:.1f}", "-", "-"]
    assert "PRR: F1 kept" in ratios_text
    for kind, name in zip(kinds, ("all", "seen", "unseen"), strict=True):
        assert f"{name} ({test[f'{kind}_support']})" in result.output
    assert "Embedders on demo" in result.output
