"""NER trained with spaCy's default configs, before and after `accelerate`."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from spacy.cli.init_config import init_config
from spacy.cli.train import train
from spacy.util import dot_to_object
from wasabi import msg

from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.changes import ENTITIES
from spacy_hashembeds.kernels.convolution import PRECISIONS, find_instructions
from spacy_hashembeds.loading import load_trained

from .data import ROOT, Corpus, Sizes, load_corpus
from .pipelines import compare_annotations, prepare_pipe
from .timing import Builders, Json, Results, Schedule, time_in_turns

#: The folder of trained pipelines, which later runs reuse.
TRAINED = ROOT / "training" / "benchmarks"
STOCK, ACCELERATED = "stock", "accelerated"
TOK2VEC = "components.tok2vec.model"

#: Values of `--optimize` of `spacy init config`, with titles.
GROUPS = {"efficiency": "Default config", "accuracy": "Accuracy config without vectors"}


def measure_acceleration(corpus: Path, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure stock pipelines before and after acceleration.

    corpus (Path): A folder with train.spacy, dev.spacy and test.spacy. Pipelines are
        timed and compared on test.spacy.
    RAISES (FileNotFoundError): If a split of the corpus is missing.
    """
    for split in ("train", "dev", "test"):
        if not (path := corpus / f"{split}.spacy").is_file():
            raise FileNotFoundError(
                f"There is no '{path}'. Make it with `spacy project assets` and "
                "`python -m lab prepare wnut17 -o corpus/wnut17`, or name another "
                "folder with --corpus."
            )
    test = load_corpus(corpus / "test.spacy")
    timed: Json = {}
    about: Json = {}
    for optimize, title in GROUPS.items():
        model = train_stock(optimize, corpus, sizes.stock_steps)
        tok2vec = dot_to_object(load_trained(model).config.interpolate(), TOK2VEC)
        width, depth = tok2vec["embed"]["width"], tok2vec["encode"]["depth"]
        what = f"{title} (width {width}, depth {depth})"
        about[what], timed[what] = measure_model(model, test, schedule)
    yield {
        "corpus": test.to_json(),
        "steps": sizes.stock_steps,
        "pipelines": about,
        "timings": {"`nlp.pipe`": timed},
    }


def train_stock(optimize: str, corpus: Path, steps: int) -> Path:
    """Train NER with spaCy's default config if necessary, and return its path."""
    output = TRAINED / f"{optimize}-{corpus.name}-{steps}"
    model = output / "model-last"
    if model.is_dir():
        msg.info(f"Using the pipeline in {model}. Remove it to train it again")
        return model
    output.mkdir(parents=True, exist_ok=True)
    config = init_config(
        lang="en", pipeline=["ner"], optimize=optimize, gpu=False, silent=True
    )
    config.to_disk(output / "config.cfg")
    overrides = {
        "paths.train": str(corpus / "train.spacy"),
        "paths.dev": str(corpus / "dev.spacy"),
        # the config for accuracy has vectors of half a gigabyte
        "paths.vectors": None,
        f"{TOK2VEC}.embed.include_static_vectors": False,
        "training.max_steps": steps,
        "training.eval_frequency": steps,
    }
    train(output / "config.cfg", output, overrides=overrides)
    return model


def measure_model(model: Path, test: Corpus, schedule: Schedule) -> tuple[Json, Json]:
    """Accelerate a pipeline in each precision of this processor, and time them."""
    builders: Builders = {STOCK: partial(load_trained, model)}
    changes = {}
    with TemporaryDirectory() as folder:
        for precision in PRECISIONS:
            if precision != "float32" and find_instructions(precision) is None:
                continue
            path = Path(folder) / precision
            # accept all changes: they are in the results
            settings: Json = {"precision": precision, "max_changed": 100, "rounds": 1}
            done = accelerate_folder(model, path, test.docs, **settings)
            suffix = "" if precision == "float32" else f", {precision}"
            name = f"{ACCELERATED}{suffix}"
            builders = {**builders, name: partial(load_trained, path)}
            if precision == "float32":
                exact = done
            if done.changes:
                entities = done.changes.kinds[ENTITIES]
                kinds = {"tokens": done.changes.tokens, "entities": entities}
                changes[name] = {kind: [*of[:2]] for kind, of in kinds.items()}
        timed = time_in_turns(builders, prepare_pipe, [test.docs], schedule)
        found = compare_annotations({STOCK: builders[STOCK]}, test.docs)
    return {
        "entities": found["entities"],
        "texts": exact.texts,
        "tokens": exact.tokens,
        "max_relative_diff": exact.max_relative_diff,
        "changes": changes,
    }, timed
