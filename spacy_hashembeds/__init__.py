"""Compact token embeddings for spaCy pipelines.

The functions of this module are for Python and notebooks: see docs/python.md. They are
imported on first use. Configs find their functions through entry points.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .acceleration.blas import use_fastest_blas as use_fastest_blas
    from .acceleration.in_memory import accelerate as accelerate
    from .tools.analyze.analyze import analyze as analyze
    from .tools.evaluate.evaluate import evaluate as evaluate
    from .tools.label import label_entities as label_entities
    from .training.calibration import calibrate_ner as calibrate_ner
    from .training.counting import count_symbols as count_symbols

    __version__: str
else:
    _MODULES = {
        "accelerate": "acceleration.in_memory",
        "analyze": "tools.analyze.analyze",
        "calibrate_ner": "training.calibration",
        "count_symbols": "training.counting",
        "evaluate": "tools.evaluate.evaluate",
        "label_entities": "tools.label",
        "use_fastest_blas": "acceleration.blas",
    }

    __all__ = ["__version__", *_MODULES]

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
