"""What `spacy hashembeds accelerate` makes of the NER that spaCy's own configs train.

Run as `python -m benchmarks.accelerate` from the checkout.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer
from spacy.cli.init_config import init_config
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import dot_to_object
from wasabi import msg

from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.blas import use_fastest_blas
from spacy_hashembeds.acceleration.changes import ENTITIES
from spacy_hashembeds.acceleration.machine import Spread
from spacy_hashembeds.kernels.quantized import PRECISIONS, find_instructions
from spacy_hashembeds.loading import load_trained

from ._charts import describe, describe_sizes, draw_accelerate
from ._command import run_benchmark
from ._data import RESULTS, ROOT, Corpus, count_words, load_corpus
from ._machine import use_one_thread
from ._pipelines import annotate, strip
from ._tables import make_accelerate_table
from ._timing import (
    Contender,
    Maker,
    Schedule,
    Work,
    get_ratios,
    get_spread,
    time_in_turns,
)

CORPUS = ROOT / "corpus" / "wnut17"
#: Where trained pipelines are kept for the next time.
TRAINED = ROOT / "training" / "benchmarks"
STEPS = 600
#: How many texts are annotated one by one.
SAMPLE = 200

STOCK = "stock"
CALLBACK = "fastest BLAS alone"
ACCELERATED = "accelerated"

TOK2VEC = "components.tok2vec.model"


@dataclass(frozen=True)
class Group:
    """One of the configs that `spacy init config` writes.

    title (str): What to call it.
    optimize (str): What it is optimized for.
    """

    title: str
    optimize: str


GROUPS = (
    Group("Default config", "efficiency"),
    Group("Accuracy config without vectors", "accuracy"),
)


def measure_acceleration(
    corpus: Path,
    trained: Path,
    schedule: Schedule,
    *,
    groups: Sequence[Group] = GROUPS,
    steps: int = STEPS,
) -> dict[str, Any]:
    """Measure stock pipelines as they are, with the callback alone, and accelerated.

    corpus (Path): A folder with train.spacy, dev.spacy and test.spacy. The pipelines
        are trained on the first, and timed and checked on all of the last.
    trained (Path): The folder of the stock pipelines. What is there is not trained.
    groups (Sequence[Group]): The configs to train.
    steps (int): How long to train each.
    RAISES (FileNotFoundError): If a split of the corpus is missing.
    RAISES (ValueError): If an accelerated pipeline does not predict as before.
    RETURNS (dict[str, Any]): The results, as JSON data.
    """
    check_splits(corpus)
    test = load_corpus(corpus / "test.spacy")
    models = [train_stock(group, corpus, trained, steps) for group in groups]
    return {
        "corpus": test.to_json(),
        "steps": steps,
        "blocks": schedule.blocks,
        "rounds": schedule.rounds,
        "groups": [
            measure_group(group, model, test, schedule)
            for group, model in zip(groups, models, strict=True)
        ],
    }


def check_splits(corpus: Path) -> None:
    """Refuse a folder that is no prepared corpus.

    RAISES (FileNotFoundError): If a split is missing.
    """
    for split in ("train", "dev", "test"):
        path = corpus / f"{split}.spacy"
        if not path.is_file():
            raise FileNotFoundError(
                f"There is no '{path}'. Make it with `spacy project assets` and "
                "`python -m lab prepare wnut17 -o corpus/wnut17`, or name another "
                "folder with --corpus."
            )


def train_stock(group: Group, corpus: Path, trained: Path, steps: int) -> Path:
    """Train the NER of spaCy's own config, as `spacy train` does, unless it is there.

    RETURNS (Path): The folder of the pipeline.
    """
    output = trained / f"{group.optimize}-{corpus.name}-{steps}"
    model = output / "model-last"
    if model.is_dir():
        msg.info(f"Using the pipeline in {model}: remove it to train it anew")
        return model
    output.mkdir(parents=True, exist_ok=True)
    config = init_config(
        lang="en", pipeline=["ner"], optimize=group.optimize, gpu=False, silent=True
    )
    config.to_disk(output / "config.cfg")
    overrides = {
        "paths.train": str(corpus / "train.spacy"),
        "paths.dev": str(corpus / "dev.spacy"),
        # That for accuracy names vectors that are a download of half a gigabyte.
        "paths.vectors": None,
        f"{TOK2VEC}.embed.include_static_vectors": False,
        "training.max_steps": steps,
        "training.eval_frequency": steps,
    }
    train(output / "config.cfg", output, overrides=overrides)
    return model


def measure_group(
    group: Group, model: Path, test: Corpus, schedule: Schedule
) -> dict[str, Any]:
    """Accelerate a pipeline, and time it before and after."""
    msg.text(f"accelerating and timing: {group.title}")
    sample = test.docs[:SAMPLE]
    precisions = list(filter(is_fast, PRECISIONS))
    with TemporaryDirectory() as folder:
        done = {
            name_accelerated(precision): accelerate_folder(
                model,
                Path(folder) / name_accelerated(precision),
                test.docs,
                precision=precision,
                max_changed=100,  # it is in the results
                rounds=1,
            )
            for precision in precisions
        }
        timings, calls = (
            time_in_turns(
                {
                    STOCK: make_maker(model, ready),
                    CALLBACK: make_maker(model, ready, use_fastest_blas),
                    **{name: make_maker(Path(folder) / name, ready) for name in done},
                },
                Work([docs], count_words),
                schedule,
            )
            for ready, docs in ((prepare, test.docs), (prepare_calls, sample))
        )
    return {
        "title": group.title,
        "optimize": group.optimize,
        **describe_pipeline(load_trained(model), test.docs),
        "texts": done[ACCELERATED].texts,
        "tokens": done[ACCELERATED].tokens,
        "max_relative_diff": done[ACCELERATED].max_relative_diff,
        "changes": {
            name: {
                "tokens": list(one.changes.tokens),
                "entities": list(one.changes.kinds[ENTITIES][:2]),
            }
            for name, one in done.items()
            if one.changes
        },
        "contenders": {name: timing.to_json() for name, timing in timings.items()},
        "times_as_fast_as_stock": get_ratios(timings, STOCK),
        "one_by_one": {
            "texts": len(sample),
            "contenders": {name: timing.to_json() for name, timing in calls.items()},
            "times_as_fast_as_stock": get_ratios(calls, STOCK),
        },
    }


def is_fast(precision: str) -> bool:
    """Say if this processor has instructions for products of a precision."""
    return precision == "float32" or find_instructions(precision) is not None


def name_accelerated(precision: str) -> str:
    """Name what is accelerated by its precision, where that is not as before."""
    return ACCELERATED if precision == "float32" else f"{ACCELERATED}, {precision}"


def make_maker(
    model: Path,
    ready: Callable[[Language, Sequence[Doc]], Callable[[], None]],
    change: Callable[[Language], object] = lambda nlp: None,
) -> Maker[Sequence[Doc]]:
    """Make what loads a pipeline, and changes it, to annotate docs."""

    def make() -> Contender[Sequence[Doc]]:
        nlp = load_trained(model)
        change(nlp)
        return lambda docs: ready(nlp, docs)

    return make


def prepare(nlp: Language, docs: Sequence[Doc]) -> Callable[[], None]:
    """Get ready to annotate docs with `nlp.pipe`: no tokenizer is timed."""
    bare = [strip(doc, nlp.vocab) for doc in docs]
    return lambda: annotate(nlp, bare)


def prepare_calls(nlp: Language, docs: Sequence[Doc]) -> Callable[[], None]:
    """Get ready to annotate docs one by one, as who serves single requests does."""
    bare = [strip(doc, nlp.vocab) for doc in docs]

    def call() -> None:
        for doc in bare:
            nlp(doc)

    return call


def describe_pipeline(nlp: Language, docs: Sequence[Doc]) -> dict[str, Any]:
    """Say how large a pipeline is, and how many entities it finds."""
    tok2vec = dot_to_object(nlp.config.interpolate(), TOK2VEC)
    bare = [strip(doc, nlp.vocab) for doc in docs]
    annotate(nlp, bare)
    return {
        "width": tok2vec["embed"]["width"],
        "depth": tok2vec["encode"]["depth"],
        "rows": tok2vec["embed"]["rows"],
        "entities": sum(len(doc.ents) for doc in bare),
    }


def find_baselines(results: Mapping[str, Any]) -> dict[str, Spread]:
    """Find the times of the stock pipelines."""
    return {
        f"{STOCK} ({describe_sizes(group)})": get_spread(group["contenders"][STOCK])
        for group in results["groups"]
    }


def print_results(results: Mapping[str, Any]) -> None:
    """Print a table for a page of Markdown."""
    typer.echo(f"\n{make_accelerate_table(results)}\n\n{describe(results)}\n")


def main(
    corpus: Path = CORPUS,
    trained: Path = TRAINED,
    output: Path = RESULTS / "accelerate.json",
    blocks: int = 5,
    rounds: int = 3,
) -> None:
    """Time stock pipelines before and after `accelerate`, on one thread."""
    run_benchmark(
        lambda: measure_acceleration(corpus, trained, Schedule(blocks, rounds)),
        find_baselines,
        draw_accelerate,
        print_results,
        output,
    )


if __name__ == "__main__":
    use_one_thread()
    typer.run(main)
