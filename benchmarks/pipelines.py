"""Whole pipelines, NER components and text classifiers, with equal weights."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from functools import partial
from itertools import product
from typing import Any

from spacy.language import Language
from spacy.pipeline.textcat import DEFAULT_SINGLE_TEXTCAT_MODEL
from spacy.tokens import Doc, Token
from spacy.util import get_lang_class, load_config
from spacy.vocab import Vocab
from thinc.api import Model, fix_random_seed
from wasabi import msg

from lab.trials.configs import CONFIGS
from spacy_hashembeds.annotation import copy_words

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
from .layers import OUR_EMBED, ROWS, STOCK_EMBED, WIDTH, count_parameters
from .stages import annotate_in_stages, profile, update_in_stages
from .timing import (
    THREADED,
    Json,
    Makes,
    Results,
    Schedule,
    Ways,
    in_numpy,
    time_on_threads,
    time_ways,
)

#: Builds a pipeline without weights.
Build = Callable[[Vocab], Language]

#: Layers of the encoder: spaCy's default.
DEPTH = 4
SHAPE = {"width": WIDTH, "depth": DEPTH, "rows": ROWS}
#: Short texts that each contender is given in a turn.
SHORT_TEXTS = 20

SPACY, OURS = "spacy", "ours"
OURS_BLAS = "ours + callback"
OURS_ADAM = "ours + callback + Adam"
#: With products of int8 in prediction, and of bfloat16 in training.
OURS_INT8 = "ours + callback + Adam, int8"
OURS_NUMPY = "ours + callback + Adam, in numpy"
NAMES = (SPACY, "spacy + callback", OURS, OURS_BLAS, OURS_ADAM, OURS_INT8, OURS_NUMPY)
NUMPY = in_numpy(OURS_NUMPY)


def build_pipeline(name: str, vocab: Vocab) -> Language:
    """Build a contender: the pipeline of our configs, but of spaCy's sizes."""
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
        tok2vec["encode"] |= {"precision": "int8", "training_precision": "bfloat16"}
    if "callback" not in name:
        config["nlp"]["after_pipeline_creation"] = None
    if "Adam" not in name:
        config["training"]["optimizer"]["@optimizers"] = "Adam.v1"
    return get_lang_class(config["nlp"]["lang"]).from_config(config, vocab=vocab)


def train(build: Build, docs: Sequence[Doc], steps: int) -> Language:
    """Train a contender for some steps, for others to have its weights.

    Only on docs with entities, if there are any, so that it soon finds some.
    """
    docs = [doc for doc in docs if doc.ents] or docs
    fix_random_seed(0)
    nlp = build(docs[0].vocab)
    optimizer = nlp.initialize(lambda: make_examples(docs[:500]))
    for batch in batch_by_words(docs, BATCH_WORDS, steps):
        nlp.update(make_examples(batch), sgd=optimizer, drop=0.1)
    return nlp


def copy_weights(build: Build, source: Language) -> Language:
    """Build a pipeline, and give it the labels and weights of another."""
    nlp = build(source.vocab)
    for component in source.pipe_names:
        saved: Any = source.get_pipe(component)
        given: Any = nlp.get_pipe(component)
        given.from_bytes(saved.to_bytes(exclude=["vocab"]), exclude=["vocab"])
    return nlp


def make_copies(
    names: Sequence[str], build: Callable[[str, Vocab], Language], source: Language
) -> Makes:
    """Make what makes each contender, with the weights of one pipeline."""
    return {name: partial(copy_weights, partial(build, name), source) for name in names}


def prepare_pipe(nlp: Language, docs: Sequence[Doc]) -> Callable[[], object]:
    """Get ready to annotate docs: no tokenizer is timed."""
    bare = [copy_words(doc, nlp.vocab) for doc in docs]
    return lambda: annotate(nlp, bare)


def prepare_calls(nlp: Language, docs: Sequence[Doc]) -> Callable[[], object]:
    """Get ready to annotate docs one by one, as who serves single requests does."""
    bare = [copy_words(doc, nlp.vocab) for doc in docs]
    return lambda: [nlp(doc) for doc in bare]


def prepare_texts(nlp: Language, docs: Sequence[Doc]) -> Callable[[], object]:
    """Get ready to make an annotated doc of each text, one call each."""
    texts = [doc.text for doc in docs]
    return lambda: [nlp(text) for text in texts]


def prepare_update(nlp: Language, batches: Sequence[list[Doc]]) -> Callable[[], object]:
    """Get ready to train on batches, one step each, as the config says."""
    examples = [make_examples(batch) for batch in batches]
    dropout = nlp.config["training"]["dropout"]
    # a step more than is timed: Adam makes its moments in the first
    optimizer = nlp.create_optimizer()
    nlp.update(make_examples(batches[0]), sgd=optimizer, drop=dropout)
    return lambda: [nlp.update(b, sgd=optimizer, drop=dropout) for b in examples]


def annotate(nlp: Language, docs: Sequence[Doc]) -> None:
    """Annotate docs in place."""
    for _ in nlp.pipe(docs):
        pass


