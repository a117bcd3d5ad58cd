"""The words of a training corpus, as a config's pipeline sees them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from spacy.tokens import Doc
from spacy.util import load_model_from_config
from thinc.api import Config

from ..analysis.features import Vocabulary, collect_vocabulary
from ..corpora.docbin import read_examples

#: Takes the docs of the corpus, and hands them on.
Progress = Callable[[Iterator[Doc]], Iterable[Doc]]


def read_vocabulary(
    train: str | Path,
    config: Config,
    attrs: Sequence[str],
    progress: Progress | None = None,
) -> Vocabulary:
    """Collect the words of a training corpus.

    train (str | Path): The corpus, a `.spacy` file or a folder of them.
    config (Config): The config, without variables. Its language and tokenizer make the
        tokens; what [initialize] loads is not there yet.
    attrs (Sequence[str]): The attributes that tell words apart.
    progress (Progress, optional): Wraps the docs as they are read.
    RAISES (OSError): If there is no such corpus.
    RAISES (ValueError): If it can't be used, or has no tokens.
    """
    settings = {**config["nlp"], "pipeline": [], "disabled": []}
    settings |= {key: None for key in settings if key.endswith("creation")}
    nlp = load_model_from_config({"nlp": settings}, auto_fill=True)
    docs = (example.predicted for example in read_examples(train, nlp))
    vocabulary = collect_vocabulary(docs if progress is None else progress(docs), attrs)
    if not len(vocabulary.words):
        raise ValueError(f"There is not a token in the corpus '{train}'.")
    return vocabulary
