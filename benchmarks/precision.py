"""What products of fewer bits change in what trained pipelines predict.

Run as `python -m benchmarks.precision` from the checkout, after the trials whose
pipelines are in `training/` (`python -m lab sweep ladder`).
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import typer
from thinc.api import get_current_ops
from wasabi import msg

from spacy_hashembeds.acceleration.changes import ENTITIES, ChangeCounter
from spacy_hashembeds.acceleration.parity import LoadedPipeline, compare_pipelines
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.files import write_json
from spacy_hashembeds.kernels.quantized import PRECISIONS, name_instructions

from ._data import RESULTS, ROOT
from ._tables import make_table

PLACE = "components.tok2vec.model.encode.precision"

#: The trials of the ladder whose pipelines are compared: spaCy's tables, and lookup.
TRIALS = ("multi_hash_embed/steps2400", "multi_embed_token_ner/steps2400_averaged")

COUNTED = ("tokens", "entities")


def measure_precision(
    trained: Path, corpora: Path, trials: Sequence[str] = TRIALS
) -> dict[str, Any]:
    """Predict test data in float32, and in each precision that the processor has.

    trained (Path): The folder of pipelines, as trials write it.
    corpora (Path): The folder of prepared corpora.
    RAISES (FileNotFoundError): If no pipeline is there.
    RETURNS (dict[str, Any]): The results, as JSON data.
    """
    models = [(trial, path) for trial in trials for path in find_models(trained, trial)]
    if not models:
        raise FileNotFoundError(
            f"There is no pipeline of {' or '.join(trials)} in '{trained}'. Train them "
            "with `python -m lab sweep ladder`."
        )
    return {
        "instructions": {name: name_instructions(name) for name in PRECISIONS[1:]},
        "pipelines": [
            {
                "corpus": path.relative_to(trained).parts[0],
                "trial": trial,
                "seed": path.parent.name,
                "precision": precision,
                **compare(path, corpora, trained, precision),
            }
            for trial, path in models
            for precision in PRECISIONS[1:]
            if name_instructions(precision) is not None
        ],
    }


def find_models(trained: Path, trial: str) -> Iterable[Path]:
    """Find the pipelines of a trial, of all corpora and seeds."""
    return sorted(trained.glob(f"*/{trial}/seed*/model-best"))


def compare(
    model: Path, corpora: Path, trained: Path, precision: str
) -> dict[str, Any]:
    """Count what a precision changes on the test data of a pipeline's corpus."""
    msg.text(f"predicting: {model.relative_to(trained)}, {precision}")
    before, after = (
        LoadedPipeline(spacy.load(model, config={PLACE: each}), get_current_ops())
        for each in ("float32", precision)
    )
    corpus = corpora / model.relative_to(trained).parts[0] / "test.spacy"
    counter = ChangeCounter([])
    compare_pipelines(before, after, read_docs(corpus, before.nlp.vocab), counter)
    changes = counter.summarize()
    return {
        "tokens": list(changes.tokens),
        "entities": list(changes.kinds[ENTITIES][:2]),
        "f1": list(changes.f1 or ()),
    }


def make_precision_table(results: Mapping[str, Any]) -> str:
    """Make a table of means over seeds, a row for each trial and precision."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for one in results["pipelines"]:
        key = tuple(one[name] for name in ("corpus", "trial", "precision"))
        groups.setdefault(key, []).append(one)
    header = ["corpus, trial", "precision", "seeds"]
    header += [f"{what} changed" for what in COUNTED]
    return make_table(
        [*header, "F1 in float32", "F1", "difference (each seed)"],
        [
            [
                f"{corpus}, `{trial}`",
                precision,
                f"{len(ones)}",
                *(_format_share([one[what] for one in ones]) for what in COUNTED),
                *_format_f1(np.array([one["f1"] for one in ones])),
            ]
            for (corpus, trial, precision), ones in sorted(groups.items())
        ],
    )


def _format_share(counts: Sequence[Sequence[int]]) -> str:
    changed, of = np.sum(counts, axis=0)
    return f"{100 * changed / max(1, of):.3f}%"


def _format_f1(f1: np.ndarray) -> list[str]:
    before, after = 100 * f1.mean(axis=0)
    differences = " ".join(f"{100 * (new - old):+.2f}" for old, new in f1)
    return [f"{before:.2f}", f"{after:.2f}", differences]


def main(
    trained: Path = ROOT / "training",
    corpora: Path = ROOT / "corpus",
    output: Path = RESULTS / "precision.json",
) -> None:
    """Compare what pipelines of trials predict in each precision."""
    results = measure_precision(trained, corpora)
    write_json(output, results)
    typer.echo(f"\n{make_precision_table(results)}\n")
    msg.good(f"Results: {output}")


if __name__ == "__main__":
    typer.run(main)
