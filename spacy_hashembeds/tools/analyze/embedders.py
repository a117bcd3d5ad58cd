"""Embedders of a pipeline, their table sizes, and collisions on a vocabulary."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.util import dot_to_dict, load_model_from_config, walk_dict
from thinc.api import Config, Model

from ...architectures.descriptions import find_table_kinds, get_descriptions
from ...architectures.subword_embed import NAME as SUBWORDS
from ...architectures.symbols import load_symbols
from ...arguments import check_attributes, check_types
from ...layers.tableembed import HashColumn, TableColumn
from ...layers.vocabulary import Symbols, assign_symbols
from ...loading import (
    describe_config_error,
    explain_missing_code,
    load_config,
    load_trained,
)
from .corpus import Vocabulary, list_rows

ConfigSource = str | Path | dict[str, Any]
ModelSource = str | Path | Language
#: Config settings, with dotted keys as for `spacy train`.
Overrides = Mapping[str, Any]
#: Measures by name, of JSON types.
Measures = dict[str, Any]
#: The vocabulary of each split, including "train".
Vocabularies = Mapping[str, Vocabulary]

COUNT_SYMBOLS = "spacy-hashembeds.count_symbols.v1"


def load_pipeline(
    *, config: ConfigSource | None, model: ModelSource | None, overrides: Overrides
) -> Language:
    """Load a pipeline, or build one without initializing it. Default: a blank one."""
    if model is not None and (config is not None or overrides):
        raise ValueError("Pass 'model', or 'config' and 'overrides', not both.")
    if model is not None:
        check_types(Language | str | Path, "a pipeline, or its path", model=model)
        return model if isinstance(model, Language) else load_trained(model)
    name = config if isinstance(config, str | Path) else "config"
    try:
        if isinstance(config, str | Path):
            loaded = load_config(config, overrides)
        else:
            loaded = Config({"nlp": {"lang": "xx"}} if config is None else config)
            loaded = loaded.merge(dot_to_dict(dict(overrides)))
        return load_model_from_config(loaded, auto_fill=True)
    # AttributeError: the language is another module of spacy.lang
    except (ValueError, ImportError, AttributeError) as error:
        reason = explain_missing_code(error) or describe_config_error(error)
        raise ValueError(
            f"'{name}' should be a spaCy config, but no pipeline can be built from it: "
            f"{reason}"
        ) from error


class MeasuredEmbedder(NamedTuple):
    """An embedding layer of a pipeline, with a table for each attribute."""

    component: str
    tables: list[TableColumn]
    has_others: bool  #: True if word vectors or character n-grams are mixed in.


def find_models(nlp: Language) -> list[tuple[str, Model]]:
    """Return each component's name and model."""
    models = [(name, getattr(pipe, "model", None)) for name, pipe in nlp.pipeline]
    return [(name, model) for name, model in models if isinstance(model, Model)]


def find_embeddings_in(model: Model) -> list[Model]:
    """Return layers that are the "embed" of a tok2vec, or have a description."""
    names = {description.name for description in get_descriptions()}
    return [
        node.get_ref("embed") if node.has_ref("embed") else node
        for node in model.walk()
        if node.has_ref("embed") or node.name in names
    ]


def find_embedders(nlp: Language) -> list[MeasuredEmbedder]:
    """Find embedders with a table for each attribute; shared ones are listed once."""
    kinds = find_table_kinds()
    found: dict[int, MeasuredEmbedder] = {}
    for name, model in find_models(nlp):
        for embedding in find_embeddings_in(model):
            nodes = list(embedding.walk())
            names = {node.name for node in nodes}
            layers = [node for node in nodes if node.name in kinds]
            extractors = [node for node in nodes if node.name == "extract_features"]
            if "charembed" in names or len(extractors) != 1 or not layers:
                continue
            columns = extractors[0].attrs["columns"]
            attrs = check_attributes(columns, with_features=True)
            tables = [kinds[n.name](n, attrs[n.attrs["column"]]) for n in layers]
            has_others = not names.isdisjoint({"static_vectors", SUBWORDS})
            found.setdefault(embedding.id, MeasuredEmbedder(name, tables, has_others))
    return list(found.values())


