"""Fill the tables of docs/results.md: `python -m lab.pages.results`.

They are those of the trials in lab/results, in the order and by the names of
results.json. It draws results.png too, F1 against the size on disk.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from scipy.stats import t as student

from lab.figures import make_panels
from lab.papers.paper import get_trials, read_paper
from lab.trials.results import (
    Estimate,
    Groups,
    Result,
    TrialKey,
    estimate,
    estimate_score,
    read_results,
)
from spacy_hashembeds.evaluation.scorer import KINDS, LENGTHS
from spacy_hashembeds.evaluation.tasks import NER

from .markdown import to_markdown

FOLDER = Path(__file__).parents[1] / "results"
PAGE = Path(__file__).parents[2] / "docs" / "results.md"
PICTURE = PAGE.with_suffix(".png")
PAIRS = Path(__file__).with_name("pairs.json")
MISSPELLINGS = Path(__file__).with_name("misspellings.json")

#: The names of corpora and trials ("EMBEDDER/VARIANT"), in the order of each table.
PLAN = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf8"))
CORPORA = {**PLAN["corpora"], **PLAN["text corpora"]}
TABLES: Mapping[str, Mapping[str, Any]] = PLAN["tables"]

#: Trials that were run once more with nothing changed have the variant's name and this.
AGAIN = "_again"

#: For how many seeds each it is said how far means have to be apart.
NUMBERS_OF_SEEDS = (1, 2, 3, 5)

#: The parameters of the Maxout layer and of the layer normalisation, of width 96 and 4
#: tables, which older trials do not record.
MIXING_PARAMETERS = 96 * 3 * (4 * 96 + 1) + 2 * 96

NONE = "\N{EN DASH}"


def make_tables(
    groups: Groups,
    pairs: Sequence[Mapping[str, Any]] = (),
    misspellings: Sequence[Mapping[str, Any]] = (),
) -> dict[str, str]:
    """Make the tables of the page, as Markdown, by their names in it.

    pairs, misspellings: As pairs.py and misspellings.py write them.
    """
    known = {trials for table in TABLES.values() for trials in table["rows"]}
    for key in groups:
        trials = get_trials(key).removesuffix(AGAIN)
        if key.dataset not in CORPORA or trials not in known:
            raise ValueError(f"{'/'.join(key)} has no name. Add one to results.json.")
    types = {"WNUT 2017": "wnut17", "Spanish": "conll2002_es"}
    return {
        **{name: make_table(name, groups) for name in TABLES},
        "differences that count": make_limit_table(groups),
        "pairs": make_pair_table(pairs),
        "misspellings": make_misspelling_table(misspellings),
        **{
            f"encoders by type, {name}": make_type_table(groups, dataset)
            for name, dataset in types.items()
        },
    }


def make_table(name: str, groups: Groups) -> str:
    """Make a table that has a row for each corpus and each of its trials."""
    table = TABLES[name]
    # "report (all)" is of all entities; the heading before it says so
    header = ["corpus", *table["stub"], *table["columns"]]
    header = [heading.partition(" (")[0] for heading in header]
    rows = []
    for dataset in table.get("datasets", CORPORA):
        for trials, stub in table["rows"].items():
            key = TrialKey(dataset, *trials.split("/"))
            results = groups.get(key, [])[: table.get("most_seeds")]
            if results:
                shown = {**groups, key: results}
                cells = [COLUMNS[column](shown, key) for column in table["columns"]]
                rows.append([CORPORA[dataset], *stub, *cells])
    return format_table(header, rows)


def _score(name: str, groups: Groups, key: TrialKey, *, split: str = "test") -> str:
    return format_f1(estimate_score(groups[key], split, name))


def _format_printed(name: str, groups: Groups, key: TrialKey) -> str:
    """Format what the report prints: in percent, in italics."""
    trials = get_trials(key)
    source = {"dataset": key.dataset, "trials": trials, "score": f"test/{name}"}
    value = read_paper().find_printed(source)
    if value is None:
        return ""
    deviation = "" if value.deviation is None else f" ± {100 * value.deviation:.0f}"
    return f"*{100 * value.mean:.0f}{deviation}*"


def _format_paper(groups: Groups, key: TrialKey) -> str:
    """Format what the paper on LSTMs prints for its own model, on its own corpus."""
    if (key.dataset, key.embedder) != ("wnut17", "bilstm_char_cnn"):
        return ""
    encoder = TABLES["encoders"]["rows"][get_trials(key)][-1]
    return f"*{PLAN['paper'][encoder]}*"


def _format_part(division: str, name: str, groups: Groups, key: TrialKey) -> str:
    """Format the F1 of a type or a length, if all seeds have one."""
    parts = [r.parts["test"].get(division, {}).get(name) for r in groups[key]]
    return format_f1(estimate(part and part.f for part in parts))


def _list_f1(groups: Groups, key: TrialKey) -> dict[int, float]:
    """List the F1 of each seed on the test set."""
    scores = {r.seed: r.scores["test"]["ents_f"] for r in groups.get(key, [])}
    return {seed: f1 for seed, f1 in scores.items() if f1 is not None}


def _summarize(
    function: Callable[[Sequence[float]], float], groups: Groups, key: TrialKey
) -> str:
    """Format what a function of the seeds' F1 gives, of a deviation if there is one."""
    f1 = list(_list_f1(groups, key).values())
    return _format_points(None if function is stdev and len(f1) < 2 else function(f1))


