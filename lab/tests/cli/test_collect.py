from functools import partial

from lab.trials.results import read_results

from ..calling import call, check_failure, succeed
from ..recorded import write_result, write_seeds

run = partial(succeed, "collect")


def test_results_are_collected_once(tmp_path):
    metrics, tables = tmp_path / "metrics", tmp_path / "tables"
    write_seeds(metrics, "anem", "multi_embed", "default", [0.3, 0.4])
    result = run(metrics, "-o", tables)
    assert "Added 2 results" in result.output
    assert read_results(tables).keys() == read_results(metrics).keys()
    scores = {"test": {"ents_f": 0.1}}
    write_result(metrics, "anem", "multi_embed", "default", 1, scores)
    check_failure(
        call("collect", metrics, "-o", tables), "Can't collect the results", "--force"
    )
    result = run(metrics, "-o", tables, "--force")
    assert "1 replaced, 1 were there" in " ".join(result.output.split())