def fill_symbols(
    embedder: MeasuredEmbedder, nlp: Language, train: Vocabulary
) -> list[TableColumn]:
    """Return copies of the tables, with the symbols that initialization would set."""
    tables = []
    for table in embedder.tables:
        attrs = table.model.attrs
        if "symbol_setter" in attrs and attrs["symbols"] is None:
            layer = table.model.copy()
            symbols = _find_symbols(embedder.component, table.attr, nlp, train)
            assign_symbols(layer, symbols)
            table = type(table)(layer, table.attr)
        tables.append(table)
    return tables


def _find_symbols(
    component: str, attr: str, nlp: Language, train: Vocabulary
) -> Symbols:
    config = nlp.config.interpolate()
    for keys, path in walk_dict(config["components"][component]):
        if keys[-1] == "tables" and path:
            return load_symbols(path).get_table(attr)
    callback = config["initialize"].get("before_init") or {}
    if callback.get("@callbacks") != COUNT_SYMBOLS:
        raise ValueError(
            f"The table for {attr} in '{component}' has no symbols. Set "
            f'[initialize.before_init] to @callbacks = "{COUNT_SYMBOLS}", or the '
            "argument `tables` to a file made by `spacy hashembeds tables`."
        )
    values, counts = train.count_values(attr)
    return Symbols(values[counts >= callback.get("min_freq", 10)])


def measure_size(table: TableColumn, n_values: int) -> Measures:
    """Return the size of a table, and of "standard" embeddings of the same width with a
    row for each value.
    """
    return {
        "attr": table.attr,
        "kind": table.kind,
        "rows": table.n_rows,
        "width": table.row_width,
        "parameters": sum(table.parts.values()),
        "parts": table.parts,
        "standard": {"vocabulary": n_values * table.row_width},
    }


def measure_table(table: TableColumn, vocabularies: Vocabularies) -> Measures:
    """Measure a table, whose symbols are set, on the splits of a corpus.

    RETURNS (Measures): The result of `measure_size`; "values", their number in the
        training corpus; "sharing_code", the number of values with the vector of
        another; "sharing_…", the number that share a part of the code; "expected_…",
        the same for ideal hashing.
        Hash tables: "rows_never_reached" by any hash; "rows_reached_by_hash" and
        "sharing_row_by_hash" for each hash.
        Tables with symbols: "unknown_values", which share a row; "unknown_in_train"
        etc., the share of unknown tokens in each split, 0 to 1.
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    found = {**measure_size(table, len(values)), "values": len(values)}
    if isinstance(table, HashColumn):
        hashed = table.find_hashed(values)
        found |= {
            "seed": table.seed,
            "num_hashes": table.num_hashes,
            "rows_never_reached": table.n_rows - len(np.unique(hashed)),
            "rows_reached_by_hash": [len(np.unique(rows)) for rows in hashed.T],
            "sharing_row_by_hash": [count_sharing(rows[:, None]) for rows in hashed.T],
        }
    parts = {**table.split_code(values), "code": table.identify(values)}
    found |= {f"sharing_{name}": count_sharing(part) for name, part in parts.items()}
    found |= {f"expected_{k}": n for k, n in table.expect(values).items()}
    if (unknown := table.is_unknown(values)) is not None:
        found["unknown_values"] = int(unknown.sum())
        for split, vocabulary in vocabularies.items():
            values, counts = vocabulary.count_values(table.attr)
            n_unknown = counts[table.is_unknown(values)].sum()
            found[f"unknown_in_{split}"] = float(n_unknown / max(counts.sum(), 1))
    return found


def measure_words(tables: Sequence[TableColumn], vocabulary: Vocabulary) -> Measures:
    """Count "words" distinct by ORTH and attributes; those "sharing_codes" with another
    in all tables; and those of them with the "same_attributes".
    """
    columns = vocabulary.get_columns(["ORTH", *(table.attr for table in tables)])
    _, *attributes = np.unique(columns, axis=0).T
    pairs = zip(tables, attributes, strict=True)
    codes = [table.identify(values) for table, values in pairs]
    return {
        "words": len(codes[0]),
        "same_attributes": count_sharing(np.stack(attributes, axis=1)),
        "sharing_codes": count_sharing(np.hstack(codes)),
    }


def count_sharing(codes: NDArray) -> int:
    """Count the codes that equal another. *Shape:* `(n, columns)`, uint64."""
    return sum(n for n in Counter(list_rows(codes)).values() if n > 1)
