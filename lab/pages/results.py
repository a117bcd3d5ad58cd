"""Fill the tables of docs/results.md: `python -m lab.pages.results`.

They are those of the trials in lab/results; the text around them is written by hand. A
test sees that they are. It draws results.png too, F1 against the size on disk.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from scipy.stats import t as student

from lab.papers.multi_hash_embeddings import (
    FEWER,
    HASH,
    LOOKUP,
    SEED_9,
    name_variant,
)
from lab.papers.paper import read_paper
from lab.trials.results import (
    Estimate,
    Groups,
    Result,
    TrialKey,
    estimate,
    estimate_score,
    read_results,
    select_task,
)
from spacy_hashembeds.charts import import_figure
from spacy_hashembeds.evaluation.scorer import KINDS, LENGTHS
from spacy_hashembeds.evaluation.tasks import NER, TEXTCAT

from .markdown import to_markdown

FOLDER = Path(__file__).parents[1] / "results"
PAGE = Path(__file__).parents[2] / "docs" / "results.md"
PAIRS = Path(__file__).with_name("pairs.json")
MISSPELLINGS = Path(__file__).with_name("misspellings.json")

CORPORA = {
    "wnut17": "WNUT 2017",
    "anem": "AnEM",
    "conll2002_es": "CoNLL 2002 Spanish",
    "conll2002_nl": "CoNLL 2002 Dutch",
    "archaeology": "Dutch archaeology",
}

#: What is trained, in the order of the table.
EMBEDDERS = {
    (HASH, "default"): "hash, 4 hashes (`multi_hash_embed`)",
    (FEWER, "hashes3"): "hash, 3 hashes",
    (FEWER, "hashes2"): "hash, 2 hashes",
    (FEWER, "default"): "hash, 1 hash (`multi_fewer_hash_embed`)",
    ("token_ner", "default"): "hash, 1 hash, under `token_ner` (`token_ner`)",
    (FEWER, SEED_9): "hash, 1 hash, hash seed 9",
    (HASH, "rows100"): "hash, 4 hashes, as many rows as symbols (`rows100`)",
    (HASH, "rows20"): "hash, 4 hashes, a fifth of that (`rows20`)",
    (HASH, "rows10"): "hash, 4 hashes, a tenth of that (`rows10`)",
    (LOOKUP, "default"): "lookup, min_freq 10 (`multi_embed`)",
    (LOOKUP, "min_freq5"): "lookup, min_freq 5",
    (LOOKUP, "min_freq2"): "lookup, min_freq 2",
    (LOOKUP, "min_freq1"): "lookup, min_freq 1",
}

WEIGHTED, HYBRID = "multi_weighted_hash_embed", "multi_hybrid_embed"

#: The same with tables of equal size, in the order of theirs: see the grid `budgets`.
BUDGETS = {"equal": "as lookup with min_freq 2", "tenth": "a tenth of spaCy's"}
EQUAL_SIZES = {
    (embedder, f"{budget}{suffix}"): (name, size)
    for budget, size in BUDGETS.items()
    for embedder, suffix, name in (
        (FEWER, "", "hash, 2 hashes"),
        (WEIGHTED, "", "weighted, 2 hashes, weights by symbols"),
        (WEIGHTED, "_hashed", "weighted, 2 hashes, weights hashed"),
        (HYBRID, "", "hybrid, 2 hashes"),
        (LOOKUP, "", "lookup"),
    )
}
FROM_ONE = (WEIGHTED, "equal_from_one")
STARTS = {(WEIGHTED, "equal"): "near 0", FROM_ONE: "at 1"}

#: What was trained with several seeds, in the order of the table, and what was trained
#: once more with nothing changed: see the grid `noise`.
NOISE = {
    (HASH, "steps2400"): "hash, 4 hashes",
    (LOOKUP, "steps2400"): "lookup, min_freq 2",
    (LOOKUP, "steps2400_averaged"): "lookup, min_freq 2, averaged weights",
}
AGAIN = {
    (embedder, variant): (embedder, f"{variant}_again")
    for embedder, variant in ((HASH, "steps2400"), (LOOKUP, "steps2400"))
}

#: What was changed about lookup with `min_freq` 2: see the grid `ladder`.
LADDER = {
    (LOOKUP, "steps2400"): "nothing",
    (LOOKUP, "steps2400_averaged"): "averaged weights",
    (LOOKUP, "dropout03"): "dropout 0.3",
    (LOOKUP, "dropout03_averaged"): "dropout 0.3, averaged weights",
    (LOOKUP, "window2"): "window 2",
    (LOOKUP, "width192"): "width 192",
}

#: For how many seeds each it is said how far means have to be apart.
NUMBERS_OF_SEEDS = (1, 2, 3, 5)

#: What is tested against each other: names, and which trials these are.
PAIRED = {
    **EQUAL_SIZES,
    **{variant: (name, "2,400 steps") for variant, name in NOISE.items()},
}

TAGS, TRANSITIONS = "`token_ner`", "`ner`"
WINDOWS = "spaCy's windows"
LSTMS = {"baseline": "BiLSTM", "default": "Cross-BiLSTM", "att": "Att-BiLSTM"}
ONE_HASH, CHARACTERS = "hash, 1 hash", "characters, hash"

#: What is embedded, encoded and recognized by which, in the order of the table: see the
#: grid `encoders`.
ENCODERS = {
    ("token_ner", "default"): (TAGS, ONE_HASH, WINDOWS),
    ("token_ner", "greedy"): (f"{TAGS}, greedy", ONE_HASH, WINDOWS),
    **{("bilstm_token_ner", v): (TAGS, ONE_HASH, name) for v, name in LSTMS.items()},
    ("bilstm_token_ner", "greedy"): (f"{TAGS}, greedy", ONE_HASH, LSTMS["default"]),
    **{("bilstm_char_cnn", v): (TAGS, CHARACTERS, n) for v, n in LSTMS.items()},
    **{
        ("bilstm_char_cnn", name_variant(v, "floret")): (
            *(TAGS, f"{CHARACTERS}, floret vectors"),
            name,
        )
        for v, name in LSTMS.items()
    },
    (FEWER, "default"): (TRANSITIONS, ONE_HASH, WINDOWS),
    ("char_cnn", "default"): (TRANSITIONS, CHARACTERS, WINDOWS),
    **{("bilstm_ner", v): (TRANSITIONS, ONE_HASH, name) for v, name in LSTMS.items()},
}

HASH_FORMER = "hash_former_embed"
CODES = {"lsh": "LSH", "md5": "MD5"}
COMPRESSORS = {"proj": "Proj", "add": "Add", "pool": "Pool", "emb": "Emb, 1,037 rows"}

#: Embeddings by codes, in the order of their table, and hash embeddings beside them:
#: see the grid `hashformers`.
HASHFORMERS = {
    **{
        (HASH_FORMER, f"{code}_{compressor}"): f"{code_name}, {name}"
        for code, code_name in CODES.items()
        for compressor, name in COMPRESSORS.items()
    },
    (FEWER, "equal_to_proj"): "hash, 4 hashes, as large as Proj",
    (FEWER, "default"): EMBEDDERS[FEWER, "default"],
    (HASH, "default"): EMBEDDERS[HASH, "default"],
}

#: What is run on misspelt entities, in the order of the table: embedding, encoder, NER.
MISSPELT = {
    **{v: (name, WINDOWS, TRANSITIONS) for v, name in HASHFORMERS.items()},
    **{v: (name, WINDOWS, TRANSITIONS) for v, name in EMBEDDERS.items()},
    **{
        v: (f"{name}, {size}", WINDOWS, TRANSITIONS)
        for v, (name, size) in EQUAL_SIZES.items()
    },
    **{v: (name, encoder, ner) for v, (ner, name, encoder) in ENCODERS.items()},
}

#: What the paper prints for them, with word vectors that we have not.
PAPER_F1 = dict(
    zip(LSTMS.values(), ("40.7 ± 1.8", "42.9 ± 1.0", "42.3 ± 0.8"), strict=True)
)
PAPER_CORPUS = "wnut17"

#: What NER begins with, in the order of the table: see the grid `pretraining`.
PRETRAINED = {
    ("pretrain_ner", "default"): ("hash, 4 hashes", "random weights"),
    ("pretrain_ner", "pretrained"): ("hash, 4 hashes", "Shuffle + Random"),
    ("pretrain_lsh_proj", "default"): ("LSH, Proj", "random weights"),
    ("pretrain_lsh_proj", "pretrained"): ("LSH, Proj", "Shuffle + Random"),
}

TEXT_CORPORA = {"ag_news_small": "AG's news, 7,600 texts"}
NGRAMS, ENSEMBLE = "hash_ngram_textcat", "hash_ngram_ensemble"
BOW, REDUCE = "textcat_bow", "textcat_reduce"

#: Text classifiers, in the order of their table.
CLASSIFIERS = {
    (NGRAMS, "default"): "hash embedding",
    (NGRAMS, "dictionary_linear"): "hash embedding, weights by a dictionary",
    (NGRAMS, "hashing_trick"): "hashing trick",
    (NGRAMS, "standard_linear"): "standard embedding",
    (BOW, "default"): "spaCy's `TextCatBOW`",
    (REDUCE, "default"): "spaCy's `TextCatReduce`",
    (NGRAMS, "dictionary"): "hash embedding, 3 dense layers",
    (NGRAMS, "standard"): "standard embedding, 3 dense layers",
    (ENSEMBLE, "default"): "ten small ones that vote, 1 to 3 dense layers",
    (NGRAMS, "default_fifth"): "hash embedding, a fifth",
    (NGRAMS, "hashing_trick_fifth"): "hashing trick, a fifth",
    (NGRAMS, "standard_linear_fifth"): "standard embedding, a fifth",
    (BOW, "default_fifth"): "spaCy's `TextCatBOW`, a quarter",
    (REDUCE, "default_fifth"): "spaCy's `TextCatReduce`, a fifth",
}

#: The series of the picture, with the colours and marks of each.
SERIES = {
    HASH: ("spaCy's, 4 hashes", "#1b3a57", "o"),
    FEWER: ("hash, 2 hashes", "#5b8db8", "s"),
    LOOKUP: ("lookup", "#c8701a", "D"),
    WEIGHTED: ("weighted", "#3f7f4f", "^"),
    HYBRID: ("hybrid", "#8a4f9e", "v"),
}
#: Not what its series is: weights that begin elsewhere, and other numbers of hashes.
NOT_DRAWN = {
    *(FROM_ONE, (FEWER, "equal_to_proj"), *NOISE, *AGAIN.values(), *LADDER),
    *((FEWER, name) for name in ("default", "hashes3", SEED_9)),
}
PICTURE = PAGE.with_suffix(".png")

NONE = "\N{EN DASH}"


def make_tables(
    groups: Groups,
    pairs: Sequence[Mapping[str, Any]] = (),
    misspellings: Sequence[Mapping[str, Any]] = (),
) -> dict[str, str]:
    """Make the tables of the page, as Markdown.

    groups (Groups): The trials, as `read_results` gives them.
    pairs (Sequence[Mapping[str, Any]]): The comparisons, as pairs.py writes them.
    misspellings (Sequence[Mapping[str, Any]]): The scores of pipelines on misspelt test
        sets, as misspellings.py writes them.
    RAISES (ValueError): If a trial has no place in the tables.
    RETURNS (dict[str, str]): The tables by their names in the page.
    """
    known = {*EMBEDDERS, *EQUAL_SIZES, *STARTS, *ENCODERS, *HASHFORMERS}
    known |= {*PRETRAINED, *CLASSIFIERS, *NOISE, *AGAIN.values(), *LADDER}
    for key in groups:
        if key.dataset not in {*CORPORA, *TEXT_CORPORA} or key[1:] not in known:
            raise ValueError(
                f"{'/'.join(key)} has no name for the table. Add one to {__file__}."
            )
    entities, texts = select_task(groups, NER), select_task(groups, TEXTCAT)
    return {
        "trials": make_trial_table(entities),
        "noise": make_noise_table(entities),
        "differences that count": make_limit_table(entities),
        "one change at a time": make_ladder_table(entities),
        "equal sizes": make_size_table(entities),
        "where weights begin": make_start_table(entities),
        "pairs": make_pair_table(pairs),
        "misspellings": make_misspelling_table(misspellings),
        "encoders": make_encoder_table(entities),
        "encoders by type, WNUT 2017": make_type_table(entities, "wnut17"),
        "encoders by type, Spanish": make_type_table(entities, "conll2002_es"),
        "hashformers": make_hashformer_table(entities),
        "pretraining": make_pretraining_table(entities),
        "text classification": make_text_table(texts),
    }


def make_trial_table(groups: Groups) -> str:
    """Make a table of all trials: F1 on the test set, and size."""
    header = (
        "corpus",
        "embedder",
        "F1 all",
        "report",
        "seen",
        "unseen",
        "report",
        "seeds",
        "embedding parameters",
        "MB on disk",
    )
    keys = [TrialKey(d, *variant) for d in CORPORA for variant in EMBEDDERS]
    return format_table(header, [make_row(k, groups) for k in keys if k in groups])


def make_row(key: TrialKey, groups: Groups) -> Sequence[str]:
    """Make the row of one corpus, embedder and variant."""
    results = groups[key]
    ours = {kind: f"{prefix}_f" for kind, prefix in KINDS.items()}
    f1 = {k: format_f1(estimate_score(results, "test", f)) for k, f in ours.items()}
    source = {"dataset": key.dataset, "trials": f"{key.embedder}/{key.variant}"}
    printed = {
        kind: read_paper().find_printed({**source, "score": f"test/{f}"})
        for kind, f in ours.items()
    }
    return (
        CORPORA[key.dataset],
        EMBEDDERS[key.embedder, key.variant],
        f1["all"],
        format_printed(printed["all"]),
        f1["seen"],
        f1["unseen"],
        format_printed(printed["unseen"]),
        str(len(results)),
        f"{results[0].embedding_parameters:,}",
        f"{_find_size(results):.1f}",
    )


def make_noise_table(groups: Groups) -> str:
    """Make a table of how far seeds of training are apart."""
    header = (
        "corpus",
        "embedder",
        "seeds",
        "F1",
        "deviation",
        "lowest",
        "highest",
        "the same seed again",
    )
    rows = [
        (
            CORPORA[dataset],
            f"{name} (`{variant[0]}`)",
            str(len(f1)),
            *map(_format_points, (fmean(f1), _measure_spread(f1), min(f1), max(f1))),
            _format_repeated(groups, dataset, variant),
        )
        for dataset in CORPORA
        for variant, name in NOISE.items()
        if (f1 := list(_list_f1(groups, dataset, variant).values()))
    ]
    return format_table(header, rows)


def make_limit_table(groups: Groups) -> str:
    """Make a table of how far means over seeds have to be apart to differ."""
    header = ("corpus", "trainings", "deviation", *map(_name_seeds, NUMBERS_OF_SEEDS))
    rows = []
    for dataset in CORPORA:
        samples = [list(_list_f1(groups, dataset, v).values()) for v in NOISE]
        samples = [f1 for f1 in samples if len(f1) > 1]
        if samples:
            deviation = pool_deviations(samples)
            t = student.ppf(0.975, sum(len(f1) - 1 for f1 in samples))
            limits = [t * (2 / n) ** 0.5 * deviation for n in NUMBERS_OF_SEEDS]
            figures = map(_format_points, (deviation, *limits))
            rows.append((CORPORA[dataset], str(sum(map(len, samples))), *figures))
    return format_table(header, rows)


def pool_deviations(samples: Sequence[Sequence[float]]) -> float:
    """Estimate the deviation that samples with means of their own have in common."""
    squares = sum((len(sample) - 1) * stdev(sample) ** 2 for sample in samples)
    return (squares / sum(len(sample) - 1 for sample in samples)) ** 0.5


def _name_seeds(n: int) -> str:
    return f"{n} seed{'s' * (n > 1)} each"


def _list_f1(
    groups: Groups, dataset: str, variant: tuple[str, str]
) -> dict[int, float]:
    """List the F1 of each seed on the test set."""
    results = groups.get(TrialKey(dataset, *variant), [])
    return {r.seed: f for r in results if (f := r.scores["test"]["ents_f"]) is not None}


def _measure_spread(figures: Sequence[float]) -> float | None:
    """Measure the deviation of a sample, divided by n - 1."""
    return stdev(figures) if len(figures) > 1 else None


def _format_points(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f}"


def _format_repeated(groups: Groups, dataset: str, variant: tuple[str, str]) -> str:
    """Say how far a second training with the same seed is from the first, at most."""
    if variant not in AGAIN:
        return NONE
    first = _list_f1(groups, dataset, variant)
    second = _list_f1(groups, dataset, AGAIN[variant])
    apart = [abs(first[seed] - second[seed]) for seed in first.keys() & second.keys()]
    return _format_points(max(apart, default=None))


def make_ladder_table(groups: Groups) -> str:
    """Make a table of single changes, of three seeds each.

    They are compared on development data: what is chosen by it is tested once.
    """
    header = ("change", "seeds", "F1 on development data")
    rows = []
    for variant, name in LADDER.items():
        results = groups.get(TrialKey("wnut17", *variant), [])
        first = [result for result in results if result.seed < 3]
        if first:
            score = format_f1(estimate_score(first, "dev", "ents_f"))
            rows.append((name, str(len(first)), score))
    return format_table(header, rows)


def make_size_table(groups: Groups) -> str:
    """Make a table of embedders with tables of equal size."""
    header = (
        "corpus",
        "size of the tables",
        "embedder",
        "F1 all",
        "seen",
        "unseen",
        "seeds",
        "table parameters",
    )
    rows = [
        (
            CORPORA[dataset],
            size,
            f"{name} (`{embedder}`)",
            *_format_entities(groups[key]),
            f"{count_table_parameters(groups[key][0]):,}",
        )
        for dataset in CORPORA
        for (embedder, variant), (name, size) in EQUAL_SIZES.items()
        if (key := TrialKey(dataset, embedder, variant)) in groups
    ]
    return format_table(header, rows)


def make_start_table(groups: Groups) -> str:
    """Make a table of where importance weights begin."""
    header = ("corpus", "weights begin", "F1 all", "seen", "unseen", "seeds")
    rows = [
        (CORPORA[dataset], name, *_format_entities(groups[key]))
        for dataset in CORPORA
        if TrialKey(dataset, *FROM_ONE) in groups
        for variant, name in STARTS.items()
        if (key := TrialKey(dataset, *variant)) in groups
    ]
    return format_table(header, rows)


def make_pair_table(pairs: Sequence[Mapping[str, Any]]) -> str:
    """Make a table of tests of significance between pairs of trials."""
    header = ("corpus", "trials", "compared", "F1 all", "seen", "unseen", "seeds")
    rows = []
    for pair in pairs:
        (first, trials), (second, _) = (
            PAIRED[tuple(pair[key])] for key in ("first", "second")
        )
        rows.append(
            (
                CORPORA[pair["dataset"]],
                trials,
                f"{first} \N{MINUS SIGN} {second}",
                *(_format_difference(pair["differences"][kind]) for kind in KINDS),
                str(len(pair["seeds"])),
            )
        )
    return format_table(header, rows)


def _format_difference(value: Mapping[str, Any] | None) -> str:
    """Format a difference in points, with its p-value as it is and adjusted."""
    if value is None:
        return NONE
    points = f"{100 * value['difference']:+.1f}".replace("-", "\N{MINUS SIGN}")
    p_values = (_format_p(value[key]) for key in ("p_value", "adjusted_p_value"))
    return f"{points} (p {'; Holm '.join(p_values)})"


def _format_p(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}"


def read_pairs(path: Path = PAIRS) -> list[dict[str, Any]]:
    """Read the comparisons that pairs.py wrote."""
    return json.loads(path.read_text(encoding="utf8"))


def make_misspelling_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Make a table of what pipelines lose where entities are misspelt.

    RAISES (ValueError): If a pipeline has no name in it.
    """
    groups: dict[tuple[str, tuple[str, str]], list[Mapping[str, Any]]] = {}
    for row in rows:
        variant = (row["embedder"], row["variant"])
        if variant not in MISSPELT:
            raise ValueError(
                f"{'/'.join(variant)} has no name for the table of misspellings. Add "
                f"one to {__file__}."
            )
        groups.setdefault((row["dataset"], variant), []).append(row)
    header = (
        "corpus",
        "embedding",
        "encoder",
        "NER",
        "F1 all",
        "misspelt",
        "lost",
        "recall seen",
        "misspelt",
        "lost",
        "recall unseen",
        "misspelt",
        "lost",
        "seeds",
    )
    shown = [
        (
            CORPORA[dataset],
            *MISSPELT[variant],
            *(
                format_f1(value)
                for kind, score in (("all", "f"), ("seen", "r"), ("unseen", "r"))
                for value in _estimate_loss(found, kind, score)
            ),
            str(len(found)),
        )
        for dataset in CORPORA
        for variant in MISSPELT
        if (found := groups.get((dataset, variant)))
    ]
    return format_table(header, shown)


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


