"""`python -m lab prepare`."""

from pathlib import Path

from lab.corpora.datasets import DATASETS
from tests.tools.cli.test_prepare import find_row

from ..calling import call, check_failure, succeed


def write_wnut17(assets: Path) -> Path:
    """Write short files of WNUT 2017."""
    texts = ("Ann\tB-person\n\t\nslept\tO\n", "Bo\tB-person\n", "Ann\tB-group\n")
    for file, text in zip(DATASETS["wnut17"].files, texts, strict=True):
        path = assets / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return assets


def test_a_dataset_is_converted_from_its_assets(tmp_path: Path):
    assets = write_wnut17(tmp_path / "own-assets")
    result = succeed("prepare", "wnut17", "-o", tmp_path / "output", "--assets", assets)
    assert find_row(result, "Label") == ["train", "dev", "test"]
    assert find_row(result, "person") == ["1", "1", "0"]
    assert find_row(result, "Tokens") == ["2", "1", "1"]


def test_errors_have_no_traceback(tmp_path: Path):
    output = tmp_path / "output"
    for name, message in (("wnut17", "'spacy project assets'"), ("x", "'name' should")):
        result = call("prepare", name, "-o", output, "--assets", tmp_path)
        check_failure(result, "Can't prepare", message)
    assert not output.exists()
