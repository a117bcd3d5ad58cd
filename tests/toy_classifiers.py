"""Small text classifiers, and texts to train them."""

import random
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example
from thinc.api import fix_random_seed

SMALL: dict[str, Any] = {"exclusive_classes": True, "ngram_size": 2, "rows": 50}
SMALL |= {"width": 8, "importance_rows": 500}
NAME = "spacy-hashembeds.HashNgramTextCat.v1"
ENSEMBLE = "spacy-hashembeds.TextCatVotingEnsemble.v1"

MARKS = {"good": ["great", "fine"], "bad": ["poor", "awful"]}
OTHERS = "the a film plot it was , . !".split()


def make_texts(n: int = 60, seed: int = 0) -> list[tuple[str, str]]:
    """Make texts with one word that determines the label."""
    state = random.Random(seed)
    texts = []
    for _ in range(n):
        label = state.choice(list(MARKS))
        words = [*state.choices(OTHERS, k=6), state.choice(MARKS[label])]
        state.shuffle(words)
        texts.append((" ".join(words), label))
    return texts


def make_examples(nlp: Language, n: int = 60, seed: int = 0) -> list[Example]:
    examples = []
    for text, label in make_texts(n, seed):
        cats = {each: float(each == label) for each in MARKS}
        examples.append(Example.from_dict(nlp.make_doc(text), {"cats": cats}))
    return examples


def save_texts(path, n: int, seed: int) -> None:
    nlp = spacy.blank("en")
    docs = [example.reference for example in make_examples(nlp, n, seed)]
    DocBin(docs=docs).to_disk(path)


def make_config(num_models: int = 0, **arguments: Any) -> dict[str, Any]:
    """Make the `model` of a config: one classifier, or an ensemble."""
    member = {"@architectures": NAME, **SMALL, **arguments}
    if not num_models:
        return member
    config = {"@architectures": ENSEMBLE, "num_models": num_models}
    return {**config, "*": {"member": member}}


def make_pipeline(model: dict[str, Any], factory: str = "textcat") -> Language:
    """Make an uninitialized pipeline."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe(factory, name="textcat", config={"model": model})
    return nlp


def train(nlp: Language, epochs: int = 8, *, is_new: bool = True) -> Language:
    """Train a pipeline until it learns the words that determine labels."""
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples) if is_new else nlp.resume_training()
    optimizer.learn_rate = 0.02
    for _ in range(epochs):
        for start in range(0, len(examples), 20):
            nlp.update(examples[start : start + 20], sgd=optimizer)
    return nlp


def get_scores(nlp: Language, texts: list[str]) -> list[dict[str, float]]:
    return [doc.cats for doc in nlp.pipe(texts)]


def measure_accuracy(nlp: Language, seed: int = 1) -> float:
    texts, labels = zip(*make_texts(100, seed), strict=True)
    scores = get_scores(nlp, list(texts))
    hits = [max(cats, key=cats.__getitem__) for cats in scores]
    return sum(a == b for a, b in zip(hits, labels, strict=True)) / len(labels)
