"""Copy stored features of a corpus, and register extension attributes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDX, ORTH
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.training import Example

from ..architectures.features import Value, get_stored, read_feature
from ..arguments import EXTENSION, SPANS, check_items, is_feature
from ..files import quote
from .annotation import walk_layers
from .joined import DOCUMENT, is_span_key


def create_set_extensions(*, names: Sequence[str]) -> Callable[[Any], Any]:
    """Register extension attributes of tokens whose values are stored in Docs.

    Use it in `[nlp.before_creation]`, or `[nlp.after_creation]` if that is taken, to
    load and train pipelines with such features without code. No-op for attributes
    already registered.

    names (list[str]): Attribute names: "is_bold" for `token._.is_bold`. Values default
        to None.
    """
    check_items("names of attributes", names=names)

    def set_extensions(target: Any) -> Any:
        register_extensions(names)
        return target

    return set_extensions


def register_extensions(names: Iterable[str]) -> list[str]:
    """Register missing token extension attributes, with the default None. Return the
    names of new ones.
    """
    new = [name for name in dict.fromkeys(names) if not Token.has_extension(name)]
    for name in new:
        Token.set_extension(name, default=None)
    return new


def find_features(nlp: Language) -> list[str]:
    """Return the features read by a pipeline's embedders, sorted."""
    extractors = (x for _, x in walk_layers(nlp) if x.name == "extract_features")
    return sorted(
        {*filter(is_feature, chain(*(x.attrs["columns"] for x in extractors)))}
    )


def find_reader_features(nlp: Language) -> list[str]:
    """Return the features kept by the corpus readers of a pipeline's config."""
    corpora = nlp.config.interpolate().get("corpora") or {}
    blocks = [block for block in corpora.values() if isinstance(block, dict)]
    # other packages' readers may have arguments of these names, of other types
    keeps, columns = ([x.get(key) for x in blocks] for key in ("keep", "features"))
    kept = [attr for x in keeps if isinstance(x, list | tuple) for attr in x]
    kept += [EXTENSION + name for x in columns if isinstance(x, dict) for name in x]
    return sorted({attr for attr in kept if is_feature(attr)})


def find_stored(doc: Doc) -> set[str]:
    """Return the features stored in a Doc."""
    stored = {attr for attr, _ in read_stored(doc)}
    return stored | {attr for key in doc.spans if is_feature(attr := SPANS + key)}


def read_stored(doc: Doc) -> Iterator[tuple[str, Any]]:
    """Yield name and value of token extension attributes stored in a Doc."""
    data: Any = doc.user_data
    for key in filter(is_span_key, data):
        _, name, _, end = key
        if end is None and name != DOCUMENT and is_feature(attr := EXTENSION + name):
            yield attr, data[key]


def store_values(doc: Doc, name: str, values: Iterable[Value]) -> None:
    """Store token values of an extension attribute, except None and ""."""
    data: Any = doc.user_data
    for token, value in zip(doc, values, strict=True):
        if value is not None and value != "":
            data["._.", name, token.idx, None] = value


def read_values(doc: Doc, attr: str) -> list[Any]:
    """Read stored values of a feature, even if unregistered."""
    if attr.startswith(SPANS):
        is_stored = attr.removeprefix(SPANS) in doc.spans
        return read_feature(doc, attr) if is_stored else [None] * len(doc)
    values = get_stored(doc, attr.removeprefix(EXTENSION))
    return [x.item() if isinstance(x, np.generic) else x for x in values]


def keep_features(
    example: Example,
    attrs: Sequence[str],
    *,
    source: Doc | None = None,
    misaligned: str = "first",
) -> None:
    """Copy features to the predicted side of an example.

    source (Doc, optional): A Doc with the gold tokens. Default: the gold side.
    """
    if attrs:
        gold = example.reference if source is None else source
        copy_features(gold, example.predicted, attrs, _align(example, misaligned))


def copy_features(
    source: Doc, doc: Doc, attrs: Sequence[str], aligned: NDArray
) -> None:
    """Copy features to a Doc. `aligned` holds the source token of each token, or -1.
    *Shape:* `(n,)`, integers.
    """
    for attr in attrs:
        if attr.startswith(SPANS):
            _copy_spans(attr.removeprefix(SPANS), source, doc, aligned)
        else:
            _copy_values(attr.removeprefix(EXTENSION), source, doc, aligned)


def _align(example: Example, misaligned: str) -> NDArray:
    """Return the gold token of each predicted token, or -1. *Shape:* `(n,)`."""
    doc, gold = example.predicted, example.reference
    if np.array_equal(doc.to_array(ORTH), gold.to_array(ORTH)):
        return np.arange(len(doc))
    alignment = example.alignment
    if misaligned == "error":
        both = (alignment.x2y, doc), (alignment.y2x, gold)
        for array, side in both:
            for i in np.flatnonzero(array.lengths > 1)[:1]:
                raise ValueError(
                    "'misaligned' is \"error\", but the tokens of corpus and pipeline "
                    f"differ at {side[int(i)].text!r} in {quote(side.text)}. "
                    'Set misaligned = "first", or use the tokens of the corpus.'
                )
    # spaCy duplicates a final white space token that is partially aligned
    lengths = alignment.x2y.lengths[: len(doc)]
    starts, has_gold = np.cumsum(lengths) - lengths, lengths > 0
    found = np.full(len(doc), -1)
    found[has_gold] = alignment.x2y.data[starts[has_gold]]
    return found


def _copy_values(name: str, source: Doc, doc: Doc, aligned: NDArray) -> None:
    data: Any = source.user_data
    new: Any = doc.user_data
    is_aligned = aligned >= 0
    starts = source.to_array(IDX)[aligned[is_aligned]]
    places = doc.to_array(IDX)[is_aligned]
    for start, place in zip(starts.tolist(), places.tolist(), strict=True):
        key = "._.", name, start, None
        if key in data:
            new["._.", name, place, None] = data[key]


def _copy_spans(key: str, source: Doc, doc: Doc, aligned: NDArray) -> None:
    spans = []
    # the group may be missing from Docs without spans
    for span in source.spans.get(key, ()):
        inside = np.flatnonzero((aligned >= span.start) & (aligned < span.end))
        if len(inside):
            start, end = int(inside[0]), int(inside[-1]) + 1
            # strings, since hashes may be missing from the vocab of `doc`
            names = {"kb_id": span.kb_id_, "span_id": span.id_}
            spans.append(Span(doc, start, end, span.label_, **names))
    doc.spans[key] = spans
