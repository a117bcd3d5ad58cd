"""Compact token embeddings for spaCy pipelines.

A `.cfg` needs nothing of this: its names are found through entry points. What is here
is for Python and notebooks: see docs/python.md. It is imported when it is first used,
so that importing the package does nothing else.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .acceleration.blas import use_fastest_blas
    from .acceleration.in_memory import accelerate
    from .analysis.analyze import analyze
    from .calibration import calibrate_ner
    from .callbacks import count_symbols
    from .evaluation.evaluate import evaluate
    from .labelling import label_entities

    __version__: str
else:
    _MODULES = {
        "accelerate": "acceleration.in_memory",
        "analyze": "analysis.analyze",
        "calibrate_ner": "calibration",
        "count_symbols": "callbacks",
        "evaluate": "evaluation.evaluate",
        "label_entities": "labelling",
        "use_fastest_blas": "acceleration.blas",
    }

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            return version("spacy-hashembeds")
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "__version__",
    "accelerate",
    "analyze",
    "calibrate_ner",
    "count_symbols",
    "evaluate",
    "label_entities",
    "use_fastest_blas",
]
