"""The contenders of the pipeline benchmark: equal shapes, equal weights."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab
from thinc.api import Config, Ops, fix_random_seed, get_current_ops, set_current_ops

from ._data import batch_by_words
from ._timing import Contender, Maker

CALLBACK = "spacy-hashembeds.use_fastest_blas.v1"
BATCH_WORDS = 1000

SPACY = "spacy"
SPACY_BLAS = "spacy + callback"
OURS = "ours"
OURS_BLAS = "ours + callback"

#: The embedding and the encoder of each.
_LAYERS: dict[str, dict[str, str]] = {
    SPACY: {
        "embed": "spacy.MultiHashEmbed.v2",
        "encode": "spacy.MaxoutWindowEncoder.v2",
    },
    OURS: {
        "embed": "spacy-hashembeds.MultiFewerHashEmbed.v1",
        "encode": "spacy-hashembeds.MaxoutWindowEncoder.v1",
    },
}
_CONFIG = """
[nlp]
lang = "en"
pipeline = ["tok2vec", "ner"]

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.Tok2Vec.v2"

[components.tok2vec.model.embed]
width = ${components.tok2vec.model.encode.width}
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
rows = [5000, 2500, 2500, 2500]
include_static_vectors = false

[components.tok2vec.model.encode]
width = 96
depth = 4
window_size = 1
maxout_pieces = 3

[components.ner]
factory = "ner"

[components.ner.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "ner"
extra_state_tokens = false
hidden_width = 64
maxout_pieces = 2
use_upper = true
nO = null

[components.ner.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = ${components.tok2vec.model.encode.width}
upstream = "*"
"""


@dataclass(frozen=True)
class Pipeline:
    """A pipeline and the backend that is current while it works.

    What a callback switches on is on for the whole process, so it is switched off
    again before another pipeline has its turn.
    """

    nlp: Language
    ops: Ops

    def __call__(self, run: Callable[[Language], object]) -> None:
        """Have the pipeline do something, on its own backend."""
        with _keeping_ops():
            set_current_ops(self.ops)
            run(self.nlp)


def has_callback() -> bool:
    """Tell whether the callback is registered that chooses the BLAS."""
    return registry.has("callbacks", CALLBACK)


def make_pipeline(name: str, vocab: Vocab) -> Pipeline:
    """Make a pipeline without weights, as its config says.

    name (str): The name of the contender.
    """
    config = Config().from_str(_CONFIG, interpolate=False)
    layers = _LAYERS[SPACY if name in (SPACY, SPACY_BLAS) else OURS]
    for part, architecture in layers.items():
        config["components"]["tok2vec"]["model"][part]["@architectures"] = architecture
    if name in (SPACY_BLAS, OURS_BLAS):
        config["nlp"]["before_creation"] = {"@callbacks": CALLBACK}
    with _keeping_ops():
        lang_class = spacy.util.get_lang_class("en")
        nlp = lang_class.from_config(config, vocab=vocab)
        return Pipeline(nlp, get_current_ops())


def train_stock(docs: Sequence[Doc], steps: int) -> Language:
    """Train spaCy's pipeline for some steps, for all contenders to have its weights.

    Only on docs with entities, if there are any, so that it soon finds some.
    """
    docs = [doc for doc in docs if doc.ents] or docs
    fix_random_seed(0)
    nlp = make_pipeline(SPACY, docs[0].vocab).nlp
    optimizer = nlp.initialize(lambda: make_examples(docs[:500]))
    for batch in batch_by_words(docs, BATCH_WORDS, steps):
        nlp.update(make_examples(batch), sgd=optimizer, drop=0.1)
    return nlp


def make_trained(name: str, source: Language) -> Pipeline:
    """Make a pipeline that has the weights of another.

    name (str): The name of the contender.
    """
    pipeline = make_pipeline(name, source.vocab)
    for component in source.pipe_names:
        saved = source.get_pipe(component).to_bytes(exclude=["vocab"])  # type: ignore[attr-defined]
        pipeline.nlp.get_pipe(component).from_bytes(saved, exclude=["vocab"])  # type: ignore[attr-defined]
    return pipeline


def make_maker(
    name: str, source: Language, prepare: Callable[[Pipeline, Any], Callable]
) -> Maker[Any]:
    """Make what makes a contender: the pipeline, with the weights of another.

    prepare (Callable): Given the pipeline and a sample, gets ready what is timed.
    """

    def make() -> Contender[Any]:
        pipeline = make_trained(name, source)
        return lambda sample: prepare(pipeline, sample)

    return make


def prepare_pipe(pipeline: Pipeline, docs: Sequence[Doc]) -> Callable[[], None]:
    """Get ready to annotate docs: no tokenizer is timed."""
    bare = [strip(doc) for doc in docs]
    return lambda: pipeline(lambda nlp: annotate(nlp, bare))


def prepare_update(
    pipeline: Pipeline, batches: Sequence[Sequence[Doc]]
) -> Callable[[], None]:
    """Get ready to train on batches, one step each."""
    examples = [make_examples(batch) for batch in batches]
    # a step more than is timed: Adam makes its moments in the first
    optimizer = pipeline.nlp.create_optimizer()
    with _keeping_ops():
        set_current_ops(pipeline.ops)
        pipeline.nlp.update(make_examples(batches[0]), sgd=optimizer, drop=0.1)

    def run(nlp: Language) -> None:
        for batch in examples:
            nlp.update(batch, sgd=optimizer, drop=0.1)

    return lambda: pipeline(run)


def annotate(nlp: Language, docs: Sequence[Doc]) -> None:
    """Annotate docs in place."""
    for _ in nlp.pipe(docs):
        pass


def strip(doc: Doc) -> Doc:
    """Make a Doc of the same words without annotation."""
    words = [token.text for token in doc]
    return Doc(doc.vocab, words=words, spaces=[bool(t.whitespace_) for t in doc])


def make_examples(docs: Sequence[Doc]) -> list[Example]:
    """Make new examples of gold docs."""
    return [Example(strip(doc), doc) for doc in docs]


@contextmanager
def _keeping_ops() -> Iterator[None]:
    ops = get_current_ops()
    try:
        yield
    finally:
        set_current_ops(ops)
