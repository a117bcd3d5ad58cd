"""What a page is made of: the results of one task, and prepared corpora."""

from collections.abc import Callable
from pathlib import Path

from ..evaluation.tasks import NER, TEXTCAT
from ..experiments.results import Groups, read_results, select_task

_NAMES = {NER: "named entities", TEXTCAT: "text classifiers"}

#: The paper that is about each task, as the command's `--paper` names it.
PAPERS = {NER: "multi-hash-embeddings", TEXTCAT: "hash-embeddings"}


def read_trials(
    results: str | Path, task: str, on_progress: Callable[[str], None]
) -> Groups:
    """Read the trials that a paper is about.

    results (str | Path): The folder of results: see `read_results`.
    task (str): The paper's task, "ner" or "textcat".
    on_progress (Callable[[str], None]): Called with how many others are left out.
    RAISES (FileNotFoundError): If there are none, or only others.
    RAISES (ValueError): If a result can't be read.
    RETURNS (Groups): The trials.
    """
    groups = read_results(results)
    chosen = select_task(groups, task)
    (other,) = _NAMES.keys() - {task}
    n_others = sum(map(len, groups.values())) - sum(map(len, chosen.values()))
    if not chosen:
        raise FileNotFoundError(
            f"There are no results of {_NAMES[task]} in '{results}', which the paper "
            f"'{PAPERS[task]}' is about, only {n_others:,} of {_NAMES[other]}, which "
            f"'{PAPERS[other]}' is about. Choose that one with --paper."
        )
    if n_others:
        on_progress(f"Leaving out the results of {_NAMES[other]}: {n_others:,}")
    return chosen


def find_corpora(root: str | Path | None) -> Path:
    """Find the folder of prepared corpora.

    root (str | Path, optional): The folder. None: "corpus", which need not be there.
    RAISES (FileNotFoundError): If a folder is named that is not there.
    RETURNS (Path): The folder.
    """
    if root is not None and not Path(root).is_dir():
        raise FileNotFoundError(
            f"'corpus_root' should be a folder of prepared corpora, but there is no "
            f"'{root}'. `spacy hashembeds prepare` makes them."
        )
    return Path("corpus" if root is None else root)
