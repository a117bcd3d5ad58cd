"""What embedding each distinct token once could save on a GPU. Imports no spaCy."""

from functools import partial
from typing import cast

import numpy
from thinc.api import LayerNorm, Maxout, Model
from wasabi import msg

from spacy_hashembeds.kernels.rows import Array
from spacy_hashembeds.layers.mixing import gpumixedembed
from spacy_hashembeds.layers.mixing.column import Column, Mixer, find_column

from ._gpu_data import draw_samples, draw_text_keys
from ._gpu_device import Device
from ._gpu_measure import CLOCKS, Json, Sizes, time_both_ways
from ._gpu_tables import OURS, Embedder, make_embedder, make_steps, make_thinc
from ._timing import Contender, Schedule

ALL = "all_tokens"
DISTINCT = "distinct_tokens"

#: The keys of all tokens of a batch, and of its distinct tokens.
Sample = dict[str, Array]


def measure_distinct(device: Device, sizes: Sizes, schedule: Schedule) -> list[Json]:
    """Measure what embedding each distinct token of a batch once could save at most.

    It is an upper bound: neither finding the distinct tokens nor sharing out their rows
    and gathering their gradients is in the times.

    RETURNS (list[Json]): For each number of tokens, the times of the tables alone, of
        the tables with Maxout and layer normalisation, and of prediction.
    """
    results = []
    for n_tokens in sizes.tokens:
        msg.text(f"distinct tokens of {n_tokens}")
        drawn = draw_samples(draw_text_keys, n_tokens, sizes.samples)
        distinct = [numpy.unique(keys, axis=0) for keys in drawn]
        samples = [
            {ALL: device.array(keys), DISTINCT: device.array(values)}
            for keys, values in zip(drawn, distinct, strict=True)
        ]
        times = {
            name: _time(device, embedder, samples, schedule, is_train=is_train)
            for name, (embedder, is_train) in make_embedders(device, sizes).items()
        }
        n_distinct = sum(map(len, distinct)) / len(distinct)
        results.append({"tokens": n_tokens, "distinct_tokens": n_distinct, **times})
    return results


def make_embedders(device: Device, sizes: Sizes) -> dict[str, tuple[Embedder, bool]]:
    """Make our tables alone and with what follows them; and say which ones train."""
    ours = make_embedder(OURS, device, make_thinc(sizes))
    maxout: Model = Maxout(sizes.width, ours.width, nP=sizes.pieces)
    layernorm: Model = LayerNorm(sizes.width)
    for layer in (maxout, layernorm):
        layer.initialize()
    mixers = device.move(maxout), device.move(layernorm)
    columns = [cast(Column, find_column(table)) for table in ours.tables]
    mixer = Mixer(columns, *mixers, dropout=None)

    embed = partial(gpumixedembed.forward, mixer)
    mixed = Embedder(embed, sizes.width, ours.tables)
    return {
        "tables_train": (ours, True),
        "embedder_train": (mixed, True),
        "embedder_predict": (mixed, False),
    }


def _time(
    device: Device,
    embedder: Embedder,
    samples: list[Sample],
    schedule: Schedule,
    *,
    is_train: bool,
) -> Json:
    steps = make_steps(device, embedder, is_train=is_train)

    def make(which: str) -> Contender[Sample]:
        return lambda sample: steps(sample[which])

    makers = {which: partial(make, which) for which in (ALL, DISTINCT)}
    times = time_both_ways(device, makers, samples, schedule)
    return {
        **times,
        "upper_bound_of_saving_percent": {
            clock: _get_saving(times[ALL][clock], times[DISTINCT][clock])
            for clock in CLOCKS
        },
    }


def _get_saving(whole: Json | None, distinct: Json | None) -> float | None:
    return 100 * (1 - distinct["ms"] / whole["ms"]) if whole and distinct else None
