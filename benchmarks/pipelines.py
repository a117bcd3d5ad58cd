"""Whole pipelines with equal weights, and text classifiers."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from copy import deepcopy
from functools import partial
from typing import Any

from spacy.language import Language
from spacy.pipeline.textcat import DEFAULT_SINGLE_TEXTCAT_MODEL
from spacy.tokens import Doc, Token
from spacy.util import get_lang_class, load_config
from spacy.vocab import Vocab
from thinc.api import fix_random_seed
from wasabi import msg

from lab.trials.configs import CONFIGS
from lab.trials.sizes import count_parameters
from spacy_hashembeds.training.prediction import copy_words

from .data import (
    BATCH_WORDS,
    Corpus,
    Sizes,
    batch_by_docs,
    batch_by_words,
    cut_updates,
    find_short_docs,
    group,
    make_examples,
)
from .layers import OUR_EMBED, ROWS, STOCK_EMBED, WIDTH
from .timing import Builders, Json, Results, Schedule, Tasks, in_numpy, time_tasks

#: Function that builds a pipeline without weights.
Build = Callable[[Vocab], Language]

#: Layers of the encoder, spaCy's default.
DEPTH = 4
SHAPE = {"width": WIDTH, "depth": DEPTH, "rows": ROWS}
#: Short texts in a turn.
SHORT_TEXTS = 20

SPACY, OURS = "spacy", "ours"
OURS_BLAS = "ours + callback"
OURS_ADAM = "ours + callback + Adam"
#: With int8 in prediction.
OURS_INT8 = "ours + callback + Adam, int8"
OURS_NUMPY = "ours + callback + Adam, in numpy"
NAMES = (SPACY, "spacy + callback", OURS, OURS_BLAS, OURS_ADAM, OURS_INT8, OURS_NUMPY)
NUMPY = in_numpy(OURS_NUMPY)


def build_pipeline(name: str, vocab: Vocab) -> Language:
    """Build an implementation: the pipeline of our configs, with spaCy's sizes."""
    config = load_config(CONFIGS / "multi_hash_embed.cfg")
    tok2vec = config["components"]["tok2vec"]["model"]
    is_ours = name.startswith(OURS)
    encode = "spacy-hashembeds.MaxoutWindowEncoder.v1"
    tok2vec["embed"]["@architectures"] = OUR_EMBED if is_ours else STOCK_EMBED
    tok2vec["embed"]["rows"] = ROWS
    tok2vec["encode"] |= {
        "@architectures": encode if is_ours else "spacy.MaxoutWindowEncoder.v2",
        "depth": DEPTH,
    }
    if name == OURS_INT8:
        tok2vec["encode"]["precision"] = "int8"
    if "callback" not in name:
        config["nlp"]["after_pipeline_creation"] = None
    if "Adam" not in name:
        config["training"]["optimizer"]["@optimizers"] = "Adam.v1"
    return get_lang_class(config["nlp"]["lang"]).from_config(config, vocab=vocab)


def train(build: Build, docs: Sequence[Doc], steps: int) -> Language:
    """Train an implementation, on docs with entities if there are any."""
    docs = [doc for doc in docs if doc.ents] or docs
    fix_random_seed(0)
    nlp = build(docs[0].vocab)
    optimizer = nlp.initialize(lambda: make_examples(docs[:500]))
    for batch in batch_by_words(docs, BATCH_WORDS, steps):
        nlp.update(make_examples(batch), sgd=optimizer, drop=0.1)
    return nlp


def copy_weights(build: Build, source: Language) -> Language:
    """Build a pipeline, and copy the labels and weights of another."""
    nlp = build(source.vocab)
    for component in source.pipe_names:
        saved: Any = source.get_pipe(component)
        given: Any = nlp.get_pipe(component)
        given.from_bytes(saved.to_bytes(exclude=["vocab"]), exclude=["vocab"])
    return nlp


def make_copies(
    names: Sequence[str], build: Callable[[str, Vocab], Language], source: Language
) -> Builders:
    """Return functions that make implementations, with the weights of one pipeline."""
    return {name: partial(copy_weights, partial(build, name), source) for name in names}


def prepare_pipe(nlp: Language, docs: Sequence[Doc]) -> Callable[[], object]:
    """Return a function that annotates docs, without tokenization."""
    bare = [copy_words(doc, nlp.vocab) for doc in docs]
    return lambda: [*nlp.pipe(bare)]


def prepare_texts(nlp: Language, docs: Sequence[Doc]) -> Callable[[], object]:
    """Return a function that annotates texts, with a call for each."""
    texts = [doc.text for doc in docs]
    return lambda: [nlp(text) for text in texts]


