"""The contenders of the benchmark of NER components: one tok2vec, and what reads it."""

from collections.abc import Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config
from spacy.vocab import Vocab
from thinc.api import fix_random_seed

from spacy_hashembeds.experiments.configs import SHIPPED

from ._data import batch_by_words
from ._pipelines import BATCH_WORDS, OURS_BLAS, make_examples, make_pipeline

NER = "ner"
GREEDY = "token_ner, greedy"
VITERBI = "token_ner, viterbi"
NAMES = (NER, GREEDY, VITERBI)

_DECODINGS = {GREEDY: "greedy", VITERBI: "viterbi"}


def build_recognizer(name: str, vocab: Vocab) -> Language:
    """Build a pipeline of our layers and an NER component, without weights.

    name (str): The name of the contender.
    """
    nlp = make_pipeline(OURS_BLAS, vocab)
    if name == NER:
        return nlp
    config = nlp.config.copy()
    component = load_config(SHIPPED / "token_ner.cfg")["components"]["token_ner"]
    component["decoding"] = _DECODINGS[name]
    component["model"]["tok2vec"] = config["components"].pop("ner")["model"]["tok2vec"]
    config["components"]["token_ner"] = component
    config["nlp"]["pipeline"] = ["tok2vec", "token_ner"]
    return type(nlp).from_config(config, vocab=vocab)


def train_recognizer(name: str, docs: Sequence[Doc], steps: int) -> Language:
    """Train a contender for some steps, since transitions depend on what is found.

    Only on docs with entities, if there are any, so that it soon finds some.
    """
    docs = [doc for doc in docs if doc.ents] or docs
    fix_random_seed(0)
    nlp = build_recognizer(name, docs[0].vocab)
    optimizer = nlp.initialize(lambda: make_examples(docs[:500]))
    for batch in batch_by_words(docs, BATCH_WORDS, steps):
        nlp.update(make_examples(batch), sgd=optimizer, drop=0.1)
    return nlp


def copy_recognizer(name: str, source: Language) -> Language:
    """Make a pipeline that has the labels and weights of another."""
    nlp = build_recognizer(name, source.vocab)
    for component in source.pipe_names:
        saved = _get(source, component).to_bytes(exclude=["vocab"])
        _get(nlp, component).from_bytes(saved, exclude=["vocab"])
    return nlp


def _get(nlp: Language, component: str) -> Any:
    return nlp.get_pipe(component)
