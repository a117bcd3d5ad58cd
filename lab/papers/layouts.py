"""Which trial and score fills which cell of the report's tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: The report's names for the datasets, in its order.
DATASET_NAMES = {
    "conll2002_es": "CoNLL es",
    "conll2002_nl": "CoNLL nl",
    "wnut17": "WNUT2017",
    "archaeology": "Archeology",
    "anem": "AnEM",
    "ontonotes": "OntoNotes",
}

HASH, FEWER, LOOKUP = "multi_hash_embed", "multi_fewer_hash_embed", "multi_embed"

#: The variant of FEWER that hashes with seed 9 where the default has 8.
SEED_9 = "seed9"

FEATURES = ("ORTH", "NORM", "PREFIX", "SUFFIX", "SHAPE")

#: Tables 2 and 3: each variant and the features that it keeps.
ABLATION_DATASETS = {2: "conll2002_nl", 3: "anem"}
ABLATIONS = {
    "default": ("NORM", "PREFIX", "SUFFIX", "SHAPE"),
    "norm_prefix_suffix": ("NORM", "PREFIX", "SUFFIX"),
    "norm_prefix": ("NORM", "PREFIX"),
    "norm": ("NORM",),
    "orth": ("ORTH",),
}


#: Kinds of figures that are counted, and no scores.
COUNTS = ("count", "decimal", "tenths", "thousands")


class Trials(NamedTuple):
    """What is trained with several seeds.

    embedder (str): The config.
    variant (str): The name of its overrides.
    """

    embedder: str
    variant: str


class Source(NamedTuple):
    """Where a figure of a dataset comes from.

    embedder (str): The trial's embedder.
    variant (str): The trial's variant.
    split (str): The split that was scored.
    score (str): The score's name.
    """

    embedder: str
    variant: str
    split: str
    score: str


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table.

    key (str): Its name in `printed_tables.json`.
    label (str): Its heading.
    group (str): The heading above it and its neighbours, or "".
    kind (str): What its figures are: a "score" (0 to 1), an "exact" one, which the
        paper prints to a tenth of a percent, a "fine" one, to a hundredth, a "percent"
        (a change, as a fraction), a "change" of a score, an "exact_change" or a
        "fine_change", or one of `COUNTS`: a "count", a "decimal", "tenths" or
        "thousands".
    """

    key: str
    label: str
    group: str = ""
    kind: str = "score"


@dataclass(frozen=True, kw_only=True)
class TrialColumn(Column):
    """A column that trials fill.

    source (Source): The trials and their score.
    """

    source: Source


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A table with a row for each dataset.

    number (int): The report's number of it.
    columns (Sequence[TrialColumn]): Its columns.
    datasets (Sequence[str]): Its rows.
    """

    number: int
    columns: Sequence[TrialColumn]
    datasets: Sequence[str] = tuple(DATASET_NAMES)


_PRF = {"p": "Precision", "r": "Recall", "f": "F1-score"}


def _prf(
    key: str, group: str, embedder: str, variant: str, *, split: str, prefix: str
) -> list[TrialColumn]:
    return [
        TrialColumn(
            key=f"{key}_{score}",
            label=label,
            group=group,
            source=Source(embedder, variant, split, f"{prefix}_{score}"),
        )
        for score, label in _PRF.items()
    ]


def _hash_beside_lookup(
    number: int, hashed: str, looked_up: str, prefix: str = "ents"
) -> Layout:
    """Lay out one of tables 7 to 12, of two variants."""
    columns = _prf(
        "mhe", "MultiHashEmbed", HASH, hashed, split="test", prefix=prefix
    ) + _prf("me", "MultiEmbed", LOOKUP, looked_up, split="test", prefix=prefix)
    return Layout(number=number, columns=columns)


def _dev_f1(
    key: str, label: str, embedder: str, variant: str, group: str
) -> TrialColumn:
    source = Source(embedder, variant, "dev", "ents_f")
    return TrialColumn(key=key, label=label, group=group, source=source)


def _number_of_hashes(number: int, suffix: str) -> Layout:
    """Lay out table 13 or 14."""
    variants = {
        "1": (FEWER, "default"),
        "2": (FEWER, "hashes2"),
        "3": (FEWER, "hashes3"),
        "4": (HASH, "default"),
    }
    group = "Number of hash functions"
    columns = [
        _dev_f1(f"hashes{k}", k, embedder, name_variant(base, suffix), group)
        for k, (embedder, base) in variants.items()
    ]
    return Layout(number=number, columns=columns)


def _min_freq(number: int, suffix: str) -> Layout:
    """Lay out table 15 or 16."""
    columns = [_dev_f1("mhe", "MHE", HASH, name_variant("default", suffix), "")]
    for min_freq in (10, 5, 1):
        base = "default" if min_freq == 10 else f"min_freq{min_freq}"
        variant = name_variant(base, suffix)
        label = f"ME min-freq={min_freq}"
        columns.append(_dev_f1(f"me_{min_freq}", label, LOOKUP, variant, ""))
    return Layout(number=number, columns=columns)


def name_variant(base: str, suffix: str) -> str:
    """Name a variant with word vectors.

    base (str): The variant without vectors, e.g. "rows100".
    suffix (str): Which vectors, e.g. "vectors", or "" for none.
    RETURNS (str): E.g. "rows100_vectors", or "vectors" for "default".
    """
    if not suffix:
        return base
    return suffix if base == "default" else f"{base}_{suffix}"


_ROWS = {
    "default": "Default",
    "rows100": "= MultiEmbed",
    "rows20": "20% MultiEmbed",
    "rows10": "10% MultiEmbed",
}

#: The tables whose rows are datasets and whose cells are means over trials.
LAYOUTS = (
    Layout(
        number=1,
        columns=[
            _dev_f1(name, label, HASH, name, "Number of rows in MultiHashEmbed")
            for name, label in _ROWS.items()
        ],
        datasets=("conll2002_es", "archaeology"),
    ),
    _hash_beside_lookup(7, "vectors", "vectors"),
    _hash_beside_lookup(8, "rows100_vectors", "vectors"),
    _hash_beside_lookup(9, "default", "default"),
    _hash_beside_lookup(10, "rows100", "default"),
    _hash_beside_lookup(11, "default", "default", "ents_unseen"),
    _hash_beside_lookup(12, "vectors", "vectors", "ents_unseen"),
    _number_of_hashes(13, ""),
    _number_of_hashes(14, "vectors"),
    _min_freq(15, ""),
    _min_freq(16, "vectors"),
    Layout(
        number=17,
        columns=[
            *_prf("fasttext", "fastText", HASH, "fasttext", split="dev", prefix="ents"),
            *_prf("spacy", "spaCy", HASH, "vectors", split="dev", prefix="ents"),
        ],
    ),
)