def prepare_update(nlp: Language, batches: Sequence[list[Doc]]) -> Callable[[], object]:
    """Return a function that trains on batches, with a step for each."""
    examples = [make_examples(batch) for batch in batches]
    dropout = nlp.config["training"]["dropout"]
    # Adam initializes its moments in the first step, which is not timed
    optimizer = nlp.create_optimizer()
    nlp.update(make_examples(batches[0]), sgd=optimizer, drop=dropout)
    return lambda: [nlp.update(b, sgd=optimizer, drop=dropout) for b in examples]


def compare_annotations(builders: Builders, docs: Sequence[Doc]) -> Json:
    """Count the Docs with annotations that differ from the first implementation's."""
    found, entities = {}, []
    for name, make in builders.items():
        with NUMPY.get(name, nullcontext)():
            nlp = make()
            made = [*nlp.pipe(copy_words(doc, nlp.vocab) for doc in docs)]
        found[name] = [[_read_annotation(token) for token in doc] for doc in made]
        entities.append(sum(len(doc.ents) for doc in made))
    stock = next(iter(found.values()))
    if entities[0] == 0:
        msg.warn("No pipeline finds entities, so the comparison is empty.")
    return {
        "entities": entities[0],
        "docs_that_differ": {
            name: sum(a != b for a, b in zip(annotations, stock, strict=True))
            for name, annotations in found.items()
        },
    }


def _read_annotation(token: Token) -> tuple:
    entity = token.ent_iob_, token.ent_type_
    return (*entity, token.tag_, token.head.i, token.dep_, token.lemma_)


def make_tasks(
    names: Sequence[str], docs: Sequence[Doc], schedule: Schedule, sizes: Sizes
) -> tuple[Builders, dict[str, Any]]:
    """Make implementations with equal weights, and samples of docs for each task."""
    source = train(partial(build_pipeline, SPACY), docs, sizes.steps)
    builders = make_copies(names, build_pipeline, source)
    pipe = batch_by_docs(docs, sizes.docs, schedule.rounds)
    update = cut_updates(docs, sizes.updates, schedule.rounds)
    return builders, {
        "`nlp.pipe`": (builders, prepare_pipe, pipe),
        "`nlp.update`": (builders, prepare_update, update),
    }


def measure_pipelines(text: Corpus, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure pipelines with our embedder and encoder, and with spaCy's."""
    builders, made = make_tasks(NAMES, text.docs, schedule, sizes)
    short_docs = find_short_docs(text.docs, SHORT_TEXTS * schedule.rounds)
    short = batch_by_docs(short_docs, SHORT_TEXTS, schedule.rounds)
    tasks: Tasks = {
        **{what.strip("`"): task for what, task in made.items()},
        "nlp(text), one short text": (builders, prepare_texts, short),
    }
    yield {
        **SHAPE,
        "agreement": compare_annotations(builders, text.docs[: sizes.docs]),
        "timings": {"one thread": time_tasks(tasks, schedule, contexts=NUMPY)},
    }


ENSEMBLE, LARGE = "TextCatEnsemble", "HashNgramTextCat, large"
#: The config of each classifier. spaCy's default model replaces that of TextCatReduce.
CLASSIFIERS = {
    ENSEMBLE: "textcat_reduce",
    "TextCatReduce": "textcat_reduce",
    "TextCatBOW": "textcat_bow",
    "HashNgramTextCat": "hash_ngram_textcat",
    LARGE: "hash_ngram_textcat",
}


def build_classifier(name: str, vocab: Vocab) -> Language:
    """Build a pipeline with a text classifier, without labels and weights."""
    config = load_config(CONFIGS / f"{CLASSIFIERS[name]}.cfg")
    component = config["components"]["textcat"]
    if name == ENSEMBLE:
        component["model"] = deepcopy(DEFAULT_SINGLE_TEXTCAT_MODEL)
    if name == LARGE:  # ten times the size of our config
        component["model"]["importance_rows"] = 1_000_000
    return get_lang_class(config["nlp"]["lang"]).from_config(config, vocab=vocab)


def measure_classifiers(text: Corpus, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure our text classifier and spaCy's."""
    builders: Builders = {}
    models: dict[str, Any] = {}
    for name in CLASSIFIERS:
        source = train(partial(build_classifier, name), text.docs, 0)
        models[name] = source.get_pipe("textcat")
        builders = {**builders, **make_copies([name], build_classifier, source)}
    pipe = batch_by_docs(text.docs, sizes.docs, schedule.rounds)
    tasks: dict[str, Any] = {"nlp.pipe": (builders, prepare_pipe, pipe)}
    for size in sizes.texts:
        n_steps = max(1, sizes.texts_trained // size)
        steps = batch_by_docs(text.docs, size, n_steps * schedule.rounds)
        samples = group(steps, n_steps)
        tasks[f"nlp.update, {size} texts"] = (builders, prepare_update, samples)
    yield {
        "parameters": {
            name: count_parameters([pipe.model]) for name, pipe in models.items()
        },
        "timings": {"one thread": time_tasks(tasks, schedule)},
    }
