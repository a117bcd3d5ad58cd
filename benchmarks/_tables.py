"""Tables of Markdown of the benchmarks' results, for docs/speed.md."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ._charts import describe, describe_sizes, find_timings
from ._embedders import MULTI_EMBED, OURS, OURS_NUMPY, SPACY, SPACY_BLAS, TORCH
from ._timing import THREADS
from ._weighted_embedders import FEWER, HYBRID, WEIGHTED, WEIGHTED_SYMBOLS

_EMBEDDERS = {
    SPACY: "spaCy, 4 hashes",
    SPACY_BLAS: "spaCy on numpy's BLAS",
    TORCH[4]: "PyTorch, 4 hashes",
    OURS[4]: "ours, 4 hashes",
    OURS_NUMPY: "the same in numpy",
    OURS[1]: "ours, 1 hash",
    MULTI_EMBED: "ours, lookup",
}

_WEIGHTED = {
    FEWER: "`MultiFewerHashEmbed`",
    WEIGHTED: "`MultiWeightedHashEmbed`, hashed",
    WEIGHTED_SYMBOLS: "`MultiWeightedHashEmbed`, by symbols",
    HYBRID: "`MultiHybridEmbed`",
}

Json = Mapping[str, Any]


def make_accelerate_table(results: Json) -> str:
    """Make a table of pipelines before and after, a row for each."""
    groups = results["groups"]
    header = ["words a second (quartiles)", *map(_describe_group, groups)]
    rows = [
        [f"{name}, {kind}", *(_format_group(part, name) for part in parts)]
        for kind, parts in (
            ("`nlp.pipe`", groups),
            ("a text a call", [group["one_by_one"] for group in groups]),
        )
        for name in groups[0]["contenders"]
    ]
    return make_table(header, rows)


def make_published_table(results: Json) -> str:
    """Make tables of published pipelines: speed, what is changed, and components."""
    rows, changed, components = [], [], []
    for each in results["pipelines"]:
        for name in each["pipe"]["contenders"]:
            speeds = (
                format_ratio(each[kind], name, "times_as_fast_as_stock")
                for kind in ("pipe", "call")
            )
            load, memory = each["load_seconds"][name], each["memory_mib"][name]
            label = f"{each['name']}, {name}"
            rows.append([label, *speeds, f"{load:.1f}", f"{memory:.0f}"])
        for name, of in each["accelerated"].items():
            kinds = of["kinds"].items()
            shares = [f"{kind} {100 * n / all_:.2g}" for kind, (n, all_, _) in kinds]
            tokens = f"{of['changed']} of {of['tokens']:,}"
            changed.append([f"{each['name']}, {name}", tokens, ", ".join(shares)])
        components.append([each["name"], *_format_components(each["accelerated"])])
    speed = ["words a second (quartiles)", "`nlp.pipe`", "`nlp(text)`"]
    tables = (
        make_table([*speed, "s to load", "MiB"], rows),
        make_table(["", "changed tokens", "percent by kind"], changed),
        make_table(["µs a word by component: stock, float32, auto", ""], components),
    )
    return "\n\n".join(tables)


def _format_components(accelerated: Json) -> list[str]:
    """Format what each component takes: before, in float32, and as chosen."""
    exact, auto = (of["components"] for of in accelerated.values())
    precisions = [*accelerated.values()][-1]["precisions"]
    found = []
    for name, before in exact["before"].items():
        times = (before, exact["after"][name], auto["after"][name])
        chosen = f" ({precisions[name]})" if name in precisions else ""
        found.append(f"{name} {' '.join(f'{us:.1f}' for us in times)}{chosen}")
    return ["; ".join(found)]


def make_embedding_tables(results: Json) -> str:
    """Make tables of prediction, of training, and of prediction on several threads."""
    names = list(_EMBEDDERS.values())
    tables = _make_layer_tables(results, names, _format_embedders)
    return tables + _make_threads_table(results)


def make_weights_tables(results: Json) -> str:
    """Make the same of embedders with weights."""
    return _make_layer_tables(results, list(_WEIGHTED.values()), _format_weighted)


def _make_layer_tables(
    results: Json, names: Sequence[str], format_row: Callable[[Json], list[str]]
) -> str:
    forward = [
        [f"{row['docs_per_call']:,} of {_count_words(row)}", *format_row(row)]
        for row in results["predict"]
    ]
    both = [
        [f"{row['words_per_call']:,.0f}, {row['dropout']:g}", *format_row(row)]
        for row in results["train"]
    ]
    return "\n\n".join(
        [
            make_table(["forward: Docs a call", *names], forward),
            make_table(["forward and backward: words, dropout", *names], both),
        ]
    )


def make_pipeline_table(results: Json) -> str:
    """Make a table of whole pipelines, and one of them on several threads."""
    timings = find_timings(results)
    rows = [
        [name, *_format_ratios(timings, name, "times_as_fast_as_spacy")]
        for name in results["pipe"]["contenders"]
    ]
    table = make_table(["words a second (quartiles)", *timings], rows)
    return table + _make_threads_table(results)


def _make_threads_table(results: Json) -> str:
    if "threads" not in results:  # older ones
        return ""
    rows = [
        [
            f"{what}, {_EMBEDDERS.get(name, name)}",
            *(
                format_ratio(timed, n, "times_as_fast_as_1")
                for n in timed["contenders"]
            ),
        ]
        for what, contenders in results["threads"].items()
        for name, timed in contenders.items()
    ]
    header = ["words a second (quartiles)", *(f"threads: {n}" for n in THREADS)]
    return f"\n\n{make_table(header, rows)}"


def make_profile_table(results: Json) -> str:
    """Make a table of where the time of pipelines goes, in microseconds a word."""
    stages = ("embed", "encode", "ner", "optimizer", "ner and rest")
    rows = []
    for name, kinds in results["profile"].items():
        for kind, profile in kinds.items():
            us = profile["us_per_word"]
            cells = [f"{us[stage]:.1f}" if stage in us else "" for stage in stages]
            rows.append([f"{name}, `nlp.{kind}`", *cells])
    return make_table(["microseconds a word", *stages], rows)


def make_recognizers_table(results: Json) -> str:
    """Make a table of NER components on one tok2vec, predicting and in training."""
    timings = results["timings"]
    rows = make_rows(results["entities"], timings, "times_as_fast_as_ner")
    header = ["words a second (quartiles)", "entities found"]
    return make_table([*header, *(f"`{what}`" for what in timings)], rows)


def make_kernels_table(results: Json) -> str:
    """Make a table of pieces, in numpy and compiled."""
    rows = [
        [
            piece,
            *map(_format_us, timed["contenders"].values()),
            f"**{timed['times_as_fast_as_numpy']['compiled']:.1f}x**",
        ]
        for piece, timed in results["timings"].items()
    ]
    header = f"microseconds a row of {results['width']} (quartiles)"
    return make_table([header, "numpy", "compiled", "times as fast"], rows)


def make_encoders_table(results: Json) -> str:
    """Make a table of LSTM encoders, predicting and in training."""
    timings = results["timings"]
    rows = make_rows(results["parameters"], timings, "times_as_fast_as_spacy")
    return make_table(["words a second (quartiles)", "parameters", *timings], rows)


def make_rows(counts: Json, timings: Json, ratios: str) -> list[list[str]]:
    """Make a row for each contender: what is counted of it, and its speeds."""
    return [
        [name, f"{count:,}", *_format_ratios(timings, name, ratios)]
        for name, count in counts.items()
    ]


def _format_ratios(timings: Json, name: str, ratios: str) -> list[str]:
    return [format_ratio(timed, name, ratios) for timed in timings.values()]


def make_growth_tables(results: Json) -> str:
    """Make tables of time, of memory that grows, and of tables that are shared."""
    layers = results["time"]["points"]
    time = [
        [f"{points[0]['words']:,}", *map(_format_us, points)]
        for points in zip(*layers.values(), strict=True)
    ]
    memory = [
        [way, f"{points[-1][0]:,.0f}", f"{points[-1][1] - points[0][1]:+.1f}"]
        for way, points in results["memory"]["rss_mib"].items()
    ]
    kept = [
        [_EMBEDDERS[name], *(f"{mib:.1f}" for mib in sizes.values())]
        for name, sizes in results["memory"]["tables"].items()
    ]
    kinds = next(iter(results["memory"]["tables"].values()))
    names = [name.removesuffix("_mib").replace("_", " ") for name in kinds]
    layer_names = [f"{_EMBEDDERS[name]}, µs a word" for name in layers]
    return "\n\n".join(
        [
            make_table(["words seen", *layer_names], time),
            make_table(["", "distinct words", "MiB more"], memory),
            make_table(["layer, MiB", *names], kept),
            _make_sharing_table(results["sharing"]),
        ]
    )


def make_gpu_table(results: Json) -> str:
    """Make a table of embedders and pipelines on a GPU, a row for each."""
    pipelines = results["pipelines"]
    timed = {
        f"embedder, {what}, {row['tokens']:,} words": row[kind]
        for kind, what in (("predict", "prediction"), ("train", "forward and backward"))
        for row in results["embedders"]
    }
    timed |= {"`nlp.pipe`": pipelines["pipe"], "`nlp.update`": pipelines["update"]}
    rows = []
    for what, found in timed.items():
        first, fastest = (list(found["contenders"])[i] for i in (0, 1))
        speeds = (format_words_per_second(found["contenders"][first]),)
        rows.append([what, *speeds, format_ratio(found, fastest, "times_as_fast")])
    order = pipelines["update"]["contenders"]
    fixed, atomic = (order[f"ours, {name}"] for name in ("fixed order", "atomic"))
    percent = 100 * (fixed["us_per_word"] / atomic["us_per_word"] - 1)
    device, corpus = results["device"], results["corpus"]
    differ = pipelines["agreement"]["docs_that_differ"]["ours"]
    return (
        make_table(["words a second (quartiles)", "spaCy", "ours"], rows)
        + f"\n\n{corpus['name']}, {device['name']}, CuPy {device['cupy']}, host "
        f"{results['machine']['cpu']}. A fixed order of additions costs {percent:.1f} "
        f"percent of `nlp.update`; {differ} Docs differ."
    )


def make_caption(results: Json) -> str:
    """Say what was measured on, and what spoke against it."""
    sizes = ""
    if "rows" in results:
        sizes = f" Rows {'/'.join(map(str, results['rows']))}."
    troubles: list[str] = results["disturbances"]
    more = f" ({len(troubles) - 1} more)" if len(troubles) > 1 else ""
    trouble = f"\n**Disturbed:** {troubles[0]}{more}" if troubles else ""
    return f"{describe(results)}.{sizes}{trouble}"


def make_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table whose first column is text, and all others are numbers."""
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def format_words_per_second(timing: Json) -> str:
    """Format a speed and its quartiles."""
    upper, lower = (1e6 / us for us in timing["us_per_word_quartiles"])
    return f"{timing['words_per_second']:,.0f} ({lower:,.0f}..{upper:,.0f})"


