"""Evaluations of what stands in files: pipelines, predictions and corpora."""

from dataclasses import replace
from pathlib import Path

from spacy.training.corpus import FILE_TYPE
from spacy.vocab import Vocab
from thinc.api import require_gpu

from ..corpora.annotated import read_annotated
from ..corpora.columns import ColumnFormat
from ..loading import load_trained
from .evaluate import evaluate_sources
from .evaluation import Evaluation
from .sources import Options, Source

# Files of a pipeline, which somebody may give instead of its folder.
_OF_PIPELINES = frozenset({".cfg", ".json", ".gz", ".whl", ".zip"})


def evaluate_in_depth(
    model: str | Path,
    test: str | Path,
    train: str | Path | None = None,
    *,
    against: str | Path | None = None,
    task: str | None = None,
    ablation: bool = False,
    misspelt: str | Path | None = None,
    layout: ColumnFormat | None = None,
    predicted_column: int | None = None,
    samples: int = 5000,
    seed: int = 0,
    use_gpu: int = -1,
    show_progress: bool = True,
) -> Evaluation:
    """Evaluate a pipeline, or its predictions, as `evaluate` does, given their files.

    The scores that `evaluate_pipeline` gives are here too, under the same keys.

    model (str | Path): A pipeline's package name or folder, or the file of its
        predictions, which is laid out as those of the corpora.
    test (str | Path): The gold corpus: a `.spacy` file or a folder of them, or a file
        with one token a line.
    train (str | Path, optional): The training corpus, likewise. Categories are scored
        without it.
    against (str | Path, optional): A second pipeline, or the file of its predictions,
        to compare the first one with.
    task (str, optional): What to score, "ner" or "textcat": see `evaluate`.
    ablation (bool): Whether to run the pipeline with each part of its encoder alone:
        see `evaluate`.
    misspelt (str | Path, optional): A misspelt copy of the gold corpus, likewise, for
        the pipeline to read too: see `evaluate`.
    layout (ColumnFormat, optional): How files with one token a line are laid out.
        None: the word first, the tag last, white space between.
    predicted_column (int, optional): The column of the tag in files of predictions,
        where it is another than in those of the corpora.
    samples (int): How often the bootstrap and the test of significance draw.
    seed (int): What they draw by. Equal seeds give equal results.
    use_gpu (int): The GPU's number, or -1 for the CPU.
    show_progress (bool): Whether to show on stderr how far it is, where that is a
        terminal.
    RAISES (FileNotFoundError): If a corpus is missing.
    RAISES (ValueError): If a corpus can't be read, predictions have other words than
        the gold corpus, there is no such GPU, `samples` is not 1 to 1,000,000, or
        `evaluate` raises it.
    RAISES (OSError): If there is no such pipeline.
    RETURNS (Evaluation): All that was found.
    """
    options = Options(samples=samples, seed=seed, show_progress=show_progress)
    if use_gpu >= 0:
        require_gpu(use_gpu)
    layout = layout or ColumnFormat(comments=True)
    tag = layout.tag if predicted_column is None else predicted_column
    of_predictions = replace(layout, tag=tag)
    # Both are loaded first: a wrong name should not cost a run.
    return evaluate_sources(
        _load(model, of_predictions),
        _read(test, layout),
        None if train is None else _read(train, layout),
        against=None if against is None else _load(against, of_predictions),
        task=task,
        ablation=ablation,
        misspelt=None if misspelt is None else _read(misspelt, layout),
        options=options,
    )


def _load(model: str | Path, layout: ColumnFormat) -> Source:
    path = Path(model)
    if _holds_predictions(path):
        return _read(model, layout)
    if path.is_file():
        raise ValueError(
            f"'{model}' should be a pipeline, a package name or a folder, or a file of "
            f"predictions, but ends in {path.suffix}, as files of pipelines do. Give "
            "the folder that `spacy train` wrote, model-best; or give a file of "
            "predictions another name, such as "
            f"'{path.with_suffix('.iob')}'."
        )
    return Source(name=str(model), docs=load_trained(model))


def _read(corpus: str | Path, layout: ColumnFormat) -> Source:
    return Source(name=str(corpus), docs=read_annotated(corpus, Vocab(), layout=layout))


def _holds_predictions(path: Path) -> bool:
    if path.is_dir():
        is_pipeline = (path / "meta.json").is_file()
        return not is_pipeline and any(path.glob(f"*{FILE_TYPE}"))
    return path.exists() and path.suffix not in _OF_PIPELINES