def read_misspellings(path: Path = MISSPELLINGS) -> list[dict[str, Any]]:
    """Read the scores that misspellings.py wrote."""
    return json.loads(path.read_text(encoding="utf8"))


def make_encoder_table(groups: Groups) -> str:
    """Make a table of encoders and NER components: F1, by length too, and size."""
    header = (
        "corpus",
        "NER",
        "embedding",
        "encoder",
        "F1 all",
        "paper",
        "seen",
        "unseen",
        *(f"of {n}" for n in LENGTHS),
        "seeds",
        "pipeline parameters",
    )
    rows = [
        (
            CORPORA[dataset],
            *names,
            *_insert_paper(dataset, variant, _format_entities(groups[key])[:-1]),
            *(_format_part(groups[key], "length", length) for length in LENGTHS),
            str(len(groups[key])),
            _format_count(groups[key][0].pipeline_parameters),
        )
        for dataset in CORPORA
        for variant, names in ENCODERS.items()
        if (key := TrialKey(dataset, *variant)) in groups
    ]
    return format_table(header, rows)


def _insert_paper(
    dataset: str, variant: tuple[str, str], scores: Sequence[str]
) -> Sequence[str]:
    """Put what the paper prints behind F1, for what is its own model."""
    first, *others = scores
    is_paper = (dataset, variant[0]) == (PAPER_CORPUS, "bilstm_char_cnn")
    printed = f"*{PAPER_F1[ENCODERS[variant][-1]]}*" if is_paper else ""
    return (first, printed, *others)


