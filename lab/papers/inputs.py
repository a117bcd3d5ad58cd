"""What a page is made of: the results of a paper's task, and prepared corpora."""

from collections.abc import Callable
from pathlib import Path

from spacy_hashembeds.evaluation.tasks import NER, TEXTCAT

from ..trials.results import Groups, read_results, select_task

_NAMES = {NER: "named entities", TEXTCAT: "text classifiers"}

#: What each paper is about, by the names that the command's `--paper` has for them.
PAPERS = {
    "multi-hash-embeddings": NER,
    "hash-embeddings": TEXTCAT,
    "why-attention": NER,
    "hashformers": NER,
}


def read_trials(
    results: str | Path, paper: str, on_progress: Callable[[str], None]
) -> Groups:
    """Read the trials that a paper is about.

    results (str | Path): The folder of results: see `read_results`.
    paper (str): The paper, one of `PAPERS`.
    on_progress (Callable[[str], None]): Called with how many others are left out.
    RAISES (FileNotFoundError): If there are none, or only others.
    RAISES (ValueError): If a result can't be read.
    RETURNS (Groups): The trials.
    """
    task = PAPERS[paper]
    groups = read_results(results)
    chosen = select_task(groups, task)
    (other,) = _NAMES.keys() - {task}
    n_others = sum(map(len, groups.values())) - sum(map(len, chosen.values()))
    if not chosen:
        raise FileNotFoundError(
            f"There are no results of {_NAMES[task]} in '{results}', which the paper "
            f"'{paper}' is about, only {n_others:,} of {_NAMES[other]}. Choose a paper "
            f"about these: {_name_options(other)}."
        )
    if n_others:
        on_progress(f"Leaving out the results of {_NAMES[other]}: {n_others:,}")
    return chosen


def _name_options(task: str) -> str:
    return " or ".join(f"--paper {paper}" for paper in PAPERS if PAPERS[paper] == task)


def find_corpora(root: str | Path | None) -> Path:
    """Find the folder of prepared corpora.

    root (str | Path, optional): The folder. None: "corpus", which need not be there.
    RAISES (FileNotFoundError): If a folder is named that is not there.
    RETURNS (Path): The folder.
    """
    if root is not None and not Path(root).is_dir():
        raise FileNotFoundError(
            f"'corpus_root' should be a folder of prepared corpora, but there is no "
            f"'{root}'. `python -m lab prepare` makes them."
        )
    return Path("corpus" if root is None else root)
