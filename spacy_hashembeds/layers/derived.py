"""What is computed from weights, kept for as long as they are what they were."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from thinc.api import Model

from ..kernels.locks import Lock
from .watch import State, get_state, identify, is_shared

_T = TypeVar("_T")

# a minute: to compute anything of this kind takes less than a second
_lock = Lock(timeout=60)


class Derived(Generic[_T]):
    """Keeps what was computed from the weights of some layers.

    It is computed when it is first asked for, and anew when they change, but not while
    somebody else has a hand on them: see `watch.py`. Neither copied, pickled nor saved
    with a model.

    kept (tuple): The state of the weights, and what came of it. One object, so that
        threads never see the one without the other.
    """

    def __init__(self) -> None:
        self.kept: tuple[State, _T] | None = None

    def __reduce__(self) -> tuple:
        return type(self), ()

    def get_or_compute(
        self,
        models: Sequence[Model],
        check: Callable[[], None],
        compute: Callable[[], _T],
        is_worth_it: Callable[[], bool] = lambda: True,
    ) -> _T | None:
        """Get what is kept, or compute it, or None if it can't be used this time.

        models (Sequence[Model]): The layers.
        check (Callable[[], None]): Checks their weights once they arrive.
        compute (Callable[[], _T]): Computes it from weights that are checked.
        is_worth_it (Callable[[], bool]): Whether to do that at all.
        """
        found = self._find(models)
        if found is not None:
            return found
        check()
        # one thread computes, and the others wait: it takes less time than without
        with _lock.hold():
            found = self._find(models)
            if found is None:
                self.kept = None  # lets go of what is out of date
                # asked first: to see who holds the weights takes longer
                found = self._keep(models, compute) if is_worth_it() else None
        return found

    def _find(self, models: Sequence[Model]) -> _T | None:
        kept = self.kept
        return kept[1] if kept is not None and kept[0] == get_state(models) else None

    def _keep(self, models: Sequence[Model], compute: Callable[[], _T]) -> _T | None:
        state = get_state(models)  # before looking who holds them
        if state is None or is_shared(models):
            return None
        identities = identify(state)
        computed = compute()
        if state != get_state(models) or identities != identify(state):
            return None  # another thread has set some meanwhile
        self.kept = state, computed
        return computed