def make_type_table(groups: Groups, dataset: str) -> str:
    """Make a table of the F1 of types, for the trials of one corpus."""
    chosen = {
        variant: groups[key]
        for variant in ENCODERS
        if (key := TrialKey(dataset, *variant)) in groups
        and groups[key][0].parts["test"]["type"]
    }
    types = sorted({t for rs in chosen.values() for t in rs[0].parts["test"]["type"]})
    rows = [
        (*ENCODERS[variant], *(_format_part(results, "type", name) for name in types))
        for variant, results in chosen.items()
    ]
    return format_table(("NER", "embedding", "encoder", *types), rows)


def _format_part(results: Sequence[Result], division: str, name: str) -> str:
    """Format the F1 of a type or a length, if all seeds have one."""
    parts = [result.parts["test"].get(division, {}).get(name) for result in results]
    return format_f1(estimate(part and part.f for part in parts))


def _format_count(count: int | None) -> str:
    return NONE if count is None else f"{count:,}"


def make_hashformer_table(groups: Groups) -> str:
    """Make a table of embeddings by codes, beside hash embeddings."""
    header = (
        "corpus",
        "embedding",
        "F1 all",
        "seen",
        "unseen",
        "seeds",
        "table parameters",
    )
    rows = [
        (
            CORPORA[dataset],
            name,
            *_format_entities(groups[key]),
            f"{count_table_parameters(groups[key][0]):,}",
        )
        for dataset in _list_datasets(groups, HASH_FORMER)
        for variant, name in HASHFORMERS.items()
        if (key := TrialKey(dataset, *variant)) in groups
    ]
    return format_table(header, rows)


