"""Results of HashFormers that were never trained."""

from collections.abc import Sequence
from pathlib import Path

from lab.papers.hashformers.layouts import BASELINE, EMBEDDER
from lab.papers.layouts import Trials

from ...trials.test_results import write_result

LSH_PROJ = Trials(EMBEDDER, "lsh_proj")

#: What mixes, and all that is not the embedder's, of every pipeline here.
MIXING, OTHERS = 80, 600


def write_f1(
    root: Path,
    dataset: str,
    trials: Trials,
    values: Sequence[float],
    *,
    tables: int = 320,
    words_per_second: float = 1000,
    is_early: bool = False,
) -> None:
    """Write results that have an F1, of each seed, the same on all and unseen entities.

    is_early: Whether nothing was recorded but what trials have always recorded.
    """
    sizes = {"embedding_parameters": tables + MIXING, "bytes_on_disk": 2_000_000}
    if not is_early:
        total = tables + MIXING + OTHERS
        sizes.update(mixing_parameters=MIXING, pipeline_parameters=total)
    timings = {} if is_early else {"words_per_second": words_per_second}
    for seed, value in enumerate(values):
        scores = {"ents_f": value, "ents_unseen_f": value, "ents_seen_support": 0}
        write_result(
            root,
            dataset,
            *trials,
            seed,
            {"test": scores},
            sizes=sizes,
            timings=timings,
        )


def write_pair(root: Path, dataset: str = "wnut17") -> None:
    """Write results of the baseline, and of LSH and Proj."""
    write_f1(root, dataset, BASELINE, [0.4, 0.6])
    write_f1(root, dataset, LSH_PROJ, [0.4, 0.4], tables=20, words_per_second=1500)
