"""The contenders of the benchmark of text classifiers: as their configs have them."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from spacy.language import Language
from spacy.pipeline.textcat import DEFAULT_SINGLE_TEXTCAT_MODEL
from spacy.tokens import Doc
from spacy.util import get_lang_class, load_config
from spacy.vocab import Vocab
from thinc.api import Model, fix_random_seed

from lab.trials.configs import CONFIGS

from ._pipelines import make_examples

OURS = "HashNgramTextCat"
OURS_LARGE = "HashNgramTextCat, large"
ENSEMBLE = "TextCatEnsemble"
BAG_OF_WORDS = "TextCatBOW"
REDUCE = "TextCatReduce"
NAMES = (ENSEMBLE, REDUCE, BAG_OF_WORDS, OURS, OURS_LARGE)

#: Ten times what our config has.
LARGE_IMPORTANCE_ROWS = 1_000_000

#: The config that each is trained by.
_CONFIGS = {
    OURS: "hash_ngram_textcat",
    OURS_LARGE: "hash_ngram_textcat",
    BAG_OF_WORDS: "textcat_bow",
    REDUCE: "textcat_reduce",
    # spaCy's default model, with the dropout of spaCy's other network
    ENSEMBLE: "textcat_reduce",
}


def make_classifier(name: str, docs: Sequence[Doc]) -> Language:
    """Make a pipeline of a text classifier, with the labels of the first docs.

    name (str): The name of the contender.
    """
    fix_random_seed(0)
    nlp = build_classifier(name, docs[0].vocab)
    nlp.initialize(lambda: make_examples(docs[:500]))
    return nlp


def build_classifier(name: str, vocab: Vocab) -> Language:
    """Build a pipeline of a text classifier, without labels or weights."""
    config = load_config(CONFIGS / f"{_CONFIGS[name]}.cfg")
    component = config["components"]["textcat"]
    if name == ENSEMBLE:
        component["model"] = deepcopy(DEFAULT_SINGLE_TEXTCAT_MODEL)
    if name == OURS_LARGE:
        component["model"]["importance_rows"] = LARGE_IMPORTANCE_ROWS
    return get_lang_class(config["nlp"]["lang"]).from_config(config, vocab=vocab)


def copy_classifier(name: str, source: Language) -> Language:
    """Make a pipeline that has the labels and weights of another."""
    nlp = build_classifier(name, source.vocab)
    saved = get_component(source).to_bytes(exclude=["vocab"])
    get_component(nlp).from_bytes(saved, exclude=["vocab"])
    return nlp


def describe_classifier(nlp: Language) -> dict[str, Any]:
    """Say what classifies, and how many parameters it has."""
    config = nlp.config["components"]["textcat"]["model"]
    return {
        "architecture": config["@architectures"],
        "parameters": sum(
            node.get_param(name).size
            for node in get_component(nlp).model.walk()
            for name in node.param_names
        ),
        "dropout": nlp.config["training"]["dropout"],
    }


def find_layers(name: str, nlp: Language) -> Mapping[str, Model]:
    """Find the layers whose time is measured: of ours its parts, else the whole."""
    model = get_component(nlp).model
    if name not in (OURS, OURS_LARGE):
        return {"model": model}
    words, ngrams, labels = model.layers
    tables = ngrams.layers[0]
    return {"words": words, "n-grams": ngrams, "tables": tables, "labels": labels}


def get_component(nlp: Language) -> Any:
    """Get the text classifier."""
    return nlp.get_pipe("textcat")