def _list_datasets(groups: Groups, embedder: str) -> list[str]:
    """List the corpora on which an embedder was tried."""
    tried = {key.dataset for key in groups if key.embedder == embedder}
    return [dataset for dataset in CORPORA if dataset in tried]


def make_pretraining_table(groups: Groups) -> str:
    """Make a table of NER that begins with pretrained weights, and without."""
    header = ("corpus", "embedding", "begins with", "F1 all", "seen", "unseen", "seeds")
    rows = [
        (CORPORA[dataset], *names, *_format_entities(groups[key]))
        for dataset in CORPORA
        for variant, names in PRETRAINED.items()
        if (key := TrialKey(dataset, *variant)) in groups
    ]
    return format_table(header, rows)


def make_text_table(groups: Groups) -> str:
    """Make a table of text classifiers."""
    header = (
        "corpus",
        "model",
        "accuracy",
        "macro F1",
        "seeds",
        "embedding parameters",
        "MB on disk",
    )
    rows = [
        (
            TEXT_CORPORA[dataset],
            f"{name} (`{variant[0]}`)",
            *(format_f1(estimate_score(groups[key], "test", s)) for s in _CATEGORIES),
            str(len(groups[key])),
            f"{groups[key][0].embedding_parameters:,}",
            f"{_find_size(groups[key]):.1f}",
        )
        for dataset in TEXT_CORPORA
        for variant, name in CLASSIFIERS.items()
        if (key := TrialKey(dataset, *variant)) in groups
    ]
    return format_table(header, rows)


