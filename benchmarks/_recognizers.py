"""The contenders of the benchmark of NER components: one tok2vec, and what reads it."""

from collections.abc import Sequence

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config
from spacy.vocab import Vocab

from lab.trials.configs import CONFIGS

from ._pipelines import OURS_BLAS, make_pipeline, make_trained, train

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
    component = load_config(CONFIGS / "token_ner.cfg")["components"]["token_ner"]
    component["decoding"] = _DECODINGS[name]
    component["model"]["tok2vec"] = config["components"].pop("ner")["model"]["tok2vec"]
    config["components"]["token_ner"] = component
    config["nlp"]["pipeline"] = ["tok2vec", "token_ner"]
    return type(nlp).from_config(config, vocab=vocab)


def train_recognizer(name: str, docs: Sequence[Doc], steps: int) -> Language:
    """Train a contender for some steps, since transitions depend on what is found."""
    return train(name, docs, steps, build_recognizer)


def copy_recognizer(name: str, source: Language) -> Language:
    """Make a pipeline that has the labels and weights of another."""
    return make_trained(name, source, build_recognizer)
