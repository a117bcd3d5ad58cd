"""Analysis of a corpus, and of the tables of an embedder on it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..annotation import find_settable
from ..architectures.embedders.descriptions import get_descriptions
from ..checks import check_types
from ..corpora.docbin import read_docs
from ..corpora.labelled import Progress
from ..corpora.rawtexts import read_text_docs
from ..display import Part, Shown
from ..inputs import check_items
from ..layers.symbolembed import LookupColumn
from .advice import BOUND, advise, get_usual_rows
from .features import collect_vocabulary, count_features
from .lengths import compare_lengths
from .measures import (
    Measures,
    Vocabularies,
    measure_codes,
    measure_table,
    measure_words,
)
from .pipelines import (
    LANG,
    ConfigSource,
    ModelSource,
    Overrides,
    find_code_columns,
    find_embedders,
    give_symbols,
    load_pipeline,
    load_vectors,
    name_source,
)
from .statistics import StatisticsCounter
from .summary import summarize

#: The attributes that spaCy embeds by default, and table 4 counts.
ATTRS = ("NORM", "PREFIX", "SUFFIX", "SHAPE")

#: The width to count parameters with where there is no embedder: spaCy's default.
WIDTH = 96

#: A corpus: a `.spacy` file, a folder of them, or gold docs in memory.
CorpusSource = str | Path | Iterable[Doc | Example]


class Analysis(Shown, dict[str, Any]):
    """Findings of `analyze`: a dict that is ready for JSON, as `--json` writes it."""

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
    text: str | Path | None = None,
    overrides: Overrides | None = None,
    bound: float = BOUND,
    progress: Progress | None = None,
) -> Analysis:
    """Analyse a corpus, and the embedding tables of a pipeline on it.

    What `spacy hashembeds analyze` does: see docs/analyze.md. Memory grows with the
    distinct words of the corpus.

    train (str | Path | Iterable[Doc | Example]): The training corpus: gold Docs, or
        Examples, whose reference side counts; or a `.spacy` file, or a folder of them.
        Read once, as the others; a generator is used up. Words are read anew by the
        pipeline.
    dev, test (str | Path | Iterable[Doc | Example], optional): The other splits.
    config (Config | dict | str | Path, optional): A config for training, or its file.
        Its pipeline is built, but not initialised: the norms are those without
        [initialize.lookups].
    model (Language | str | Path, optional): A trained pipeline instead, or its name or
        folder.
    vectors (Language | str | Path, optional): A pipeline with word vectors, to look
        tokens up in. Default: those of `model`, if it has any.
    text (str | Path, optional): Texts as they are to be served, whose lengths to
        compare with those of training: a file of one a line, `.jsonl` or `.spacy`.
    overrides (Mapping[str, Any], optional): Settings of the config to change.
        `{"nlp.lang": "de"}` says whose norms to count without a config too. These are
        by default those of the first Doc in `train`, or of "xx" for a file.
    bound (float): How many of an attribute's values may share their whole code within
        the lower limit for hash tables, as a share of them, above 0 and below 1.
    progress (Callable, optional): Wraps the docs of each split as they are read.
    RAISES (OSError, ImportError, TypeError, ValueError): If what is named is not there,
        or can't be used.
    RETURNS (Analysis): "lang"; "splits" (table 5) and "entities" (table 6): see
        `StatisticsCounter`; "features" (table 4): see `count_features`; "embedders"
        ("component", "has_vectors", "subword_parameters", "tables": see
        `measure_table`, "words": see `measure_words`); "codes" ("component", and what
        `measure_codes` tells of what has codes in the place of rows); "lengths" (with
        `text`: see `compare_lengths`, else None); "advice" (for each embedder
        "component" and `Advice`).
    """
    corpora = {"train": train}
    corpora |= {k: v for k, v in {"dev": dev, "test": test}.items() if v is not None}
    in_memory = {k: v for k, v in corpora.items() if not isinstance(v, str | Path)}
    check_items("Docs or Examples, or their file", **in_memory)
    pipeline = "a pipeline (Language), or its name or folder"
    check_types(str | Path | Language | None, pipeline, model=model, vectors=vectors)
    check_types(str | Path | dict | None, "a config, or its file", config=config)
    check_types(str | Path | None, "the path of a file", text=text)
    check_types(Mapping | None, "a dict of settings", overrides=overrides)
    check_types(int | float, "a number above 0 and below 1", bound=bound)
    if not 0 < bound < 1:
        raise ValueError(
            f"'bound' should be above 0 and below 1, but is {bound}: it is the share "
            "of values that may collide."
        )
    if config is not None and model is not None:
        raise ValueError(
            "There should be a config or a model, but both came: "
            f"{name_source('config', config)} and {name_source('model', model)}. "
            "Analyse them one after the other."
        )
    if not overrides and config is None and model is None and "train" in in_memory:
        corpora["train"], lang = _find_language(in_memory["train"])
        overrides = {LANG: lang} if lang else None
    nlp = load_pipeline(config=config, model=model, overrides=overrides or {})
    vocab_of_vectors = load_vectors(vectors, nlp)
    embedders, columns = find_embedders(nlp), find_code_columns(nlp)
    for argument, source in {"config": config, "model": model}.items():
        if source is not None and not embedders and not columns:
            raise ValueError(_refuse(name_source(argument, source), nlp))
    of_tables = (table.attr for embedder in embedders for table in embedder.tables)
    of_codes = (column.attr for _, column in columns)
    attrs = list(dict.fromkeys([*ATTRS, *of_tables, *of_codes]))
    served = None if text is None else _count_lengths(text, nlp, progress)
    found = Analysis(lang=nlp.lang, splits={}, features={}, entities={})
    vocabularies = {}
    train_lengths: Counter[int] = Counter()
    train_texts: set[str] = set()
    for split, corpus in corpora.items():
        docs = _read(corpus, split, nlp.vocab)
        shown = docs if progress is None else progress(docs, split)
        statistics = StatisticsCounter()
        predicted = _predict(nlp, shown, statistics)
        vocabularies[split] = collect_vocabulary(predicted, attrs)
        found["splits"][split] = statistics.get_statistics(vocab_of_vectors)
        if split == "train":
            train_lengths = statistics.lengths
            train_texts = statistics.entity_texts
        else:
            found["entities"][split] = statistics.count_seen(train_texts)
    vocabulary = vocabularies["train"]
    filled = [give_symbols(embedder, nlp, vocabulary) for embedder in embedders]
    found["features"] = count_features(vocabulary)
    found["embedders"] = [
        {
            "component": embedder.component,
            "has_vectors": embedder.has_vectors,
            "subword_parameters": embedder.subword_parameters,
            "tables": [measure_table(table, vocabularies) for table in embedder.tables],
            "words": measure_words(embedder.tables, vocabulary),
        }
        for embedder in filled
    ]
    found["codes"] = [
        {"component": name, **measure_codes(nlp.vocab, column, vocabulary)}
        for name, column in columns
    ]
    found["lengths"] = served and compare_lengths(train_lengths, served)
    found["advice"] = _advise(
        found["embedders"], vocabularies, bound, nlp.component_names
    )
    return found


def _count_lengths(
    text: str | Path, nlp: Language, progress: Progress | None
) -> Counter[int]:
    docs = read_text_docs([Path(text)], nlp)
    lengths = Counter(map(len, docs if progress is None else progress(docs, "text")))
    if not lengths:
        raise ValueError(
            f"'text' should name a file with texts, but '{text}' is empty."
        )
    return lengths


def _find_language(
    corpus: Iterable[Doc | Example],
) -> tuple[Iterable[Doc | Example], str | None]:
    remaining = iter(corpus)
    first = list(islice(remaining, 1))
    doc = getattr(first[0], "reference", first[0]) if first else None
    lang = doc.vocab.lang if isinstance(doc, Doc) else None
    return chain(first, remaining), lang or None


def _refuse(source_name: str, nlp: Language) -> str:
    ours = get_descriptions()
    of_tables = ", ".join(d.architecture for d in ours if d.tables)
    of_codes = ", ".join(d.architecture for d in ours if d.find_columns)
    return (
        f"{source_name} has no embedding with a table for each attribute, such as "
        f"spacy.MultiHashEmbed.v2, spacy.HashEmbedCNN.v2, {of_tables}, or with codes, "
        f"as {of_codes} (components: {', '.join(nlp.pipe_names) or 'none'}). Leave it "
        "out to analyse the corpus alone."
    )


def _read(corpus: CorpusSource, split: str, vocab: Vocab) -> Iterator[Doc]:
    if isinstance(corpus, str | Path):
        yield from read_docs(corpus, vocab)
        return
    for item in corpus:
        doc = item.reference if isinstance(item, Example) else item
        if not isinstance(doc, Doc):
            raise ValueError(
                f"'{split}' should be a path, or hold Docs or Examples, but holds a "
                f"{type(item).__name__}. Give a list of Docs."
            )
        yield doc


def _predict(
    nlp: Language, docs: Iterable[Doc], statistics: StatisticsCounter
) -> Iterator[Doc]:
    """Count docs, and give what a pipeline would see of them, as spaCy's Corpus."""
    for gold in docs:
        statistics.add(gold)
        if gold.has_unknown_spaces:
            yield Doc(nlp.vocab, words=[token.text for token in gold])
        else:
            yield nlp.make_doc(gold.text)


def _advise(
    embedders: Sequence[Measures],
    vocabularies: Vocabularies,
    bound: float,
    pipeline: Sequence[str],
) -> list[Measures]:
    found = []
    for embedder in embedders or [{"component": None, "tables": []}]:
        tables = embedder["tables"]
        attrs = list(dict.fromkeys(table["attr"] for table in tables)) or ATTRS
        advice = advise(
            vocabularies,
            attrs,
            width=tables[0]["width"] if tables else WIDTH,
            bound=bound,
            rows=[(t["attr"], _find_rows(t)) for t in tables],
            tables=tables,
            settable=find_settable(pipeline, embedder["component"]),
        )
        found.append({"component": embedder["component"], **asdict(advice)})
    return found


def _find_rows(table: Measures) -> int:
    """Find the rows of a table, or what its attribute has where symbols decide."""
    is_lookup = table["kind"] == LookupColumn.kind
    return get_usual_rows(table["attr"]) if is_lookup else table["rows"]