_CATEGORIES = ("cats_acc", "cats_macro_f")


def _format_entities(results: Sequence[Result]) -> list[str]:
    f1 = [estimate_score(results, "test", f"{prefix}_f") for prefix in KINDS.values()]
    return [*map(format_f1, f1), str(len(results))]


def count_table_parameters(result: Result) -> int:
    """Count the parameters of the tables, without the layer that mixes them."""
    sizes = json.loads(result.path.read_text(encoding="utf8"))["sizes"]
    mixing = sizes.get("mixing_parameters", MIXING_PARAMETERS)
    return int(sizes["embedding_parameters"]) - int(mixing)


#: Those of the Maxout layer and of the layer normalisation, of width 96 and 4 tables,
#: which older trials do not record.
MIXING_PARAMETERS = 96 * 3 * (4 * 96 + 1) + 2 * 96


def _find_size(results: Sequence[Result]) -> float:
    """Find how many MB the pipelines have on disk, in the mean."""
    return fmean(result.bytes_on_disk for result in results) / 1e6


def draw_sizes(groups: Groups, path: Path = PICTURE) -> None:
    """Draw F1 against the size on disk, a panel for each corpus."""
    groups = {
        key: results
        for key, results in select_task(groups, NER).items()
        if key.embedder in SERIES and key[1:] not in NOT_DRAWN
    }
    datasets = [d for d in CORPORA if sum(key.dataset == d for key in groups) > 2]
    figure = import_figure()(figsize=(4.6 * len(datasets), 4), layout="constrained")
    for panel, dataset in zip(
        figure.subplots(1, len(datasets), squeeze=False)[0], datasets, strict=True
    ):
        _draw_panel(panel, {k: v for k, v in groups.items() if k.dataset == dataset})
        panel.set_title(CORPORA[dataset])
        panel.set_xlabel("Pipeline on disk (MB)")
        panel.grid(visible=True, alpha=0.3)
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    figure.supylabel("F1 on the test set (percent)")
    figure.savefig(path, dpi=150, facecolor="white")


