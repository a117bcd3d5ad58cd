"""The tables of importance weights in a pipeline, and what their keys are made of."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from numpy.typing import NDArray
from spacy.attrs import IDS
from spacy.language import Language
from spacy.strings import StringStore
from spacy.tokens import Doc, Token
from thinc.api import Model
from thinc.types import Ragged

from spacy_hashembeds.arguments import check_attributes
from spacy_hashembeds.papers.hash_embeddings.ngrams import extract_words, hash_ngrams
from spacy_hashembeds.papers.hash_embeddings.weightedhashembed import WeightedColumn

#: Attributes whose values are hashes of text; those of others are numbers.
_TEXTS = {name for name in IDS if hasattr(Token, f"{name.lower()}_")} - {"ENT_IOB"}


@dataclass(frozen=True)
class Attribute:
    """Keys that are the values of a token attribute."""

    attr: str
    ngram_size: int = 1  # how many words a key stands for at most
    has_unknown: bool = True  # True if keys that a dictionary lacks share weights

    def read(self, doc: Doc) -> NDArray:
        """Read the value of each token, as the model does. *Shape:* `(n,)`, uint64."""
        return doc.to_array([IDS[self.attr]]).reshape(-1)

    def spell(self, doc: Doc) -> list[str]:
        """Spell the text of each value."""
        strings = doc.vocab.strings
        return [name_value(self.attr, v, strings) or "" for v in self.read(doc)]


@dataclass(frozen=True)
class WordNgrams:
    """Keys that are sequences of words, hashed. See `Attribute` too."""

    attr: str
    ngram_size: int
    include_punctuation: bool  # and white space
    has_unknown: bool = False

    def read(self, doc: Doc) -> NDArray:
        """Hash all sequences, as `hash_ngrams` does."""
        words = self._read_words(doc)
        return hash_ngrams(words.dataXd, words.lengths, self.ngram_size).keys

    def spell(self, doc: Doc) -> list[str]:
        """Write their words with blanks between, in the same order."""
        keys = self._read_words(doc).dataXd.tolist()
        words = [name_value(self.attr, key, doc.vocab.strings) or "" for key in keys]
        return [
            " ".join(words[start:end])
            for start in range(len(words))
            for end in range(start + 1, min(start + self.ngram_size, len(words)) + 1)
        ]

    def _read_words(self, doc: Doc) -> Ragged:
        return extract_words(
            self.attr, include_punctuation=self.include_punctuation
        ).predict([doc])


#: What the keys of a table stand for. Readers of the same keys are equal.
KeyReader = Attribute | WordNgrams


@dataclass(frozen=True, kw_only=True)
class ImportanceTable:
    """A table of importance weights."""

    component: str
    number: int  # of those in its component that read the same keys, from 1
    reader: KeyReader
    layer: Model  # the `WeightedHashEmbed` that has it

    @property
    def has_dictionary(self) -> bool:
        """True if a dictionary of symbols says which weights a key has."""
        return "symbol_taker" in self.layer.attrs


def name_value(attr: str, value: int, strings: StringStore) -> str | None:
    """Return the text of an attribute's value, or None if nobody knows it."""
    if attr not in _TEXTS:
        return str(value)
    try:
        return strings[value]
    except KeyError:
        return None


def find_tables(nlp: Language) -> list[ImportanceTable]:
    """Find the tables of all components, also of those that are disabled."""
    tables: dict[int, ImportanceTable] = {}
    numbers: Counter[tuple[str, KeyReader]] = Counter()
    for name, pipe in nlp.components:
        model = getattr(pipe, "model", None)
        for reader, layer in _find(model) if isinstance(model, Model) else ():
            if layer.id not in tables:
                numbers[name, reader] += 1
                tables[layer.id] = ImportanceTable(
                    component=name,
                    number=numbers[name, reader],
                    reader=reader,
                    layer=layer,
                )
    return list(tables.values())


def choose_tables(nlp: Language, attr: str | None) -> list[ImportanceTable]:
    """Find the tables of an attribute, or all, and check that they can be used."""
    tables = find_tables(nlp)
    if not tables:
        raise ValueError(
            "The pipeline should have an embedding with importance weights, but has "
            "none. Train one with `@architectures = "
            '"spacy-hashembeds.MultiWeightedHashEmbed.v1"`, or a text classifier with '
            '"spacy-hashembeds.HashNgramTextCat.v1".'
        )
    for table in tables:
        if not table.layer.has_param("P"):
            raise ValueError(
                f"The component '{table.component}' has no weights yet. Train the "
                "pipeline first."
            )
        WeightedColumn(table.layer).check_weights()
    chosen = [t for t in tables if attr is None or t.reader.attr == attr.upper()]
    if not chosen:
        known = ", ".join(sorted({table.reader.attr for table in tables}))
        raise ValueError(
            f"'attr' should be an attribute that has importance weights ({known}), but "
            f"is {attr!r}."
        )
    return chosen


def _find(model: Model) -> Iterator[tuple[KeyReader, Model]]:
    """Find the layers with weights that stand behind a layer that reads keys."""
    for chain in model.walk():
        for extractor in chain.layers:
            if extractor.name == "extract_features":
                yield from _find_attributes(extractor, chain)
            elif extractor.name == "extract_words":
                yield from _find_ngrams(extractor, chain)


def _find_attributes(
    extractor: Model, chain: Model
) -> Iterator[tuple[KeyReader, Model]]:
    for table in chain.walk():
        if table.layers and table.layers[0].name == "ints-getitem":
            # which column the table embeds; its own attribute is for show
            column = int(table.layers[0].attrs["index"][1])
            (attr,) = check_attributes([extractor.attrs["columns"][column]])
            yield from ((Attribute(attr), layer) for layer in _find_layers(table))


def _find_ngrams(extractor: Model, chain: Model) -> Iterator[tuple[KeyReader, Model]]:
    for summing in chain.layers:
        if summing.name.startswith("sum_ngrams"):
            reader = WordNgrams(
                attr=extractor.attrs["attr"],
                ngram_size=summing.attrs["ngram_size"],
                include_punctuation=extractor.attrs["include_punctuation"],
            )
            yield from ((reader, layer) for layer in _find_layers(summing))


def _find_layers(model: Model) -> list[Model]:
    return [node for node in model.walk() if node.name == "weightedhashembed"]