def _format_repeated(groups: Groups, key: TrialKey) -> str:
    """Say how far a second training with the same seed is from the first, at most."""
    first = _list_f1(groups, key)
    second = _list_f1(groups, key._replace(variant=key.variant + AGAIN))
    apart = [abs(first[seed] - second[seed]) for seed in first.keys() & second.keys()]
    return _format_points(max(apart, default=None))


def count_table_parameters(result: Result) -> int:
    """Count the parameters of the tables, without the layer that mixes them."""
    mixing = result.mixing_parameters
    return result.embedding_parameters - (
        MIXING_PARAMETERS if mixing is None else mixing
    )


def _find_size(results: Sequence[Result]) -> float:
    """Find how many MB the pipelines have on disk, in the mean."""
    return fmean(result.bytes_on_disk for result in results) / 1e6


#: What a column says of a group of trials that differ by their seed, by its heading.
COLUMNS: Mapping[str, Callable[[Groups, TrialKey], str]] = {
    "F1 all": partial(_score, "ents_f"),
    "seen": partial(_score, "ents_seen_f"),
    "unseen": partial(_score, "ents_unseen_f"),
    "F1 on development data": partial(_score, "ents_f", split="dev"),
    "accuracy": partial(_score, "cats_acc"),
    "macro F1": partial(_score, "cats_macro_f"),
    "report (all)": partial(_format_printed, "ents_f"),
    "report (unseen)": partial(_format_printed, "ents_unseen_f"),
    "paper": _format_paper,
    **{f"of {n}": partial(_format_part, "length", n) for n in LENGTHS},
    "F1": partial(_summarize, fmean),
    "deviation": partial(_summarize, stdev),
    "lowest": partial(_summarize, min),
    "highest": partial(_summarize, max),
    "the same seed again": _format_repeated,
    "seeds": lambda groups, key: str(len(groups[key])),
    "embedding parameters": lambda groups, key: (
        f"{groups[key][0].embedding_parameters:,}"
    ),
    "table parameters": lambda groups, key: (
        f"{count_table_parameters(groups[key][0]):,}"
    ),
    "pipeline parameters": lambda groups, key: (
        NONE if (n := groups[key][0].pipeline_parameters) is None else f"{n:,}"
    ),
    "MB on disk": lambda groups, key: f"{_find_size(groups[key]):.1f}",
}


def make_limit_table(groups: Groups) -> str:
    """Make a table of how far means over seeds have to be apart to differ."""
    seeds = [f"{n} seed{'s' * (n > 1)} each" for n in NUMBERS_OF_SEEDS]
    rows = []
    for dataset, name in CORPORA.items():
        keys = [TrialKey(dataset, *t.split("/")) for t in TABLES["noise"]["rows"]]
        samples = [list(_list_f1(groups, key).values()) for key in keys]
        samples = [f1 for f1 in samples if len(f1) > 1]
        if samples:
            deviation = pool_deviations(samples)
            t = student.ppf(0.975, sum(len(f1) - 1 for f1 in samples))
            limits = [t * (2 / n) ** 0.5 * deviation for n in NUMBERS_OF_SEEDS]
            figures = map(_format_points, (deviation, *limits))
            rows.append([name, str(sum(map(len, samples))), *figures])
    return format_table(["corpus", "trainings", "deviation", *seeds], rows)


