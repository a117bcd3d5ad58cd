"""What is computed from parameters, cached for as long as they are what they were."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from thinc.api import Model

from ..kernels import locks
from ..kernels.threads import one_thread
from .frozenparams import FrozenParams, can_freeze

_T = TypeVar("_T")


class Derived(Generic[_T]):
    """Caches what was computed from the parameters of some layers.

    Computed when it is first asked for, and anew after somebody got at them: see
    `frozenparams.py`. Neither copied, pickled nor saved with a model.
    """

    def __init__(self) -> None:
        self._params: FrozenParams | None = None
        self._key: Sequence[Model] = ()

    def __reduce__(self) -> tuple:
        return type(self), ()

    @property
    def cached(self) -> _T | None:
        """What is cached, for as long as nobody got at the parameters."""
        return None if self._params is None else self._params.value

    def find(self, models: Sequence[Model], key: Sequence[Model] = ()) -> _T | None:
        """Find what is cached, if the layers still have the parameters it is of.

        key (Sequence[Model]): Other layers, on whose order it depends.
        """
        params = self._params
        if params is None or self._key != key:
            return None
        value: _T | None = params.value  # before another thread may release it
        return value if params.are_current(models) else None

    def get_or_compute(
        self,
        models: Sequence[Model],
        compute: Callable[[], _T],
        key: Sequence[Model] = (),
    ) -> _T | None:
        """Get what is cached, or compute it on one thread; None if it can't be.

        compute (Callable[[], _T]): Checks their parameters, and computes it from them.
        """
        found = self.find(models, key)
        if found is not None or not can_freeze(models):
            return found
        # the first computes, and others wait: it takes less time than without
        with locks.frozen_params:
            found = self.find(models, key)
            if found is not None:
                return found
            params = FrozenParams(models)
            self._params, self._key = params, key
            try:
                with one_thread():
                    value = compute()
            except BaseException:
                params.release()
                raise
            if not params.are_current(models):
                return None  # another thread has set some meanwhile
            params.value = value
            return value
