"""Keep features that a corpus stores, and register extension attributes."""

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
from ..arguments import EXTENSION, SPANS, check_items, check_types, is_feature
from ..files import quote
from .annotation import walk_layers
from .joined import DOCUMENT, is_placed

#: Policies for tokens of both sides of an example that do not align one to one.
MISALIGNED = ("first", "error")


def create_set_extensions(*, names: Sequence[str]) -> Callable[[Any], Any]:
    """Register extension attributes of tokens whose values are stored in Docs.

    Use it in `[nlp.before_creation]`, so that a pipeline that reads such features can
    be loaded and trained without code, or in `[nlp.after_creation]` if another callback
    is there. An attribute that is registered already, for instance with a getter, is
    left as it is.

    names (list[str]): Their names: "is_bold" for `token._.is_bold`, None by default.
    """
    check_items("names of attributes", names=names)
    for i, name in enumerate(names):
        check_types(str, "the name of an attribute", **{f"names[{i}]": name})

    def set_extensions(target: Any) -> Any:
        register_extensions(names)
        return target

    return set_extensions


def register_extensions(names: Iterable[str]) -> list[str]:
    """Register those extension attributes of tokens that are not, with the default
    None, and return their names.
    """
    new = [name for name in dict.fromkeys(names) if not Token.has_extension(name)]
    for name in new:
        Token.set_extension(name, default=None)
    return new


def find_features(nlp: Language) -> list[str]:
    """Find the features that the embedders of a pipeline read, sorted by name."""
    extractors = (x for _, x in walk_layers(nlp) if x.name == "extract_features")
    return sorted(
        {*filter(is_feature, chain(*(x.attrs["columns"] for x in extractors)))}
    )


def find_kept(nlp: Language) -> list[str]:
    """Find the features that the readers of a pipeline's config keep."""
    corpora = nlp.config.interpolate().get("corpora") or {}
    blocks = [block for block in corpora.values() if isinstance(block, dict)]
    # readers of other packages may have arguments of these names, of other kinds
    keeps, columns = ([x.get(key) for x in blocks] for key in ("keep", "features"))
    kept = [attr for x in keeps if isinstance(x, list | tuple) for attr in x]
    kept += [EXTENSION + name for x in columns if isinstance(x, dict) for name in x]
    return sorted({attr for attr in kept if is_feature(attr)})


def find_stored(doc: Doc) -> set[str]:
    """Find the features that a Doc stores."""
    stored = {attr for attr, _ in read_stored(doc)}
    return stored | {attr for key in doc.spans if is_feature(attr := SPANS + key)}


def read_stored(doc: Doc) -> Iterator[tuple[str, Any]]:
    """Yield the values of extension attributes that a Doc stores, with their names."""
    data: Any = doc.user_data
    for key in filter(is_placed, data):
        _, name, _, end = key
        if end is None and name != DOCUMENT and is_feature(attr := EXTENSION + name):
            yield attr, data[key]


def store_values(doc: Doc, name: str, values: Iterable[Value]) -> None:
    """Store values of an extension attribute of all tokens, except None and ""."""
    data: Any = doc.user_data
    for token, value in zip(doc, values, strict=True):
        if value is not None and value != "":
            data["._.", name, token.idx, None] = value


def read_values(doc: Doc, attr: str) -> list[Any]:
    """Read the values that a Doc stores of a feature, which may be unregistered."""
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

    source (Doc, optional): A Doc with the tokens of the gold side, which has them. By
        default, the gold side itself.
    """
    if attrs:
        gold = example.reference if source is None else source
        copy_features(gold, example.predicted, attrs, _align(example, misaligned))


def copy_features(
    source: Doc, doc: Doc, attrs: Sequence[str], aligned: NDArray
) -> None:
    """Copy features to a Doc, for whose tokens `aligned` has those of the source, or -1
    for none. *Shape:* `(n,)`, integers.
    """
    for attr in attrs:
        if attr.startswith(SPANS):
            _copy_spans(attr.removeprefix(SPANS), source, doc, aligned)
        else:
            _copy_values(attr.removeprefix(EXTENSION), source, doc, aligned)


def _align(example: Example, misaligned: str) -> NDArray:
    """Find the gold token of each predicted token, or -1. *Shape:* `(n,)`."""
    doc, gold = example.predicted, example.reference
    if np.array_equal(doc.to_array(ORTH), gold.to_array(ORTH)):
        return np.arange(len(doc))
    alignment = example.alignment
    if misaligned == "error":
        both = (alignment.x2y, doc), (alignment.y2x, gold)
        for array, of in both:
            for i in np.flatnonzero(array.lengths > 1)[:1]:
                raise ValueError(
                    "'misaligned' is \"error\", and the tokens of the corpus and of "
                    f"the pipeline differ at {of[int(i)].text!r} in {quote(of.text)}. "
                    'Set misaligned = "first", or use the tokens of the corpus.'
                )
    # spaCy counts a last token of white space twice if a part of it aligns
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
    # corpora may have a group only where there is a span
    for span in source.spans.get(key, ()):
        inside = np.flatnonzero((aligned >= span.start) & (aligned < span.end))
        if len(inside):
            start, end = int(inside[0]), int(inside[-1]) + 1
            # as texts, which the vocab of `doc` may lack
            names = {"kb_id": span.kb_id_, "span_id": span.id_}
            spans.append(Span(doc, start, end, span.label_, **names))
    doc.spans[key] = spans
