"""What a trained pipeline scores, and how fast it is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import require_gpu

from ..analysis.pipelines import load_trained
from ..corpora.docbin import read_examples
from ..scorers import read_entity_texts, score_seen_unseen


def evaluate_pipeline(
    model: str | Path, test: str | Path, train: str | Path, *, use_gpu: int = -1
) -> dict[str, Any]:
    """Score a pipeline's entities on a corpus: all, seen and unseen in training.

    The pipeline runs once, on the examples that `spacy evaluate` would make. Its
    own scorers are not asked, so any pipeline that sets `doc.ents` will do.

    model (str | Path): A pipeline's package name or folder.
    test (str | Path): The gold corpus, a `.spacy` file or a folder of them.
    train (str | Path): The pipeline's training corpus, likewise.
    use_gpu (int): The GPU's number, or -1 for the CPU.
    RAISES (FileNotFoundError): If a corpus is missing.
    RAISES (ValueError): If a corpus can't be read, the pipeline is a file, or there is
        no such GPU.
    RAISES (OSError): If there is no such pipeline.
    RETURNS (dict[str, Any]): The scores of `score_seen_unseen`.
    """
    if use_gpu >= 0:
        require_gpu(use_gpu)
    train_texts = read_entity_texts(train)
    nlp = load_trained(model)
    return score_seen_unseen(predict_examples(nlp, test), train_texts)


def predict_examples(nlp: Language, test: str | Path) -> Iterator[Example]:
    """Run a pipeline on the examples that `spacy evaluate` would make.

    nlp (Language): The pipeline.
    test (str | Path): The gold corpus, a `.spacy` file or a folder of them.
    RAISES (FileNotFoundError): If it is missing.
    RAISES (ValueError): If it can't be read.
    YIELDS (Example): Predicted and gold docs, in order.
    """
    inputs = ((example.predicted, example) for example in read_examples(test, nlp))
    for doc, example in nlp.pipe(inputs, as_tuples=True):
        example.predicted = doc
        yield example


def measure_words_per_second(
    loaders: Mapping[str, Callable[[], Language]],
    docs: Sequence[Doc],
    *,
    rounds: int = 7,
) -> dict[str, float]:
    """Measure how many tokens a second pipelines annotate, side by side.

    The pipelines take turns, so that a busy moment of the machine falls on all of
    them, and the median round counts. Each is loaded anew for its turn: where the
    weights come to lie in memory changes the speed of Thinc's matrix product by up to
    a third, for as long as they lie there. Only `nlp.pipe` is timed, after a warm-up on
    a tenth of the docs: no loading, no tokenizer, no reading of files.

    loaders (Mapping[str, Callable[[], Language]]): For each name a function that loads
        the pipeline.
    docs (Sequence[Doc]): The docs to annotate; only their words and spaces are taken.
    rounds (int): How often to time each pipeline. More rounds steady the median.
    RAISES (ValueError): If there is no token to annotate, or no round.
    RETURNS (dict[str, float]): Tokens per second of each pipeline.
    """
    n_words = sum(len(doc) for doc in docs)
    if n_words == 0:
        raise ValueError(f"'docs' should have tokens, but are {len(docs)} empty ones.")
    if rounds < 1:
        raise ValueError(f"'rounds' should be 1 or more, but is {rounds}.")
    texts = [
        ([token.text for token in doc], [bool(token.whitespace_) for token in doc])
        for doc in docs
    ]
    seconds: dict[str, list[float]] = {name: [] for name in loaders}
    for _ in range(rounds):
        for name, load in loaders.items():
            nlp = load()
            _time_pipe(nlp, texts[: len(texts) // 10 + 1])
            seconds[name].append(_time_pipe(nlp, texts))
    return {name: n_words / median(times) for name, times in seconds.items()}


def _time_pipe(nlp: Language, texts: list[tuple[list[str], list[bool]]]) -> float:
    docs = [Doc(nlp.vocab, words=words, spaces=spaces) for words, spaces in texts]
    start = perf_counter()
    for _ in nlp.pipe(docs):
        pass
    return perf_counter() - start