def _describe_group(group: Json) -> str:
    return f"{group['title']} ({describe_sizes(group)})"


def _format_group(group: Json, name: str) -> str:
    return format_ratio(group, name, "times_as_fast_as_stock")


def format_ratio(timed: Json, name: str, ratios: str) -> str:
    """Format a speed, and how many times that is another's."""
    speed = format_words_per_second(timed["contenders"][name])
    return f"{speed}, **{timed[ratios][name]:.2f}x**"


def _format_embedders(row: Json) -> list[str]:
    return [_format_embedder(row, name) for name in _EMBEDDERS]


def _format_embedder(row: Json, name: str) -> str:
    timing = row["contenders"][name]
    if timing is None:  # torch is not installed everywhere
        return ""
    ratio = row["times_as_fast_as_spacy"][name]
    return f"{_format_us(timing)}, **{ratio:.1f}x**"


def _format_weighted(row: Json) -> list[str]:
    ratios = row["times_as_long_as_fewer"]
    return [
        f"{_format_us(row['contenders'][name])}, **{ratios[name]:.2f}x**"
        for name in _WEIGHTED
    ]


def _format_us(timing: Json) -> str:
    text = f"{timing['us_per_word']:.2f}"
    if timing["us_per_word_quartiles"]:
        lower, upper = timing["us_per_word_quartiles"]
        text += f" ({lower:.2f}..{upper:.2f})"
    return text


def _count_words(row: Json) -> str:
    return f"{row['words_per_call']:,.0f} words"


def _make_sharing_table(sharing: Json) -> str:
    ways = {"no tables": sharing["no_tables"], **sharing["ways"]}
    rows = [
        [" ".join(way.split()), *_format_worker(memory)] for way, memory in ways.items()
    ]
    title = (
        f"{sharing['workers']} workers, tables of {sharing['tables_mib']:.0f} MiB; "
        "MiB a worker"
    )
    return make_table([title, "with its share (PSS)", "its own (USS)"], rows)


def _format_worker(memory: Json) -> list[str]:
    if not memory["works"]:
        return ["fails", ""]
    return [f"{memory[kind]:.0f}" for kind in ("pss_mib", "uss_mib")]