def compare_annotations(makes: Makes, docs: Sequence[Doc]) -> Json:
    """Count the Docs that a contender annotates otherwise than the first one."""
    found, entities = {}, []
    for name, make in makes.items():
        with NUMPY.get(name, nullcontext)():
            nlp = make()
            bare = [copy_words(doc, nlp.vocab) for doc in docs]
            annotate(nlp, bare)
        found[name] = [[_read_annotation(token) for token in doc] for doc in bare]
        entities.append(sum(len(doc.ents) for doc in bare))
    stock = next(iter(found.values()))
    if entities[0] == 0:
        msg.warn("No pipeline finds an entity, so that they agree says nothing.")
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


#: The letters of words that others hang on.
LONG = 4
_TAGS = {"X": "UPPER", "x": "LOWER", "d": "DIGIT"}

#: What spaCy's published small pipelines have beside NER, with settings. A parser
#: passes over rare dependencies, which in a tiny corpus are all of them.
_COMPONENTS: dict[str, dict[str, Any]] = {
    "tagger": {},
    "parser": {"min_action_freq": 1},
    "trainable_lemmatizer": {},
}


def build_small(name: str, vocab: Vocab) -> Language:
    """Build NER, tagger, parser and lemmatizer that listen to one tok2vec."""
    nlp = build_pipeline(name, vocab)
    listener = {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": WIDTH,
        "upstream": "tok2vec",
    }
    for component, settings in _COMPONENTS.items():
        config: Any = nlp.get_factory_meta(component).default_config
        model = {**config["model"], "tok2vec": listener}
        nlp.add_pipe(component, config={"model": model, **settings})
    return nlp


def make_up(doc: Doc) -> Doc:
    """Copy a doc with its entities, and with tags, a tree and lemmas made up of its
    words: how long a parser takes hangs on their number, not on whether a tree is true.
    """
    heads = _make_up_heads([len(token) for token in doc])
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        tags=[_TAGS.get(token.shape_[0], "OTHER") for token in doc],
        heads=heads,
        deps=[
            "ROOT" if head == i else "before" if head < i else "after"
            for i, head in enumerate(heads)
        ],
        lemmas=[token.lower_.removesuffix("s") for token in doc],
        ents=[f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else "O" for t in doc],
    )


def _make_up_heads(lengths: Sequence[int]) -> list[int]:
    """Hang each word on the last long one before it. The first of these is the root."""
    head = next((i for i, length in enumerate(lengths) if length >= LONG), 0)
    heads = []
    for i, length in enumerate(lengths):
        heads.append(head)
        if length >= LONG:
            head = i
    return heads