def pool_deviations(samples: Sequence[Sequence[float]]) -> float:
    """Estimate the deviation that samples with means of their own have in common."""
    squares = sum((len(sample) - 1) * stdev(sample) ** 2 for sample in samples)
    return (squares / sum(len(sample) - 1 for sample in samples)) ** 0.5


def make_pair_table(pairs: Sequence[Mapping[str, Any]]) -> str:
    """Make a table of tests of significance between pairs of trials."""
    header = ["corpus", "trials", "compared", "F1 all", "seen", "unseen", "seeds"]
    rows = []
    for pair in pairs:
        (trials, first), (_, second) = map(
            _name_paired, (pair["first"], pair["second"])
        )
        differences = (_format_difference(pair["differences"][kind]) for kind in KINDS)
        compared = f"{first} \N{MINUS SIGN} {second}"
        corpus, n = CORPORA[pair["dataset"]], str(len(pair["seeds"]))
        rows.append([corpus, trials, compared, *differences, n])
    return format_table(header, rows)


def _name_paired(variant: Sequence[str]) -> Sequence[str]:
    """Name trials that are tested: what they have in common, and what they are."""
    trials = "/".join(variant)
    common = ["2,400 steps", *TABLES["ladder"]["rows"].get(trials, ())]
    names = TABLES["equal sizes"]["rows"].get(trials, common)
    return [name.partition(" (`")[0] for name in names]


def _format_difference(value: Mapping[str, Any] | None) -> str:
    """Format a difference in points, with its p-value as it is and adjusted."""
    if value is None:
        return NONE
    points = f"{100 * value['difference']:+.1f}".replace("-", "\N{MINUS SIGN}")
    p_values = (
        "< 0.001" if value[key] < 0.001 else f"= {value[key]:.3f}"
        for key in ("p_value", "adjusted_p_value")
    )
    return f"{points} (p {'; Holm '.join(p_values)})"


def make_misspelling_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Make a table of what pipelines lose where entities are misspelt."""
    names = _name_misspelt()
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        trials = f"{row['embedder']}/{row['variant']}"
        if trials not in names:
            raise ValueError(f"{trials} has no name. Add one to results.json.")
        groups.setdefault((row["dataset"], trials), []).append(row)
    header = ["corpus", "embedding", "encoder", "NER"]
    for score in ("F1 all", "recall seen", "recall unseen"):
        header += [score, "misspelt", "lost"]
    shown = [
        [
            CORPORA[dataset],
            *names[trials],
            *(
                format_f1(value)
                for kind, score in (("all", "f"), ("seen", "r"), ("unseen", "r"))
                for value in _estimate_loss(found, kind, score)
            ),
            str(len(found)),
        ]
        for dataset in CORPORA
        for trials in names
        if (found := groups.get((dataset, trials)))
    ]
    return format_table([*header, "seeds"], shown)


def _name_misspelt() -> dict[str, Sequence[str]]:
    """Name the embedding, the encoder and the NER of trials, in the table's order."""
    embedders = {
        trials: (", ".join(stub[::-1]), "spaCy's windows", "`ner`")
        for table in ("hashformers", "trials", "equal sizes")
        for trials, stub in TABLES[table]["rows"].items()
    }
    encoders = TABLES["encoders"]["rows"].items()
    return embedders | {trials: (*stub, ner) for trials, (ner, *stub) in encoders}


def _estimate_loss(
    rows: Sequence[Mapping[str, Any]], kind: str, score: str
) -> tuple[Estimate | None, ...]:
    """Estimate a score as it is, misspelt, and what is lost, over the seeds."""
    pairs = [
        (row["scores"][kind][score], fmean(m[kind][score] for m in row["misspelt"]))
        for row in rows
        if kind in row["scores"]
    ]
    return (
        estimate(plain for plain, _ in pairs),
        estimate(misspelt for _, misspelt in pairs),
        estimate(plain - misspelt for plain, misspelt in pairs),
    )


