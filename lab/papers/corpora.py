"""Counts of a paper's prepared corpora."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from pathlib import Path

import spacy
from spacy.tokens import DocBin
from spacy.training.corpus import FILE_TYPE, walk_corpus

from spacy_hashembeds.layers.tableembed import HashColumn, HashEmbed
from spacy_hashembeds.tools.analyze.corpus import (
    StatisticsCounter,
    collect_vocabulary,
    count_features,
)
from spacy_hashembeds.tools.analyze.embedders import measure_table
from spacy_hashembeds.tools.evaluate.sources import NER
from spacy_hashembeds.tools.prepare.splits import SPLITS
from spacy_hashembeds.training.docbin import read_docs

from ..corpora.datasets import DATASETS
from .tables import Paper

#: Counts by dataset and by names of columns. A missing corpus has {}.
Counted = Mapping[str, Mapping[str, float]]

_ATTRIBUTES = ("NORM", "PREFIX", "SUFFIX", "SHAPE")
_STATISTICS = (
    *("documents", "tokens", "classes", "vocabulary"),
    *("entities_per_document", "document_length", "entity_length"),
)


def count_corpora(
    paper: Paper, root: Path, on_progress: Callable[[str], None] = lambda line: None
) -> Counted:
    """Count a paper's corpora, if its tables have counts."""
    if not any("count" in column.source for column in chain(*paper.columns.values())):
        return {}
    counted = {}
    for dataset in paper.datasets:
        paths = {split: root / dataset / f"{split}.spacy" for split in SPLITS}
        existing = {split: path for split, path in paths.items() if path.exists()}
        if existing:
            on_progress(f"Counting {root / dataset}")
        of_entities = partial(_count_entities, dataset)
        count = of_entities if paper.task == NER else _count_categories
        counted[dataset] = count(existing)
    if not any(counted.values()):
        on_progress(f"None of {paper.called}'s corpora in '{root}': no counts")
    return counted


def _count_entities(dataset: str, paths: Mapping[str, Path]) -> dict[str, float]:
    # norms, prefixes, suffixes and shapes depend on the language
    vocab = spacy.blank(DATASETS[dataset].lang).vocab
    figures: dict[str, float] = {}
    texts: set[str] = set()
    for split, path in paths.items():
        statistics = StatisticsCounter(read_docs(path, vocab))
        counts = statistics.get_statistics()
        figures[f"{split}_tokens"] = counts["tokens"] / 1000
        figures[f"{split}_entities"] = counts["entities"] / 1000
        if split == "train":
            texts = statistics.entity_texts
            figures |= {name: counts[name] for name in _STATISTICS}
            words = collect_vocabulary(read_docs(path, vocab), _ATTRIBUTES)
            features = count_features(words)
            figures |= {name: features[name]["values"] for name in features}
            # collisions of norms in a table, by hash seed
            for seed in (8, 9):
                table = HashColumn(HashEmbed(96, 5000, num_hashes=1, seed=seed), "NORM")
                measures = measure_table(table, {"train": words})
                figures[f"reached_{seed}"] = measures["rows_reached_by_hash"][0]
                figures[f"sharing_{seed}"] = measures["sharing_row_by_hash"][0]
        elif "train" in paths:
            seen = statistics.count_seen(texts)
            figures |= {f"{split}_{key}": seen[key] for key in ("seen", "unseen")}
    return figures


def _count_categories(paths: Mapping[str, Path]) -> dict[str, float]:
    """Count texts. Our training and development texts are those the paper trains on."""
    if len(paths) < len(SPLITS):
        return {}
    texts = dict.fromkeys(SPLITS, 0)
    labels: set[str] = set()
    for split, path in paths.items():
        for file in walk_corpus(path, FILE_TYPE):
            categories = DocBin().from_disk(file).cats  # faster than docs
            texts[split] += len(categories)
            labels.update(*categories)
    return {
        "train": texts["train"] + texts["dev"],
        "test": texts["test"],
        "classes": len(labels),
    }
