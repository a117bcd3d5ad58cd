"""NER that spaCy's own configs train, before and after `accelerate`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from spacy.cli.init_config import init_config
from spacy.cli.train import train
from spacy.language import Language
from spacy.util import dot_to_object
from wasabi import msg

from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.blas import use_fastest_blas
from spacy_hashembeds.acceleration.changes import ENTITIES
from spacy_hashembeds.kernels.convolution import PRECISIONS, find_instructions
from spacy_hashembeds.loading import load_trained

from .data import ROOT, Corpus, Sizes, load_corpus
from .pipelines import compare_annotations, prepare_calls, prepare_pipe
from .timing import Json, Results, Schedule, Ways, time_ways

#: Where trained pipelines are kept for the next time.
TRAINED = ROOT / "training" / "benchmarks"
#: How many texts are annotated one by one.
SAMPLE = 200

STOCK, CALLBACK, ACCELERATED = "stock", "fastest BLAS alone", "accelerated"
TOK2VEC = "components.tok2vec.model"

#: What `spacy init config` optimizes for.
GROUPS = {"efficiency": "Default config", "accuracy": "Accuracy config without vectors"}


def measure_acceleration(corpus: Path, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure stock pipelines as they are, with the callback alone, and accelerated.

    corpus (Path): A folder with train.spacy, dev.spacy and test.spacy. The pipelines
        are trained on the first, and timed and checked on all of the last.
    RAISES (FileNotFoundError): If a split of the corpus is missing.
    RAISES (ValueError): If an accelerated pipeline does not predict as before.
    """
    for split in ("train", "dev", "test"):
        if not (path := corpus / f"{split}.spacy").is_file():
            raise FileNotFoundError(
                f"There is no '{path}'. Make it with `spacy project assets` and "
                "`python -m lab prepare wnut17 -o corpus/wnut17`, or name another "
                "folder with --corpus."
            )
    test = load_corpus(corpus / "test.spacy")
    timings: Json = {"`nlp.pipe`": {}, "a text a call": {}}
    about = {}
    for optimize, title in GROUPS.items():
        model = train_stock(optimize, corpus, sizes.stock_steps)
        tok2vec = dot_to_object(load_trained(model).config.interpolate(), TOK2VEC)
        width, depth = tok2vec["embed"]["width"], tok2vec["encode"]["depth"]
        what = f"{title} (width {width}, depth {depth})"
        about[what], timed = measure_model(model, test, schedule)
        for section, rows in timings.items():
            rows[what] = timed[section]
    yield {
        "corpus": test.to_json(),
        "steps": sizes.stock_steps,
        "pipelines": about,
        "timings": timings,
    }


def train_stock(optimize: str, corpus: Path, steps: int) -> Path:
    """Train the NER of spaCy's own config, as `spacy train` does, unless it is there.

    RETURNS (Path): The folder of the pipeline.
    """
    output = TRAINED / f"{optimize}-{corpus.name}-{steps}"
    model = output / "model-last"
    if model.is_dir():
        msg.info(f"Using the pipeline in {model}: remove it to train it anew")
        return model
    output.mkdir(parents=True, exist_ok=True)
    config = init_config(
        lang="en", pipeline=["ner"], optimize=optimize, gpu=False, silent=True
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


def measure_model(model: Path, test: Corpus, schedule: Schedule) -> tuple[Json, Json]:
    """Accelerate a pipeline in each precision of this processor, and say what that
    changes; and time it before and after.
    """
    makes: dict[str, Callable[[], Language]] = {
        STOCK: partial(load_trained, model),
        CALLBACK: lambda: with_blas(load_trained(model)),
    }
    changes = {}
    with TemporaryDirectory() as folder:
        for precision in filter(is_fast, PRECISIONS):
            # how much is changed is in the results
            settings: Json = {"precision": precision, "max_changed": 100, "rounds": 1}
            path = Path(folder) / precision
            done = accelerate_folder(model, path, test.docs, **settings)
            suffix = "" if precision == "float32" else f", {precision}"
            name = f"{ACCELERATED}{suffix}"
            makes[name] = partial(load_trained, path)
            if name == ACCELERATED:
                exact = done
            if done.changes:
                entities = done.changes.kinds[ENTITIES]
                kinds = {"tokens": done.changes.tokens, "entities": entities}
                changes[name] = {kind: [*of[:2]] for kind, of in kinds.items()}
        ways: Ways = {
            "`nlp.pipe`": (makes, prepare_pipe, [test.docs]),
            "a text a call": (makes, prepare_calls, [test.docs[:SAMPLE]]),
        }
        timed = time_ways(ways, schedule)
        found = compare_annotations({STOCK: makes[STOCK]}, test.docs)
    return {
        "entities": found["entities"],
        "texts": exact.texts,
        "tokens": exact.tokens,
        "max_relative_diff": exact.max_relative_diff,
        "changes": changes,
    }, timed


def is_fast(precision: str) -> bool:
    """Say if this processor has instructions for products of a precision."""
    return precision == "float32" or find_instructions(precision) is not None


def with_blas(nlp: Language) -> Language:
    """Have a pipeline multiply by the fastest library."""
    use_fastest_blas(nlp)
    return nlp
