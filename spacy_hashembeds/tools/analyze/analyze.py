"""Analysis of a corpus, and of the tables of an embedder on it."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example

from ...arguments import check_items, check_types
from ...training.annotation import find_settable
from ...training.docbin import read_docs
from ..display import Part, Shown
from . import measures, pipelines
from .advice import ATTRS, BOUND, advise
from .features import collect_vocabulary, count_features
from .pipelines import ConfigSource, ModelSource, Overrides
from .statistics import StatisticsCounter
from .summary import summarize

#: A corpus: a `.spacy` file, a folder of them, or gold docs in memory.
CorpusSource = str | Path | Iterable[Doc | Example]


class Analysis(Shown, dict[str, Any]):
    """Findings of `analyze`: a dict that is ready for JSON, as `--json` writes it."""

    def get_parts(self) -> Iterable[Part]:
        """Return what is to be shown."""
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
    progress: Callable[[Iterator[Doc], str], Iterable[Doc]] | None = None,
) -> Analysis:
    """Analyse a corpus, and the embedding tables of a pipeline on it.

    What `spacy hashembeds analyze` does: see docs/analyze.md. Memory grows with the
    distinct words of the corpus. Words are read anew by the pipeline, as in training.

    train (str | Path | Iterable[Doc | Example]): Gold Docs, or Examples, whose
        reference side counts; or a `.spacy` file, or a folder of them. Read once.
    dev, test (str | Path | Iterable[Doc | Example], optional): The other splits.
    config (Config | dict | str | Path, optional): A config for training, or its file.
        Its pipeline is built, but not initialised: the norms are those without
        [initialize.lookups].
    model (Language | str | Path, optional): A trained pipeline instead.
    vectors (Language | str | Path, optional): A pipeline with word vectors, to look
        tokens up in. Default: those of `model`, if it has any.
    overrides (Mapping[str, Any], optional): Settings of the config to change. Without
        one `{"nlp.lang": "de"}` says whose norms to count: by default those of the
        first Doc in `train`, or of "xx" for a file.
    bound (float): How many of an attribute's values may share their whole code within
        the lower limit for hash tables, as a share of them, above 0 and below 1.
    progress (Callable, optional): Wraps the docs of each split as they are read.
    RAISES (OSError, ImportError, TypeError, ValueError): If what is named is not there,
        or can't be used.
    RETURNS (Analysis): "lang"; "splits" and "entities", see `StatisticsCounter`;
        "features", see `count_features`; "embedders" ("component"; "tables", see
        `measure_table`; "words", see `measure_words`; "has_others", True if vectors or
        n-grams are mixed in); "codes", see `measure_codes`; "advice", see `advise`.
    """
    check_types(int | float, "a number", bound=bound)
    pipeline = Language | str | Path | None
    check_types(
        pipeline, "a pipeline, its name or folder", model=model, vectors=vectors
    )
    if not 0 < bound < 1:
        raise ValueError(f"'bound' should be above 0 and below 1, but is {bound}.")
    if config is not None and model is not None:
        raise ValueError("'config' and 'model' exclude each other: leave one out.")
    given = {"train": train, "dev": dev, "test": test}
    corpora: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
    in_memory = {k: v for k, v in corpora.items() if not isinstance(v, str | Path)}
    check_items("Docs or Examples, or their file", **in_memory)
    corpora |= {split: _get_golds(docs, split) for split, docs in in_memory.items()}
    is_alone = config is None and model is None
    if is_alone and not overrides and "train" in in_memory:
        first = [*islice(corpora["train"], 1)]
        corpora["train"] = chain(first, corpora["train"])
        langs = [*(doc.vocab.lang for doc in first), "xx"]
        overrides = {"nlp.lang": next(filter(None, langs))}
    nlp = pipelines.load_pipeline(config=config, model=model, overrides=overrides or {})
    embedders, columns = pipelines.find_embedders(nlp), pipelines.find_code_columns(nlp)
    if not (embedders or columns or is_alone):
        raise ValueError(
            f"The pipeline (components: {', '.join(nlp.pipe_names) or 'none'}) has no "
            "embedding to measure, such as spacy.MultiHashEmbed.v2 or those of this "
            "package. Leave it out to analyse the corpus alone."
        )
    vocab_of_vectors = pipelines.load_vectors(vectors, nlp)
    tables = [table for embedder in embedders for table in embedder.tables]
    attrs = [*ATTRS, *(t.attr for t in tables), *(c.attr for _, c in columns)]
    vocabularies, splits, entities = {}, {}, {}
    texts: set[str] = set()
    for split, corpus in corpora.items():
        docs = read_docs(corpus, nlp.vocab) if split not in in_memory else corpus
        counter = StatisticsCounter()
        docs = _count(progress(docs, split) if progress else docs, counter)
        predicted = (eg.predicted for eg in Corpus("").make_examples(nlp, docs))
        vocabularies[split] = collect_vocabulary(predicted, [*dict.fromkeys(attrs)])
        splits[split] = counter.get_statistics(vocab_of_vectors)
        if split == "train":
            texts = counter.entity_texts
        else:
            entities[split] = counter.count_seen(texts)
    vocabulary = vocabularies["train"]
    measured = [_measure(embedder, nlp, vocabularies) for embedder in embedders]
    advice = []
    for each in measured or [{"component": None, "tables": []}]:
        settable = find_settable(nlp.component_names, each["component"])
        advice.append(advise(vocabulary, each, bound=bound, settable=settable))
    return Analysis(
        lang=nlp.lang,
        splits=splits,
        entities=entities,
        features=count_features(vocabulary),
        embedders=measured,
        codes=[
            {"component": name, **measures.measure_codes(column, nlp.vocab, vocabulary)}
            for name, column in columns
        ],
        advice=advice,
    )


def _measure(
    embedder: pipelines.Embedder, nlp: Language, vocabularies: measures.Vocabularies
) -> measures.Measures:
    tables = pipelines.give_symbols(embedder, nlp, vocabularies["train"])
    return {
        "component": embedder.component,
        "has_others": embedder.has_others,
        "tables": [measures.measure_table(table, vocabularies) for table in tables],
        "words": measures.measure_words(tables, vocabularies["train"]),
    }


def _get_golds(items: Iterable[Any], split: str) -> Iterator[Doc]:
    for item in items:
        doc = item.reference if isinstance(item, Example) else item
        if not isinstance(doc, Doc):
            raise ValueError(
                f"'{split}' should be a path, or hold Docs or Examples, but holds a "
                f"{type(item).__name__}. Give a list of Docs."
            )
        yield doc


def _count(docs: Iterable[Doc], counter: StatisticsCounter) -> Iterator[Doc]:
    for doc in docs:
        counter.add(doc)
        yield doc