def measure_pipelines(text: Corpus, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure pipelines with our embedder and encoder beside those with spaCy's."""
    made_up = [*map(make_up, text.docs)]
    source = train(partial(build_pipeline, SPACY), text.docs, sizes.steps)
    small = train(partial(build_small, SPACY), made_up, sizes.steps)
    makes = make_copies(NAMES, build_pipeline, source)
    small_makes = make_copies(NAMES, build_small, small)
    pipe = batch_by_docs(text.docs, sizes.docs, schedule.rounds)
    update = cut_updates(text.docs, sizes.updates, schedule.rounds)
    short_docs = find_short_docs(text.docs, SHORT_TEXTS * schedule.rounds)
    short = batch_by_docs(short_docs, SHORT_TEXTS, schedule.rounds)
    ways: Ways = {
        "nlp.pipe": (makes, prepare_pipe, pipe),
        "nlp.update": (makes, prepare_update, update),
        "nlp(text), one short text": (makes, prepare_texts, short),
        "nlp.pipe, four components": (small_makes, prepare_pipe, pipe),
    }
    threads = {}
    for what, name in product([*ways][::2], (SPACY, OURS_BLAS)):
        _, prepare, samples = ways[what]
        threads[f"{what}, {name}"] = time_on_threads(
            makes[name], prepare, samples, schedule
        )
    yield {
        **SHAPE,
        "agreement": compare_annotations(makes, pipe[0]),
        "small_agreement": compare_annotations(small_makes, pipe[0]),
        "timings": {
            "one thread": time_ways(ways, schedule, contexts=NUMPY),
            THREADED: threads,
        },
        "profile": profile_pipelines(
            {name: makes[name] for name in (SPACY, OURS_ADAM)},
            find_tok2vec_layers,
            pipe[0],
            {"nlp.update": update[0]},
            schedule,
        ),
    }


def profile_pipelines(
    makes: Makes,
    find_layers: Callable[[Language], Mapping[str, Model]],
    docs: list[Doc],
    updates: Mapping[str, list[list[Doc]]],
    schedule: Schedule,
) -> dict[str, dict[str, float]]:
    """Profile pipelines in prediction and in training, forward and backward."""
    runs: dict[str, tuple[Any, list[Any]]] = {"nlp.pipe": (annotate_in_stages, docs)}
    for what, batches in updates.items():
        runs[what] = (update_in_stages, [*map(make_examples, batches)])
    return {
        f"{name}, {what}": profile(make, *run, schedule, find_layers)
        for name, make in makes.items()
        for what, run in runs.items()
    }


def find_tok2vec_layers(nlp: Language) -> dict[str, Model]:
    """Find the two layers of a tok2vec."""
    tok2vec = nlp.get_pipe("tok2vec").model  # type: ignore[attr-defined]
    return {stage: tok2vec.get_ref(stage) for stage in ("embed", "encode")}


NER = "ner"
DECODINGS = {"token_ner, greedy": "greedy", "token_ner, viterbi": "viterbi"}


def build_recognizer(name: str, vocab: Vocab) -> Language:
    """Build a pipeline of our layers and an NER component, without weights."""
    nlp = build_pipeline(OURS_BLAS, vocab)
    if name == NER:
        return nlp
    config = nlp.config.copy()
    component = load_config(CONFIGS / "token_ner.cfg")["components"]["token_ner"]
    component["decoding"] = DECODINGS[name]
    component["model"]["tok2vec"] = config["components"].pop("ner")["model"]["tok2vec"]
    config["components"]["token_ner"] = component
    config["nlp"]["pipeline"] = ["tok2vec", "token_ner"]
    return type(nlp).from_config(config, vocab=vocab)


def measure_recognizers(text: Corpus, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure pipelines that differ in what reads the tok2vec."""
    makes: Makes = {}
    for name in (NER, *DECODINGS):
        # each its own: transitions depend on what is found
        source = train(partial(build_recognizer, name), text.docs, sizes.steps)
        makes = {**makes, **make_copies([name], build_recognizer, source)}
    pipe = batch_by_docs(text.docs, sizes.docs, schedule.rounds)
    update = cut_updates(text.docs, sizes.updates, schedule.rounds)
    ways: Ways = {
        "`nlp.pipe`": (makes, prepare_pipe, pipe),
        "`nlp.update`": (makes, prepare_update, update),
    }
    yield {
        **SHAPE,
        "entities": {
            name: compare_annotations({name: make}, pipe[0])["entities"]
            for name, make in makes.items()
        },
        "timings": {"one thread": time_ways(ways, schedule)},
    }


ENSEMBLE, LARGE = "TextCatEnsemble", "HashNgramTextCat, large"
#: The config that each classifier is trained by: spaCy's default model with the dropout
#: of spaCy's other network.
CLASSIFIERS = {
    ENSEMBLE: "textcat_reduce",
    "TextCatReduce": "textcat_reduce",
    "TextCatBOW": "textcat_bow",
    "HashNgramTextCat": "hash_ngram_textcat",
    LARGE: "hash_ngram_textcat",
}


def build_classifier(name: str, vocab: Vocab) -> Language:
    """Build a pipeline of a text classifier, without labels or weights."""
    config = load_config(CONFIGS / f"{CLASSIFIERS[name]}.cfg")
    component = config["components"]["textcat"]
    if name == ENSEMBLE:
        component["model"] = deepcopy(DEFAULT_SINGLE_TEXTCAT_MODEL)
    if name == LARGE:  # ten times what our config has
        component["model"]["importance_rows"] = 1_000_000
    return get_lang_class(config["nlp"]["lang"]).from_config(config, vocab=vocab)


def make_classifiers(docs: Sequence[Doc]) -> dict[str, Language]:
    """Make pipelines of text classifiers, with the labels of the first docs."""
    return {
        name: train(partial(build_classifier, name), docs, 0) for name in CLASSIFIERS
    }


def get_classifier(nlp: Language) -> Model:
    """Get the model that classifies."""
    return nlp.get_pipe("textcat").model  # type: ignore[attr-defined]


def find_classifier_layers(nlp: Language) -> Mapping[str, Model]:
    """Find the layers whose time is measured: of ours its parts, else the whole."""
    model = get_classifier(nlp)
    if len(model.layers) != 3 or not model.layers[1].layers:
        return {"model": model}
    words, ngrams, labels = model.layers
    tables = ngrams.layers[0]
    return {"words": words, "n-grams": ngrams, "tables": tables, "labels": labels}


def measure_classifiers(text: Corpus, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure our text classifier beside spaCy's."""
    sources = make_classifiers(text.docs)
    makes: Makes = {}
    for name, source in sources.items():
        makes = {**makes, **make_copies([name], build_classifier, source)}
    pipe = batch_by_docs(text.docs, sizes.docs, schedule.rounds)
    updates = {}
    for size in sizes.texts:
        n_steps = max(1, sizes.texts_trained // size)
        steps = batch_by_docs(text.docs, size, n_steps * schedule.rounds)
        updates[f"nlp.update, {size} texts"] = group(steps, n_steps)
    ways: dict[str, Any] = {"nlp.pipe": (makes, prepare_pipe, pipe)}
    for what, samples in updates.items():
        ways[what] = (makes, prepare_update, samples)
    yield {
        "parameters": {
            name: count_parameters(get_classifier(nlp)) for name, nlp in sources.items()
        },
        "timings": {"one thread": time_ways(ways, schedule)},
        "profile": profile_pipelines(
            makes,
            find_classifier_layers,
            pipe[0],
            {what: samples[0] for what, samples in updates.items()},
            schedule,
        ),
    }
