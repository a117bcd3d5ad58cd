"""Our formulas reproduce the printed figures."""

import pytest

from lab.papers.tables import read_paper
from lab.trials.ratios import compute_ratios

PAPER = read_paper("hashformers")

#: Models whose printed PoEP does not follow from other printed figures.
UNEXPLAINED = {"md5_emb_1k", "md5_pool", "lsh_emb_1k", "lsh_pool"}


def read(table: str, row: str, column: str) -> float:
    printed = PAPER.get_printed(table, row, column)
    assert printed is not None, (table, row, column)
    return printed.mean


@pytest.mark.parametrize("model", list(PAPER.models)[2:14])
def test_ratios_equal_those_of_the_paper(model):
    baseline, ours = (
        {
            "score": read("1", scored, "average"),
            "pipeline_parameters": round(read("2", sized, "pipeline") * 1e6),
            "embedding_parameters": round(read("2", sized, "embedding") * 1e6),
            "mixing_parameters": 0,
        }
        for scored, sized in (("bert_mlm", "md5_emb_50k"), (model, model))
    )
    ratios = compute_ratios(ours, baseline)
    printed = {"prr": read("2", model, "average")}
    for key in ("pcr_all", "pcr_emb", *["poep"] * (model not in UNEXPLAINED)):
        printed[key] = read("2", model, key)
    # half of the last printed place
    assert {key: ratios[key] for key in printed} == pytest.approx(printed, abs=0.0005)
    assert ratios["pcr_tables"] == ratios["pcr_emb"]
