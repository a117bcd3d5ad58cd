"""An analysis in Python: of what is in memory or on disk, shown in notebooks."""

from collections.abc import Iterable, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..checks import check_items, check_types
from ..display import Part, Shown
from .advice import BOUND
from .corpus import CorpusSource, analyze_corpus
from .pipelines import LANG, ConfigSource, ModelSource, Overrides
from .summary import summarize


class Analysis(Shown, dict[str, Any]):
    """What `analyze` found: a dict that is ready for JSON, as `--json` writes it.

    A notebook shows it, and `print` prints it, as the command does.
    """

    def get_parts(self) -> Iterable[Part]:
        """Give what is to be shown."""
        return summarize(self)


def analyze(
    train: CorpusSource,
    *,
    dev: CorpusSource | None = None,
    test: CorpusSource | None = None,
    config: ConfigSource | None = None,
    model: ModelSource | None = None,
    vectors: ModelSource | None = None,
    overrides: Overrides | None = None,
    bound: float = BOUND,
) -> Analysis:
    """Analyse a corpus, and the embedding tables of a pipeline on it.

    What `spacy hashembeds analyze` does: see docs/analyze.md.

    train (str | Path | Iterable[Doc | Example]): The training corpus: gold Docs, or
        Examples, whose reference side counts; or a `.spacy` file, or a folder of them.
        Read once, as the others; a generator is used up.
    dev, test (str | Path | Iterable[Doc | Example], optional): The other splits.
    config (Config | dict | str | Path, optional): A config for training, or its file.
        Its pipeline is built, but not initialised.
    model (Language | str | Path, optional): A trained pipeline instead, or its name or
        folder.
    vectors (Language | str | Path, optional): A pipeline with word vectors, to look
        tokens up in. Default: those of `model`, if it has any.
    overrides (Mapping[str, Any], optional): Settings of the config to change.
        `{"nlp.lang": "de"}` says whose norms to count without a config too. These are
        by default those of the first Doc in `train`, or of "xx" for a file.
    bound (float): How many of an attribute's values may share their whole code within
        the lower limit for hash tables, as a share of them, above 0 and below 1.
    RAISES (OSError): If a file or pipeline is not there.
    RAISES (TypeError): If an argument is of another type.
    RAISES (ValueError): If one can't be used, or arguments contradict each other.
    RAISES (ImportError): If there is no such language.
    RETURNS (Analysis): A dict, with the keys that `analyze_corpus` tells.
    """
    _check_corpora(train, dev=dev, test=test)
    pipeline = "a pipeline (Language), or its name or folder"
    check_types(str | Path | Language | None, pipeline, model=model, vectors=vectors)
    check_types(str | Path | dict | None, "a config, or its file", config=config)
    check_types(Mapping | None, "a dict of settings", overrides=overrides)
    check_types(int | float, "a number above 0 and below 1", bound=bound)
    has_no_language = not overrides and config is None and model is None
    if has_no_language and not isinstance(train, str | Path):
        train, lang = _find_language(train)
        overrides = {LANG: lang} if lang else None
    return Analysis(
        analyze_corpus(
            train,
            dev=dev,
            test=test,
            config=config,
            model=model,
            vectors=vectors,
            overrides=overrides,
            bound=bound,
        )
    )


def _check_corpora(train: object, **others: object) -> None:
    given = {split: corpus for split, corpus in others.items() if corpus is not None}
    for split, corpus in {"train": train, **given}.items():
        if not isinstance(corpus, str | Path):
            check_items("Docs or Examples, or their file", **{split: corpus})


def _find_language(
    corpus: Iterable[Doc | Example],
) -> tuple[Iterable[Doc | Example], str | None]:
    """Find the language of the first doc, and hand the corpus on."""
    remaining = iter(corpus)
    first = list(islice(remaining, 1))
    doc = getattr(first[0], "reference", first[0]) if first else None
    lang = doc.vocab.lang if isinstance(doc, Doc) else None
    return chain(first, remaining), lang or None
