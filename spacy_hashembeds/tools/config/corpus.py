"""What the training corpus advises, and warnings of what can't be learned from it."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model_from_config

from ...files import quote
from ...training.docbin import read_examples
from ..analyze.features import Vocabulary, collect_vocabulary
from ..prepare.labelled import has_one_label
from .edits import Edits, find_name
from .presets import CLASSIFIERS, JOINED, RECOGNIZERS

#: Takes the docs of a corpus, and hands them on.
Progress = Callable[[Iterator[Doc]], Iterable[Doc]]


@dataclass(frozen=True)
class Corpus:
    """A training corpus, as far as a config depends on it."""

    path: str | Path
    vocabulary: Vocabulary
    n_docs: int  #: With more than one token: spaCy says that others are a sentence.
    n_whole: int  #: Without sentence boundaries.
    n_entities: int
    n_unclear: int  #: Texts of no label or several.
    cats: list[dict[str, float]]  #: Distinct ones, of which 100 are enough.


def make_tokenizer(edits: Edits) -> Language:
    """Make the pipeline of a config without components."""
    settings = {**edits.resolve("nlp"), "pipeline": [], "disabled": []}
    settings |= {key: None for key in settings if key.endswith("creation")}
    try:
        return load_model_from_config({"nlp": settings}, auto_fill=True)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(
            f"[nlp] should have a tokenizer that can be made: {str(error)[:500]}"
        ) from error


def read_corpus(
    path: str | Path, nlp: Language, attrs: Collection[str], progress: Progress
) -> Corpus:
    """Read a training corpus once, with some attributes of its words."""
    counts = dict.fromkeys(("n_docs", "n_whole", "n_entities", "n_unclear"), 0)
    cats: list[dict[str, float]] = []

    def read() -> Iterator[Doc]:
        for example in read_examples(path, nlp):
            doc = example.reference
            counts["n_docs"] += len(doc) > 1
            counts["n_whole"] += not doc.has_annotation("SENT_START")
            counts["n_entities"] += len(doc.ents)
            counts["n_unclear"] += not has_one_label(doc.cats)
            if len(cats) < 100 and doc.cats not in cats:
                cats.append(doc.cats)
            yield example.predicted

    vocabulary = collect_vocabulary(progress(read()), [*dict.fromkeys(attrs)])
    if not len(vocabulary.words):
        raise ValueError(f"There is not a token in the corpus '{path}'.")
    return Corpus(path, vocabulary, cats=cats, **counts)


def warn_of_labels(edits: Edits, corpus: Corpus) -> None:
    """Warn of components that can't learn what the corpus has."""
    of = f"the training corpus '{corpus.path}'"
    wrong = {}
    if not corpus.n_entities:
        what = f"entities, but {of} has none (doc.ents). Is it the one that is meant?"
        wrong = dict.fromkeys(edits.find_learning(*RECOGNIZERS), what)
    n_labels = len({label for cats in corpus.cats for label in cats})
    if len(corpus.cats) == 1:
        what = (
            f"labels, but the texts of {of} have all the same "
            f"({quote(corpus.cats[0])}). Is it the one that is meant?"
        )
        wrong |= dict.fromkeys(edits.find_learning(*CLASSIFIERS), what)
    elif corpus.n_unclear or n_labels < 2:
        what = (
            f"one label of each text, of two or more, but {of} has {n_labels}, and "
            f"{corpus.n_unclear:,} texts of none or several. Use textcat_multilabel."
        )
        wrong |= dict.fromkeys(edits.find_learning("textcat"), what)
    edits.warnings += [f"'{name}' learns {what}" for name, what in wrong.items()]


def put_in_joined(edits: Edits, corpus: Corpus | None) -> None:
    """Join sentences in training, and cut texts, where entities are learned."""
    place = edits.resolve("training.train_corpus") or JOINED.section
    there = find_name(edits.resolve(place))
    is_default = not there and "train" in edits.get_block("paths")
    if not (edits.find_learning(*RECOGNIZERS) and (there or is_default)):
        return
    is_read = there in (None, "spacy.Corpus.v1", find_name(JOINED.values))
    if corpus and is_read and 0 < corpus.n_docs == corpus.n_whole:
        edits.notes.append(
            f"[{place}] stays as it is: no Doc of the training corpus has sentence "
            "boundaries, so that there is nothing to join or cut (docs/whole-texts.md)."
        )
        return
    if is_default:
        edits.put(place, {"path": "${paths.train}"})
    edits.put_in(JOINED, place)
    if corpus and is_read and corpus.n_whole:
        edits.warnings.append(
            f"{corpus.n_whole:,} of {corpus.n_docs:,} Docs of the training corpus with "
            f"more than one token have no sentence boundaries: [{place}] neither joins "
            "nor cuts them. If each is a sentence, make them with `sent_starts`: "
            "docs/whole-texts.md."
        )


def find_beside(corpus: str | Path, split: str) -> Path:
    """Find where `spacy hashembeds prepare` writes a split beside a corpus."""
    return Path(corpus).with_name(f"{split}.spacy")


def put_in_paths(edits: Edits, train: str | Path | None) -> None:
    """Name the training corpus, and the development corpus beside it, in [paths] that
    leave them open.
    """
    paths = edits.resolve("paths") or {}
    if train is None or paths.get("train", train) is not None:
        return
    edits.set("paths", "train", str(train), "The corpus that --train names.")
    dev = find_beside(train, "dev")
    if dev.exists() and paths.get("dev", dev) is None:
        edits.set("paths", "dev", str(dev), "It stands beside the training corpus.")
