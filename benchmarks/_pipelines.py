"""The contenders of the pipeline benchmark: equal shapes, equal weights."""

from collections.abc import Callable, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example
from spacy.util import get_lang_class, load_config
from spacy.vocab import Vocab
from thinc.api import fix_random_seed
from wasabi import msg

from lab.trials.configs import CONFIGS
from spacy_hashembeds.kernels import compiled

from ._data import batch_by_words
from ._embedders import ROWS
from ._timing import Contender, Maker, in_numpy

#: Makes a contender of a name without weights.
Make = Callable[[str, Vocab], Language]

CALLBACK = "spacy-hashembeds.use_fastest_blas.v1"
BATCH_WORDS = 1000

#: Layers of the encoder: spaCy's default.
DEPTH = 4

SPACY = "spacy"
SPACY_BLAS = "spacy + callback"
OURS = "ours"
OURS_BLAS = "ours + callback"
OURS_ADAM = "ours + callback + Adam"
#: The same with products of int8 in prediction, and of bfloat16 in training.
OURS_INT8 = "ours + callback + Adam, int8"
#: The one of float32 without compiled kernels.
OURS_NUMPY = "ours + callback + Adam, in numpy"

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


def make_pipeline(name: str, vocab: Vocab) -> Language:
    """Make a pipeline without weights: that of our configs, but of spaCy's sizes.

    name (str): The name of the contender.
    """
    config = load_config(CONFIGS / "multi_hash_embed.cfg")
    tok2vec = config["components"]["tok2vec"]["model"]
    layers = _LAYERS[SPACY if name in (SPACY, SPACY_BLAS) else OURS]
    for part, architecture in layers.items():
        tok2vec[part]["@architectures"] = architecture
    tok2vec["embed"]["rows"] = ROWS
    tok2vec["encode"]["depth"] = DEPTH
    has_blas = name not in (SPACY, OURS)
    callback = {"@callbacks": CALLBACK} if has_blas else None
    config["nlp"]["after_pipeline_creation"] = callback
    if name == OURS_INT8:
        fewer_bits = {"precision": "int8", "training_precision": "bfloat16"}
        tok2vec["encode"].update(fewer_bits)
    if name not in (OURS_ADAM, OURS_INT8, OURS_NUMPY):
        config["training"]["optimizer"]["@optimizers"] = "Adam.v1"
    lang_class = get_lang_class(config["nlp"]["lang"])
    return lang_class.from_config(config, vocab=vocab)


def train_stock(docs: Sequence[Doc], steps: int) -> Language:
    """Train spaCy's pipeline for some steps, for all contenders to have its weights."""
    return train(SPACY, docs, steps)


def train(
    name: str, docs: Sequence[Doc], steps: int, make: Make = make_pipeline
) -> Language:
    """Train a contender for some steps.

    Only on docs with entities, if there are any, so that it soon finds some.
    """
    docs = [doc for doc in docs if doc.ents] or docs
    fix_random_seed(0)
    nlp = make(name, docs[0].vocab)
    optimizer = nlp.initialize(lambda: make_examples(docs[:500]))
    for batch in batch_by_words(docs, BATCH_WORDS, steps):
        nlp.update(make_examples(batch), sgd=optimizer, drop=0.1)
    return nlp


def make_trained(name: str, source: Language, make: Make = make_pipeline) -> Language:
    """Make a pipeline that has the labels and weights of another.

    name (str): The name of the contender.
    """
    nlp = make(name, source.vocab)
    for component in source.pipe_names:
        saved = source.get_pipe(component).to_bytes(exclude=["vocab"])  # type: ignore[attr-defined]
        nlp.get_pipe(component).from_bytes(saved, exclude=["vocab"])  # type: ignore[attr-defined]
    return nlp


def make_maker(
    name: str,
    source: Language,
    prepare: Callable[[Language, Any], Callable],
    copy: Callable[[str, Language], Language] = make_trained,
) -> Maker[Any]:
    """Make what makes a contender: the pipeline, with the weights of another.

    prepare (Callable): Given the pipeline and a sample, gets ready what is timed.
    copy (Callable): Makes the pipeline of a name, with the weights of another.
    """

    def make() -> Contender[Any]:
        nlp = copy(name, source)
        return lambda sample: prepare(nlp, sample)

    return in_numpy(make) if name == OURS_NUMPY else make


def prepare_pipe(nlp: Language, docs: Sequence[Doc]) -> Callable[[], None]:
    """Get ready to annotate docs: no tokenizer is timed."""
    bare = [strip(doc) for doc in docs]
    return lambda: annotate(nlp, bare)


def prepare_update(
    nlp: Language, batches: Sequence[Sequence[Doc]]
) -> Callable[[], None]:
    """Get ready to train on batches, one step each, as the config says."""
    examples = [make_examples(batch) for batch in batches]
    dropout = nlp.config["training"]["dropout"]
    # a step more than is timed: Adam makes its moments in the first
    optimizer = nlp.create_optimizer()
    nlp.update(make_examples(batches[0]), sgd=optimizer, drop=dropout)

    def run() -> None:
        for batch in examples:
            nlp.update(batch, sgd=optimizer, drop=dropout)

    return run


def prepare_texts(nlp: Language, docs: Sequence[Doc]) -> Callable[[], None]:
    """Get ready to make an annotated doc of each text, one call each."""
    texts = [doc.text for doc in docs]

    def run() -> None:
        for text in texts:
            nlp(text)

    return run


def annotate(nlp: Language, docs: Sequence[Doc]) -> None:
    """Annotate docs in place."""
    for _ in nlp.pipe(docs):
        pass


def strip(doc: Doc, vocab: Vocab | None = None) -> Doc:
    """Make a Doc of the same words without annotation.

    vocab (Vocab, optional): Its vocab. Default: that of the other.
    """
    words = [token.text for token in doc]
    spaces = [bool(token.whitespace_) for token in doc]
    return Doc(vocab or doc.vocab, words=words, spaces=spaces)


def make_examples(docs: Sequence[Doc]) -> list[Example]:
    """Make new examples of gold docs."""
    return [Example(strip(doc), doc) for doc in docs]


def compare_annotations(
    names: Sequence[str],
    source: Language,
    docs: Sequence[Doc],
    copy: Callable[[str, Language], Language] = make_trained,
) -> dict[str, Any]:
    """Count the Docs that a contender annotates otherwise than spaCy.

    names (Sequence[str]): The contenders, spaCy among them.
    source (Language): The pipeline whose weights they have.
    copy (Callable): Makes the pipeline of a name, with these weights.
    """
    found, n_entities = {}, 0
    for name in names:
        bare = [strip(doc) for doc in docs]
        chosen = None if name == OURS_NUMPY else compiled.kernels
        with compiled.using(chosen):
            annotate(copy(name, source), bare)
        found[name] = [[_read_annotation(token) for token in doc] for doc in bare]
        if name == SPACY:
            n_entities = sum(len(doc.ents) for doc in bare)
    stock = found[SPACY]
    if n_entities == 0:
        msg.warn("No pipeline finds an entity, so that they agree says nothing.")
    return {
        "entities": n_entities,
        "docs_that_differ": {
            name: sum(a != b for a, b in zip(annotations, stock, strict=True))
            for name, annotations in found.items()
        },
    }


def _read_annotation(token: Token) -> tuple:
    entity = token.ent_iob_, token.ent_type_
    return (*entity, token.tag_, token.head.i, token.dep_, token.lemma_)
