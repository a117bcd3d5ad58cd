"""Analysis of a corpus, and of the tables of an embedder on it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.vocab import Vocab

from ...architectures.descriptions import get_descriptions
from ...arguments import check_items, check_types
from ...layers.symbolembed import LookupColumn
from ...training.annotation import find_settable
from ...training.docbin import read_docs
from ...training.rawtexts import read_text_docs
from ..display import Part, Shown
from ..prepare.labelled import Progress
from .advice import BOUND, advise, get_usual_rows
from .features import collect_vocabulary, count_features
from .measures import measure_codes, measure_table, measure_words
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
)
from .statistics import StatisticsCounter, compare_lengths
from .summary import summarize

#: The attributes that spaCy embeds by default, and table 4 counts.
ATTRS = ("NORM", "PREFIX", "SUFFIX", "SHAPE")

#: The width to count parameters with where there is no embedder: spaCy's default.
WIDTH = 96

# Of such tables symbols decide how many rows they have.
_LOOKUP = LookupColumn.kind

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
    text: str | Path | None = None,
    overrides: Overrides | None = None,
    bound: float = BOUND,
    progress: Progress | None = None,
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
    text (str | Path, optional): Texts as they are to be served, whose lengths to
        compare with those of training: a file of one a line, `.jsonl` or `.spacy`.
    overrides (Mapping[str, Any], optional): Settings of the config to change. Without
        one `{"nlp.lang": "de"}` says whose norms to count: by default those of the
        first Doc in `train`, or of "xx" for a file.
    bound (float): How many of an attribute's values may share their whole code within
        the lower limit for hash tables, as a share of them, above 0 and below 1.
    progress (Callable, optional): Wraps the docs of each split as they are read.
    RAISES (OSError, ImportError, TypeError, ValueError): If what is named is not there,
        or can't be used.
    RETURNS (Analysis): "lang"; "splits" and "entities", see `StatisticsCounter`;
        "features", see `count_features`; "embedders" ("component", "has_vectors",
        "subword_parameters", "tables", see `measure_table`, and "words", see
        `measure_words`); "codes", see `measure_codes`; "lengths" (with `text`, see
        `compare_lengths`); "advice" (for each embedder "component" and `Advice`).
    """
    check_types(int | float, "a number", bound=bound)
    sources = {"model": model, "vectors": vectors}
    given = {name: source for name, source in sources.items() if source is not None}
    check_types(Language | str | Path, "a pipeline, or its name or folder", **given)
    if not 0 < bound < 1:
        raise ValueError(f"'bound' should be above 0 and below 1, but is {bound}.")
    if config is not None and model is not None:
        raise ValueError("'config' and 'model' exclude each other: leave one out.")
    corpora = {"train": train}
    corpora |= {k: v for k, v in {"dev": dev, "test": test}.items() if v is not None}
    in_memory = {k: v for k, v in corpora.items() if not isinstance(v, str | Path)}
    check_items("Docs or Examples, or their file", **in_memory)
    if not overrides and config is None and model is None and "train" in in_memory:
        corpora["train"], lang = _find_language(in_memory["train"])
        overrides = {LANG: lang} if lang else None
    nlp = load_pipeline(config=config, model=model, overrides=overrides or {})
    vocab_of_vectors = load_vectors(vectors, nlp)
    embedders, columns = find_embedders(nlp), find_code_columns(nlp)
    if not (embedders or columns or (config is None and model is None)):
        raise ValueError(_describe(nlp))
    tables = [table for embedder in embedders for table in embedder.tables]
    attrs = [*ATTRS, *(t.attr for t in tables), *(c.attr for _, c in columns)]
    progress = progress or (lambda docs, split: docs)
    lengths = None if text is None else _count_lengths(text, nlp, progress)
    vocabularies, counters = {}, {}
    for split, corpus in corpora.items():
        counters[split] = StatisticsCounter()
        docs = _read(corpus, split, nlp.vocab, counters[split])
        examples = Corpus("").make_examples(nlp, progress(docs, split))
        predicted = (example.predicted for example in examples)
        vocabularies[split] = collect_vocabulary(predicted, [*dict.fromkeys(attrs)])
    vocabulary, texts = vocabularies["train"], counters["train"].entity_texts
    filled = [give_symbols(embedder, nlp, vocabulary) for embedder in embedders]
    found = Analysis(
        lang=nlp.lang,
        splits={k: c.get_statistics(vocab_of_vectors) for k, c in counters.items()},
        entities={k: c.count_seen(texts) for k, c in counters.items() if k != "train"},
        features=count_features(vocabulary),
        embedders=[
            {
                "component": embedder.component,
                "has_vectors": embedder.has_vectors,
                "subword_parameters": embedder.subword_parameters,
                "tables": [measure_table(t, vocabularies) for t in embedder.tables],
                "words": measure_words(embedder.tables, vocabulary),
            }
            for embedder in filled
        ],
        codes=[
            {"component": name, **measure_codes(column, nlp.vocab, vocabulary)}
            for name, column in columns
        ],
        lengths=lengths and compare_lengths(counters["train"].lengths, lengths),
        advice=[],
    )
    for embedder in found["embedders"] or [{"component": None, "tables": []}]:
        name, measured = embedder["component"], embedder["tables"]
        rows = [
            (
                t["attr"],
                t["rows"] if t["kind"] != _LOOKUP else get_usual_rows(t["attr"]),
            )
            for t in measured
        ]
        advice = advise(
            vocabularies,
            list(dict.fromkeys(table["attr"] for table in measured)) or ATTRS,
            width=measured[0]["width"] if measured else WIDTH,
            bound=bound,
            rows=rows,
            tables=measured,
            settable=find_settable(nlp.component_names, name),
        )
        found["advice"].append({"component": name, **asdict(advice)})
    return found


def _describe(nlp: Language) -> str:
    ours = ", ".join(description.architecture for description in get_descriptions())
    return (
        f"The pipeline (components: {', '.join(nlp.pipe_names) or 'none'}) has no "
        "embedding to measure, such as spacy.MultiHashEmbed.v2, spacy.HashEmbedCNN.v2, "
        f"{ours}. Leave it out to analyse the corpus alone."
    )


def _count_lengths(text: str | Path, nlp: Language, progress: Progress) -> Counter[int]:
    lengths = Counter(map(len, progress(read_text_docs([Path(text)], nlp), "text")))
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
    return chain(first, remaining), doc.vocab.lang if isinstance(doc, Doc) else None


def _read(
    corpus: CorpusSource, split: str, vocab: Vocab, counter: StatisticsCounter
) -> Iterator[Doc]:
    items = read_docs(corpus, vocab) if isinstance(corpus, str | Path) else corpus
    for item in items:
        doc = item.reference if isinstance(item, Example) else item
        if not isinstance(doc, Doc):
            raise ValueError(
                f"'{split}' should be a path, or hold Docs or Examples, but holds a "
                f"{type(item).__name__}. Give a list of Docs."
            )
        counter.add(doc)
        yield doc
