"""Read columns of keys from Docs: spaCy's attributes of tokens, and features.

A feature is an extension attribute of tokens, "_.is_bold" for `token._.is_bold`, or a
group of spans, "spans.names" for `doc.spans["names"]`. In a group, the value of a token
is "B-LABEL" if a span begins at it, "I-LABEL" if it is inside one, all of them joined,
such as "B-CITY|I-COMPANY", if several spans cover it, and None if no span does.

Values are bool, int, str or None. The key of a text is its hash, which is the same in
each process; the key of a number is that of its digits, where True is 1; and None, like
an empty text, has the key 0.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat
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

#: Value of a feature.
Value = bool | int | str | None

_TYPES = {bool, int, str, type(None)}

# Docs that components did not annotate, such as those that initialise models.
_samples: WeakSet[Doc] = WeakSet()


def extract_features(attrs: Sequence[str]) -> Model[list[Doc], list[Ints2d]]:
    """Read a column of keys for each attribute, as spaCy's `FeatureExtractor` does."""
    model = FeatureExtractor(list(attrs))
    if not any(map(is_feature, attrs)):
        return model
    return Model(model.name, forward, init=init, attrs={**model.attrs})


def forward(
    model: Model[list[Doc], list[Ints2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Ints2d], Callable[[list[Ints2d]], list[Doc]]]:
    attrs, ops = model.attrs["columns"], model.ops
    keys: list[Any] = [read_keys([doc], attrs) for doc in docs]
    return [ops.asarray2i(of_doc, dtype="uint64") for of_doc in keys], lambda dX: []


def init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    """Check that extension attributes are registered. Allow that the Docs in `X` lack
    features: all models around predict them too, to infer shapes, before components
    that set features have run.
    """
    check_registered(model.attrs["columns"])
    allow_missing(X or ())


def check_registered(attrs: Iterable[str]) -> None:
    """Check that the extension attributes among these are registered."""
    for name in list_extensions(attrs):
        _get_extension(EXTENSION + name)


def allow_missing(docs: Iterable[Doc]) -> None:
    """Read features that Docs lack as None: no component has set them yet."""
    _samples.update(docs)


def read_keys(docs: Sequence[Doc], attrs: Sequence[int | str]) -> NDArray:
    """Read attributes of all tokens. *Shape:* `(n, columns)`, uint64."""
    # IDs are faster than names, which are looked up for each Doc
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
            of_docs = (_read_or_allow(doc, attr) for doc in docs)
            values = list(chain.from_iterable(of_docs))
            hashes = {value: _hash(value, attr) for value in {*values}}
            keys[:, i] = np.fromiter(map(hashes.__getitem__, values), "uint64")
    return keys


def _read_or_allow(doc: Doc, attr: str) -> list[Value]:
    try:
        return read_feature(doc, attr)
    except Exception:  # a getter may raise any error
        if doc not in _samples:
            raise
        return [None] * len(doc)


def _hash(value: Value, attr: str) -> int:
    if value is None or value == "":
        return 0
    try:
        text = str.__str__(value) if isinstance(value, str) else str(int(value))
        return int(hash_string(text))  # which takes no subclass of str
    except ValueError as error:  # too many digits, or half of a surrogate pair
        message = f"'{attr}' has a value that can't be hashed: {error}."
        raise ValueError(message) from error


def read_feature(doc: Doc, attr: str) -> list[Value]:
    """Read the value of a feature, such as "_.is_bold", of each token."""
    if len(doc) == 0:
        return []
    return (_read_spans if attr.startswith(SPANS) else _read_extension)(doc, attr)


def _read_extension(doc: Doc, attr: str) -> list[Value]:
    default, method, getter, _ = _get_extension(attr)
    if getter is not None:
        values = list(map(getter, doc))
    elif method is not None:
        raise ValueError(
            f"'attrs' holds '{attr}', which is a method and has no value. Register an "
            "attribute with a getter that calls it."
        )
    else:
        values = get_stored(doc, attr.removeprefix(EXTENSION), default)
    if not {*map(type, values)} <= _TYPES:
        values = list(map(_check_value, doc, repeat(attr), values))
    return values


def get_stored(doc: Doc, name: str, default: Any = None) -> list[Any]:
    """Get the value that a Doc stores of an extension attribute for each token, as
    `token._` does, without an object for each.
    """
    get: Any = doc.user_data.get
    starts = doc.to_array(IDX).tolist()
    places = zip(repeat("._."), repeat(name), starts, repeat(None))
    return list(map(get, places, repeat(default)))


def _get_extension(attr: str) -> tuple:
    name = attr.removeprefix(EXTENSION)
    if not Token.has_extension(name):
        raise ValueError(
            f"The pipeline reads the extension attribute '{attr}' of each token, which "
            "nobody has registered in this process. If it has a getter, import the "
            "file that registers it (--code). If its values are stored, let the config "
            'register it, by [nlp.before_creation] @callbacks = "spacy-hashembeds.'
            f'set_extensions.v1", names = ["{name}"], and readers keep it in training, '
            f'by keep = ["{attr}"].'
        )
    return Token.get_extension(name)


def has_getter(attr: str) -> bool:
    """Return True if a feature is computed, so that Docs store no value."""
    name = attr.removeprefix(EXTENSION)
    return Token.has_extension(name) and Token.get_extension(name)[2] is not None


def _check_value(token: Token, attr: str, value: Any) -> Value:
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, bool | int | str | None):
        raise TypeError(
            f"'{attr}' should be a bool, an int, a str or None, but is {quote(value)} "
            f"for the token {token.text!r} ({token.i}). Make it a category by a getter:"
            "\n\ndef get_kind(token):\n"
            f'    return "large" if token.{attr} > 12 else "small"\n'
            'Token.set_extension("kind", getter=get_kind)\n\n'
            'and give "_.kind" in `attrs`.'
        )
    return value


def _read_spans(doc: Doc, attr: str) -> list[Value]:
    key = attr.removeprefix(SPANS)
    if key not in doc.spans:
        raise ValueError(
            f"The pipeline reads the group of spans '{key}', which the Doc "
            f"{quote(doc.text)} does not have. Put the component that sets it ahead, "
            "and in [training] annotating_components; or keep it from the corpus, by "
            f'`keep = ["{attr}"]` of a reader; or set `doc.spans["{key}"] = []` where '
            "there are no spans."
        )
    # in alphabetical order, which does not depend on that of the spans
    tags: dict[int, set[str]] = {}
    for span in doc.spans[key]:
        for i in range(span.start, span.end):
            begins = "B" if i == span.start else "I"
            tags.setdefault(i, set()).add(f"{begins}-{span.label_}")
    return ["|".join(sorted(tags[i])) if i in tags else None for i in range(len(doc))]
