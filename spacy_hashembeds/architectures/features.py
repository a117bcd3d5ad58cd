"""Read columns of keys from Docs: token attributes and features.

A feature is a token extension attribute ("_.is_bold" for `token._.is_bold`) or a span
group ("spans.names" for `doc.spans["names"]`). For a span group, the value of a token
is "B-LABEL" at the start of a span, "I-LABEL" inside a span, the sorted tags joined by
"|" if several spans cover the token ("B-CITY|I-COMPANY"), and None outside of spans.

Values are bool, int, str or None. The key of a string is its hash, stable across
processes. Integers and booleans are hashed as decimal strings (True as "1"). None and
the empty string have key 0.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDX, intify_attr
from spacy.ml.featureextractor import FeatureExtractor
from spacy.strings import hash_string  # type: ignore[attr-defined]
from spacy.tokens import Doc, Token
from thinc.api import Model
from thinc.types import Ints2d

from ..arguments import EXTENSION, SPANS, is_feature, list_extensions
from ..files import quote

#: Feature value.
Value = bool | int | str | None

_TYPES = {bool, int, str, type(None)}

# Docs not annotated by components, such as those used to initialize models.
_unannotated: WeakSet[Doc] = WeakSet()


def extract_features(attrs: Sequence[str]) -> Model[list[Doc], list[Ints2d]]:
    """Build a layer like spaCy's `FeatureExtractor` that reads features too."""
    model = FeatureExtractor(list(attrs))
    if not any(map(is_feature, attrs)):
        return model
    return Model(model.name, forward, init=init, attrs={**model.attrs})


def forward(
    model: Model[list[Doc], list[Ints2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Ints2d], Callable[[list[Ints2d]], list[Doc]]]:
    attrs, ops = model.attrs["columns"], model.ops
    keys: list[Any] = [read_keys([doc], attrs) for doc in docs]
    return [ops.asarray2i(array, dtype="uint64") for array in keys], lambda dX: []


def init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    """Check that extension attributes are registered, and allow missing features in
    `X`, which models process for shape inference before components have set features.
    """
    check_registered(model.attrs["columns"])
    allow_missing(X or ())


def check_registered(attrs: Iterable[str]) -> None:
    """Raise a ValueError if an extension attribute is not registered."""
    for name in list_extensions(attrs):
        _get_extension(EXTENSION + name)


def allow_missing(docs: Iterable[Doc]) -> None:
    """Read missing features of these Docs as None instead of raising an error."""
    _unannotated.update(docs)


def read_keys(docs: Sequence[Doc], attrs: Sequence[int | str]) -> NDArray:
    """Read the keys of all tokens. *Shape:* `(n, columns)`, uint64."""
    # IDs are faster: spaCy looks up names again for each Doc
    attr_ids = [intify_attr(attr) for attr in attrs]
    if None not in attr_ids:
        keys = np.concatenate([doc.to_array(attr_ids) for doc in docs])
        return keys.reshape(-1, len(attr_ids))
    keys = np.empty((sum(map(len, docs)), len(attrs)), dtype="uint64")
    known = [i for i, attr_id in enumerate(attr_ids) if attr_id is not None]
    if known:
        keys[:, known] = read_keys(docs, [attr_ids[i] for i in known])
    for i, attr in enumerate(map(str, attrs)):
        if attr_ids[i] is None:
            values = [value for doc in docs for value in _read_or_allow(doc, attr)]
            hashes = {value: _hash(value) for value in {*values}}
            keys[:, i] = np.fromiter(map(hashes.__getitem__, values), "uint64")
    return keys


def _read_or_allow(doc: Doc, attr: str) -> list[Value]:
    try:
        return read_feature(doc, attr)
    except Exception:  # a getter may raise any error
        if doc not in _unannotated:
            raise
        return [None] * len(doc)


def _hash(value: Value) -> int:
    if value is None or value == "":
        return 0
    # hash_string refuses subclasses of str
    text = str.__str__(value) if isinstance(value, str) else str(int(value))
    return int(hash_string(text))


def read_feature(doc: Doc, attr: str) -> list[Value]:
    """Read the value of a feature, such as "_.is_bold", for each token."""
    if len(doc) == 0:
        return []
    return (_read_spans if attr.startswith(SPANS) else _read_extension)(doc, attr)


def _read_extension(doc: Doc, attr: str) -> list[Value]:
    default, _, getter, _ = _get_extension(attr)
    if getter is not None:
        values = list(map(getter, doc))
    else:
        values = get_stored(doc, attr.removeprefix(EXTENSION), default)
    if not {*map(type, values)} <= _TYPES:
        values = list(map(_check_value, doc, repeat(attr), values))
    return values


def get_stored(doc: Doc, name: str, default: Any = None) -> list[Any]:
    """Read stored values of an extension attribute. Faster than `token._`."""
    get: Any = doc.user_data.get
    starts = doc.to_array(IDX).tolist()
    keys = zip(repeat("._."), repeat(name), starts, repeat(None))
    return list(map(get, keys, repeat(default)))


def _get_extension(attr: str) -> tuple:
    name = attr.removeprefix(EXTENSION)
    if not Token.has_extension(name):
        raise ValueError(
            f"The pipeline reads the token extension attribute '{attr}', which is not "
            "registered in this process. If it has a getter, import the file that "
            "registers it (--code). If Docs store its values, register it in the "
            'config: [nlp.before_creation] @callbacks = "spacy-hashembeds.'
            f'set_extensions.v1", names = ["{name}"]; and set keep = ["{attr}"] in the '
            "readers."
        )
    return Token.get_extension(name)


def has_getter(attr: str) -> bool:
    """True if a feature is computed by a getter, not stored in Docs."""
    name = attr.removeprefix(EXTENSION)
    return Token.has_extension(name) and Token.get_extension(name)[2] is not None


def _check_value(token: Token, attr: str, value: Any) -> Value:
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, bool | int | str | None):
        raise TypeError(
            f"'{attr}' should be a bool, an int, a str or None, but is {quote(value)} "
            f"for token {token.text!r} ({token.i}). Map it to categories in a getter: "
            "see docs/features.md."
        )
    return value


def _read_spans(doc: Doc, attr: str) -> list[Value]:
    key = attr.removeprefix(SPANS)
    if key not in doc.spans:
        raise ValueError(
            f"The pipeline reads the span group '{key}', which is missing from the Doc "
            f"{quote(doc.text)}. Add the component that sets it before, and to "
            f'[training] annotating_components; or set `keep = ["{attr}"]` in the '
            f'reader; or set `doc.spans["{key}"] = []` if there are no spans.'
        )
    tags: dict[int, set[str]] = {}
    for span in doc.spans[key]:
        for i in range(span.start, span.end):
            begins = "B" if i == span.start else "I"
            tags.setdefault(i, set()).add(f"{begins}-{span.label_}")
    return ["|".join(sorted(tags[i])) if i in tags else None for i in range(len(doc))]
