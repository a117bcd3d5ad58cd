"""The fuzzer: whether it tells what becomes of damage, and a small run of it."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy
import pytest
import srsly
import typer

from fuzz import __main__ as command
from fuzz import damage_bytes, summary
from fuzz.__main__ import fuzz
from fuzz.cases import Bench, Outcome, damage_case, make_material
from fuzz.damage_text import damage_json, damage_yaml
from fuzz.damage_values import damage_value
from fuzz.target import Target
from fuzz.targets import TARGETS, weights
from fuzz.verdict import FAILURES, Kind, Verdict
from fuzz.workers import Limits, run_cases

from .toy_fuzz import CRASH, HANG, JUDGED, MEMORY

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results/fuzz.json"


def make_bench(target: Target, folder: Path) -> Bench:
    make_material(target, folder / "material")
    return Bench(target, folder / "material", folder / "scratch")


def test_on_other_systems_than_linux_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(RuntimeError, match=r"on Linux.* but this is win32. Run it the"):
        run_cases([], seed=0, material=tmp_path, limits=Limits(), on_outcome=print)


@pytest.mark.parametrize("name", JUDGED)
def test_each_outcome_is_told(name, tmp_path):
    target, kind, cause = JUDGED[name]
    bench = make_bench(target, tmp_path)
    outcome = bench.run(seed=0, case=0)
    assert outcome.verdict.kind == kind
    assert cause in outcome.verdict.cause
    assert (bench.folder / "file").read_bytes() == b"whole"


@pytest.fixture(scope="module")
def limited() -> dict[str, Outcome]:
    """What becomes of damage that no process survives, and of what comes after it."""
    targets = [CRASH, HANG, MEMORY]
    outcomes = fuzz(targets, [0], seed=0, limits=Limits(seconds=2, gib=1))
    return {outcome.target: outcome for outcome in outcomes}


def test_a_signal_is_a_crash_and_names_its_place(limited):
    verdict = limited["crash"].verdict
    assert verdict.kind == Kind.CRASH
    assert verdict.cause.startswith("SIGSEGV in tests/toy_fuzz.py:_crash")


def test_what_takes_too_long_is_a_hang_and_names_its_place(limited):
    verdict = limited["hang"].verdict
    assert verdict.kind == Kind.HANG
    assert verdict.cause.startswith("tests/toy_fuzz.py:_hang")


def test_memory_is_limited(limited):
    assert limited["fill_memory"].verdict.cause.startswith("MemoryError")


def test_a_case_can_be_repeated(tmp_path):
    target = TARGETS["columns"]
    make_material(target, tmp_path)
    cases = [
        [damage_case(target, tmp_path / "columns", seed, n)[2:] for n in range(50)]
        for seed in (0, 0, 1)
    ]
    assert cases[0] == cases[1]
    assert not any(a == b for a, b in zip(cases[0], cases[2], strict=True))


def test_bytes_and_lines_are_damaged_in_all_ways():
    text = b"".join(b"word%d\tO\n" % n for n in range(9))
    for damage, ways in (
        (damage_bytes.damage_bytes, damage_bytes.ON_BYTES),
        (damage_bytes.damage_lines, damage_bytes.ON_LINES),
    ):
        found = {damage(text, Random(seed))[1].split(",")[0] for seed in range(300)}
        assert found == {way.__name__[1:].replace("_", " ") for way in ways}


def test_values_are_damaged_and_what_is_given_stays():
    data = {"a": [1, 2.5, "x", None], "b": numpy.arange(3, dtype="float32")}
    for seed in range(300):
        damage_value(data, Random(seed))
    assert data["a"] == [1, 2.5, "x", None]
    assert data["b"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("damage", [damage_json, damage_yaml])
def test_traps_stand_in_the_text_as_they_are(damage):
    data = json.dumps({"a": [1, "x"]}).encode()
    texts = [damage(data, Random(seed))[0] for seed in range(300)]
    traps = (b"1e400",) + ((b"&a [*a]",) if damage is damage_yaml else (b"NaN",))
    for trap in traps:
        assert any(trap in text for text in texts)
    assert not any(b"@@" in text for text in texts)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> bytes:
    folder = tmp_path_factory.mktemp("fuzz")
    make_material(TARGETS["lookup_pipeline"], folder)
    return (folder / "lookup_pipeline/tok2vec/model").read_bytes()


def change(model: bytes, layer: str, section: str, key: str, value) -> bytes:
    """Change a parameter or an attribute of the first layer of a name."""
    data = srsly.msgpack_loads(model)
    names = [node["name"] for node in data["nodes"]]
    values = data[section][names.index(layer)]
    if section == "attrs":
        value = srsly.msgpack_dumps(value)
    values[key] = value(values[key]) if callable(value) else value
    return srsly.msgpack_dumps(data)


@pytest.mark.parametrize(
    ("layer", "section", "key", "value", "fault"),
    [
        ("maxout", "params", "b", lambda b: b.astype("float64"), "shape or dtype"),
        ("maxout", "params", "b", lambda b: b[1:], "shape or dtype"),
        ("layernorm", "params", "G", lambda G: G * numpy.nan, "not finite"),
        ("layernorm", "params", "G", None, "is missing"),
        ("symbolembed", "attrs", "unk", 1000, "attribute unk"),
        ("symbolembed", "attrs", "unk", True, "attribute unk"),
        ("symbolembed", "attrs", "symbols", [1, 2], "attribute symbols"),
        ("extract_features", "attrs", "columns", ["NORM"], "attribute columns"),
        ("expand_window", "attrs", "window_size", 2, "attribute window_size"),
    ],
)
def test_what_a_check_of_weights_could_see_is_seen(
    model, layer, section, key, value, fault
):
    damaged = change(model, layer, section, key, value)
    assert fault in weights.find_fault(model, damaged)


def test_other_weights_are_no_fault(model):
    damaged = change(model, "maxout", "params", "b", lambda b: b + 1)
    assert weights.find_fault(model, damaged) is None
    damaged = change(model, "symbolembed", "attrs", "unk", 1)
    assert weights.find_fault(model, damaged) is None


@pytest.fixture(scope="module")
def small_run() -> list[Outcome]:
    return fuzz(list(TARGETS.values()), range(12), seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    TARGETS,
)
def test_damaged_files_are_refused_or_read_as_they_are(small_run, name):
    found = [outcome for outcome in small_run if outcome.target == name]
    assert [outcome.case for outcome in found] == list(range(12))
    assert not [outcome for outcome in found if outcome.verdict.kind in FAILURES]


@pytest.mark.slow
def test_every_file_is_damaged(small_run):
    damaged = {(outcome.target, outcome.part) for outcome in small_run}
    for name, target in TARGETS.items():
        assert len(target.parts) == 1 or len([d for d in damaged if d[0] == name]) > 1


def make_outcomes(kinds: Sequence[Kind]) -> list[Outcome]:
    return [
        Outcome(
            target="grid",
            case=case,
            part="a/b/grid.yml",
            damage="truncate",
            verdict=Verdict(kind=kind, cause=f"cause of {kind}"),
        )
        for case, kind in enumerate(kinds)
    ]


def test_outcomes_are_counted_and_failures_grouped():
    kinds = [Kind.SAME, Kind.HANG, Kind.OPAQUE, Kind.HANG, Kind.OTHER]
    found = summary.summarize(make_outcomes(kinds), seed=3)
    assert found["counts"] == {"grid": {"a/b/grid.yml": Counter(kinds)}}
    assert [(f["kind"], f["cases"]) for f in found["failures"]] == [
        ("hang", 2),
        ("opaque error", 1),
    ]
    assert [shown["case"] for shown in found["failures"][0]["shown"]] == [1, 3]
    row = "| grid: `b/grid.yml` | 5 |  |  | 1 | 1 |  |  | 1 |  | 2 |  |"
    assert row in summary.make_table(found).splitlines()


def test_the_table_goes_where_it_belongs(tmp_path):
    page = tmp_path / "page.md"
    found = summary.summarize(make_outcomes([Kind.SAME]), seed=0)
    page.write_text("before\n", encoding="utf8")
    with pytest.raises(ValueError, match="should have the lines '<!-- the table"):
        summary.write_table(found, page)
    page.write_text(f"before\n\n{summary.BEGIN}\nold\n{summary.END}\n\nafter\n")
    summary.write_table(found, page)
    table = summary.make_table(found)
    assert page.read_text(encoding="utf8") == (
        f"before\n\n{summary.BEGIN}\n\n{table}\n{summary.END}\n\nafter\n"
    )


@pytest.mark.parametrize(("kind", "code"), [(Kind.SAME, 0), (Kind.SILENT, 1)])
def test_the_command_fails_where_a_file_does(kind, code, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "fuzz", lambda *_, **__: make_outcomes([kind]))
    output = tmp_path / "fuzz.json"
    with pytest.raises(typer.Exit) as error:
        command.main(only="grid", output=str(output))
    assert error.value.exit_code == code
    assert json.loads(output.read_text())["counts"]["grid"]
    repeat = "python -m fuzz --seed 0 --only grid --case 0"
    assert (repeat in capsys.readouterr().out) is bool(code)


def test_the_page_has_the_table_of_the_results():
    results = json.loads(RESULTS.read_text(encoding="utf8"))
    page = (ROOT / "fuzz/README.md").read_text(encoding="utf8")
    assert summary.make_table(results) in page
