"""Models that take something of a corpus, or of a file, when they are initialised."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from thinc.api import Model

from ..thinc_internals import partial


@dataclass
class Source:
    """Source of, for instance, a model's symbols when it is initialised.

    Not before: what a token's norm is depends on lookups and on the tokenizer, which
    spaCy initialises after `before_init` and before any component.

    is_for_once (bool): Whether to forget it then, and to leave it out of pickles: a
        trained model shall not hold on to a corpus and a pipeline. One that waits can
        be pickled, but waits in vain.
    """

    get: Callable[..., Any] | None = None
    is_for_once: bool = True

    def __deepcopy__(self, memo: Any) -> "Source":
        return replace(self)

    def __reduce__(self) -> tuple:
        get = None if self.is_for_once else self.get
        return Source, (get, self.is_for_once)


def wait_for(
    name: str, model: Model, hand_out: Callable, source: Source | None = None
) -> None:
    """Have a model hand out what it gets of its attribute `name` when initialised.

    `hand_out` is called before the layers are initialised, with the model, its
    `Source.get`, which is None if nobody has set it, and the sample of input.
    """
    model.attrs[name] = source or Source()
    model.init = partial(_init, name, hand_out, model.init)


def _init(
    name: str,
    hand_out: Callable,
    init_rest: Callable,
    model: Model,
    X: Any = None,
    Y: Any = None,
) -> None:
    source = model.attrs[name]
    hand_out(model, source.get, X)
    if source.is_for_once:
        model.attrs[name] = Source()
    init_rest(model, X, Y)