def _draw_panel(panel: Any, groups: Groups) -> None:
    """Draw the trials of one corpus, and the band that spaCy's default is in."""
    for embedder, (name, color, mark) in SERIES.items():
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
        stock = [r for k, r in groups.items() if k[1:] == (HASH, "default")]
        if embedder == HASH and stock:
            score = estimate_score(stock[0], "test", "ents_f")
            assert score is not None
            low, high = (
                100 * (score.mean + sign * (score.deviation or 0)) for sign in (-1, 1)
            )
            panel.axhspan(low, high, color=color, alpha=0.12)


def format_f1(value: Estimate | None) -> str:
    """Format a score in percent with its deviation over the seeds, if it has one."""
    if value is None:
        return NONE
    mean = f"{100 * value.mean:.1f}"
    if value.deviation is None:
        return mean
    return f"{mean} ± {100 * value.deviation:.1f}"


def format_printed(value: Estimate | None) -> str:
    """Format a score of the report, if it prints one: in percent, in italics."""
    if value is None:
        return ""
    deviation = "" if value.deviation is None else f" ± {100 * value.deviation:.0f}"
    return f"*{100 * value.mean:.0f}{deviation}*"


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table as Markdown, if there is a trial to show."""
    if not rows:
        return "Not run yet."
    return to_markdown([header, *rows])


def fill(page: str, tables: Mapping[str, str]) -> str:
    """Put tables between the comments that name them.

    RAISES (ValueError): If the page has no place for one of them.
    """
    for name, table in tables.items():
        pattern = f"(<!-- table: {name} -->\n).*?(<!-- end of table -->)"
        page, n = re.subn(pattern, rf"\1\n{table}\n\n\2", page, flags=re.DOTALL)
        if n != 1:
            raise ValueError(f"'{PAGE}' should have one place for the table '{name}'.")
    return page


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf8")
    tables = make_tables(read_results(FOLDER), read_pairs(), read_misspellings())
    PAGE.write_text(fill(page, tables), encoding="utf8")
    draw_sizes(read_results(FOLDER))
    sys.stdout.write(f"Filled the tables of {PAGE}, and drew {PICTURE}\n")