def make_type_table(groups: Groups, dataset: str) -> str:
    """Make a table of the F1 of types, for the trials of one corpus."""
    chosen = {
        key: stub
        for trials, stub in TABLES["encoders"]["rows"].items()
        if (key := TrialKey(dataset, *trials.split("/"))) in groups
        and groups[key][0].parts["test"]["type"]
    }
    types = sorted({t for key in chosen for t in groups[key][0].parts["test"]["type"]})
    rows = [
        [*stub, *(_format_part("type", name, groups, key) for name in types)]
        for key, stub in chosen.items()
    ]
    return format_table([*TABLES["encoders"]["stub"], *types], rows)


def draw_sizes(groups: Groups, path: Path = PICTURE) -> None:
    """Draw F1 against the size on disk, a panel for each corpus."""
    steps = {*TABLES["noise"]["rows"], *TABLES["one change at a time"]["rows"]}
    left_out = {*PLAN["not drawn"], *steps}
    groups = {
        key: results
        for key, results in groups.items()
        if results[0].task == NER
        and key.embedder in PLAN["series"]
        and get_trials(key).removesuffix(AGAIN) not in left_out
    }
    datasets = [d for d in CORPORA if sum(key.dataset == d for key in groups) > 2]
    figure, panels = make_panels(len(datasets), len(datasets), 4.6, 4.0)
    for panel, dataset in zip(panels, datasets, strict=True):
        _draw_panel(panel, {k: v for k, v in groups.items() if k.dataset == dataset})
        panel.set_title(CORPORA[dataset])
        panel.set_xlabel("Pipeline on disk (MB)")
        panel.grid(visible=True, alpha=0.3)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    figure.suptitle("A sign for each size that an embedder was tried in", fontsize=10)
    figure.supylabel("F1 on the test set (percent)")
    figure.savefig(path, dpi=150, facecolor="white")


def _draw_panel(panel: Any, groups: Groups) -> None:
    """Draw the trials of one corpus, and the band that the seeds of spaCy's are in."""
    for embedder, (name, color, mark) in PLAN["series"].items():
        found = [results for key, results in groups.items() if key.embedder == embedder]
        found.sort(key=_find_size)
        scores = [estimate_score(results, "test", "ents_f") for results in found]
        panel.errorbar(
            [_find_size(results) for results in found],
            [100 * score.mean for score in scores if score],
            yerr=[100 * (score.deviation or 0) for score in scores if score],
            **{"label": name, "color": color, "marker": mark, "capsize": 2},
            **{"linestyle": "none", "markersize": 6},
        )
    for key, results in groups.items():
        if get_trials(key) == "multi_hash_embed/default":
            score = estimate_score(results, "test", "ents_f")
            assert score is not None
            low, high = (
                100 * (score.mean + sign * (score.deviation or 0)) for sign in (-1, 1)
            )
            if high > low:
                color = PLAN["series"][key.embedder][1]
                label = "spaCy's as it comes, ± a deviation"
                panel.axhspan(low, high, color=color, alpha=0.12, label=label)


def _format_points(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f}"


def format_f1(value: Estimate | None) -> str:
    """Format a score in percent with its deviation over the seeds, if it has one."""
    mean = _format_points(None if value is None else value.mean)
    if value is None or value.deviation is None:
        return mean
    return f"{mean} ± {100 * value.deviation:.1f}"


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table as Markdown, if there is a trial to show."""
    return to_markdown([header, *rows]) if rows else "Not run yet."


def fill(page: str, tables: Mapping[str, str]) -> str:
    """Put tables between the comments that name them."""
    for name, table in tables.items():
        pattern = f"(<!-- table: {name} -->\n).*?(<!-- end of table -->)"
        page, n = re.subn(pattern, rf"\1\n{table}\n\n\2", page, flags=re.DOTALL)
        if n != 1:
            raise ValueError(f"'{PAGE}' should have one place for the table '{name}'.")
    return page


def read_measured(path: Path) -> list[dict[str, Any]]:
    """Read what pairs.py or misspellings.py wrote."""
    return json.loads(path.read_text(encoding="utf8"))


if __name__ == "__main__":
    page, groups = PAGE.read_text(encoding="utf8"), read_results(FOLDER)
    measured = map(read_measured, (PAIRS, MISSPELLINGS))
    PAGE.write_text(fill(page, make_tables(groups, *measured)), encoding="utf8")
    draw_sizes(groups)
    sys.stdout.write(f"Filled the tables of {PAGE}, and drew {PICTURE}\n")
