from typer.testing import CliRunner

from lab.cli import lab_cli
from lab.trials.results import read_results

from ..trials.test_results import write_result, write_seeds


def run(*arguments: object):
    return CliRunner().invoke(lab_cli, ["collect", *map(str, arguments)])


def test_results_are_collected_once(tmp_path):
    metrics, tables = tmp_path / "metrics", tmp_path / "tables"
    write_seeds(metrics, "anem", "multi_embed", "default", [0.3, 0.4])
    result = run(metrics, "-o", tables)
    assert result.exit_code == 0, result.output
    assert "Added 2 results" in result.output
    assert read_results(tables).keys() == read_results(metrics).keys()
    scores = {"test": {"ents_f": 0.1}}
    write_result(metrics, "anem", "multi_embed", "default", 1, scores)
    result = run(metrics, "-o", tables)
    assert result.exit_code == 1
    assert "Can't collect the results" in result.output
    result = run(metrics, "-o", tables, "--force")
    assert "1 replaced, 1 were there" in " ".join(result.output.split())
