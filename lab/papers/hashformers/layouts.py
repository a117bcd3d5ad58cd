"""What the paper compares, and which trials of ours stand beside it."""

from itertools import product

from ..layouts import Trials
from ..printed import Paper

#: The names of our datasets: the paper's are those of GLUE.
DATASETS = {"wnut17": "WNUT 2017", "conll2002_es": "CoNLL es"}

#: Ratios and scores are printed to a tenth of a percent.
PAPER = Paper(file="printed_hashformers.json", datasets=DATASETS, rounding=0.0005)

#: The paper's tasks, in its order.
TASKS = {
    "mnli": "MNLI",
    "qnli": "QNLI",
    "qqp": "QQP",
    "rte": "RTE",
    "sst": "SST",
    "mrpc": "MRPC",
    "cola": "CoLA",
    "sts": "STS",
}
AVERAGE = "average"

#: What hashes and what compresses, by the keys of the paper's tables and of variants.
HASHERS = {"md5": "MD", "lsh": "LSH"}
COMPRESSORS = {"emb": "Emb", "pool": "Pool", "add": "Add", "proj": "Proj"}

_SIZED = {"emb_50k": "Emb (50K)", "emb_1k": "Emb (1K)"}
_SIZED.update({key: name for key, name in COMPRESSORS.items() if key != "emb"})
_BASELINES = {
    "bert_mlm": "BERT-MLM",
    "bert_sr": "BERT-S+R",
    "canine_c": "CANINE-C",
    "proformer": "ProFormer",
}

#: The names of the paper's models, by their keys. In table 3 either hasher is meant.
MODELS = {
    **_BASELINES,
    **{
        f"{hasher}_{key}": f"HashFormers-{name} {model}"
        for hasher, name in HASHERS.items()
        for key, model in _SIZED.items()
    },
    **{key: f"HashFormers-{name}" for key, name in COMPRESSORS.items()},
}

#: The config that has them, and what ours are compared with: the hash embedding of the
#: default size, and one that is as large as the smallest of them.
EMBEDDER = "hash_former_embed"
BASELINE = Trials("multi_fewer_hash_embed", "default")
EQUAL = Trials("multi_fewer_hash_embed", "equal_to_proj")

_PAIRS = {
    Trials(EMBEDDER, f"{hasher}_{key}"): f"{name} {model}"
    for (hasher, name), (key, model) in product(HASHERS.items(), COMPRESSORS.items())
}

#: The names of trials, in the order of tables.
NAMES = {
    BASELINE: "Hash embedding",
    EQUAL: "Hash embedding of Proj's size",
    **_PAIRS,
}

#: For trials the paper's key of the same pair. Our Emb has the rows of its smaller one.
PRINTED = {
    trials: f"{trials.variant}{'_1k' * trials.variant.endswith('_emb')}"
    for trials in _PAIRS
}


def name_trials(trials: Trials) -> str:
    """Name trials: by their variant, if they have no other name."""
    return NAMES.get(trials, trials.variant)


def name_dataset(dataset: str) -> str:
    """Name a dataset: as we know it, if we do."""
    return DATASETS.get(dataset, dataset)
