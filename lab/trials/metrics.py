"""Results of a trial as they were recorded, checked when they are read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from spacy_hashembeds.evaluation.categories import EXCLUSIVE, SCORES, SUPPORT
from spacy_hashembeds.evaluation.scorer import ALL, KINDS
from spacy_hashembeds.evaluation.tasks import NER, TEXTCAT
from spacy_hashembeds.files import parse_json, quote

from ..validation import describe_error

#: The scores of each task, by the number of things that they are of.
_SUPPORTED: Mapping[str, Mapping[str, Sequence[str]]] = {
    NER: {f"{of}_support": [f"{of}_{key}" for key in "prf"] for of in KINDS.values()},
    TEXTCAT: {SUPPORT: SCORES},
}
#: The scores of each type and of each length of entities: see `score_seen_unseen`.
PARTS = {"type": f"{ALL}_per_type", "length": f"{ALL}_per_length"}

#: Far more than any count here, and still exact as a float.
MAX_COUNT = 2**53

#: What to do about a damaged file.
REMEDY = "If it is of a trial, run that again, with --force."

Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Share = Annotated[float, Field(ge=0, le=1)]
_Folder = Annotated[str, Field(pattern=r"^[^/]*[^./][^/]*$")]
_Sentences = Annotated[str, Field(pattern="^[0-9]{1,9}$")]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True)


class _Sizes(_Part):
    """Sizes of a pipeline; earlier trials have not recorded all."""

    embedding_parameters: Count
    mixing_parameters: Count | None = None
    pipeline_parameters: Count | None = None
    bytes_on_disk: Count


SIZES = tuple(_Sizes.model_fields)


class _Timings(_Part):
    words_per_second: Annotated[float, Field(ge=0, le=MAX_COUNT)] = 0.0


class _Metrics(_Part):
    """Figures of a trial that comparisons show, but for its scores."""

    dataset: _Folder
    embedder: _Folder
    variant: _Folder
    seed: Count
    model: str
    overrides: dict[str, Any]
    corpus_hashes: dict[str, Any]
    scores: Annotated[dict[str, dict[str, Any]], Field(min_length=1)]
    sizes: _Sizes
    # not in earlier trials
    timings: _Timings = _Timings()
    joined: dict[str, dict[_Sentences, dict[str, Share]]] = {}


class _Supported(_Part):
    """A number of things, and their scores, None only if there are none."""

    support: Count
    scores: dict[str, Share | None]

    @model_validator(mode="after")
    def _check_missing(self) -> Self:
        missing = [name for name, score in self.scores.items() if score is None]
        if self.support and missing:
            raise ValueError(f"{quote(missing[0])} should be a number, but is missing")
        return self


#: What each type or length has; None where nothing was found or to be found.
_PARTS = TypeAdapter(dict[str, dict[str, Any]] | None, config=ConfigDict(strict=True))
_EXCLUSIVE = TypeAdapter(bool, config=ConfigDict(strict=True))


def read_metrics(path: Path) -> dict[str, Any]:
    """Read what `run_trial` recorded, if it has all that comparisons show."""
    return parse_metrics(path.read_bytes(), f"'{path}'", REMEDY)


def parse_metrics(data: bytes, place: str, remedy: str) -> dict[str, Any]:
    """Parse it likewise. Errors name its place, and a remedy."""
    try:
        metrics = parse_json(data.decode("utf8"))
        _Metrics.model_validate(metrics)
        _check_scores(list(metrics["scores"].values()))
    except ValueError as error:
        raise ValueError(
            f"{place} should hold the results of a trial, but is damaged or of another "
            f"kind: {describe_error(error)}. {remedy}"
        ) from error
    return metrics


def get_task(metrics: Mapping[str, Any]) -> str:
    """Say what a trial was scored on: "ner" or "textcat"."""
    return _find_task(next(iter(metrics["scores"].values())))


def get_scores(scores: Mapping[str, Any], task: str) -> dict[str, float | None]:
    """Get the scores of a split, None where there was nothing to score."""
    # spaCy scores wrong predictions with 0 even where there is nothing to find
    return {
        name: scores[name] if scores[support] else None
        for support, names in _SUPPORTED[task].items()
        for name in names
    }


def _find_task(scores: Mapping[str, Any]) -> str:
    return TEXTCAT if any(key.startswith("cats_") for key in scores) else NER


def _check_scores(splits: Sequence[Mapping[str, Any]]) -> None:
    task, *others = {_find_task(scores) for scores in splits}
    if others:
        raise ValueError(
            "all splits should be scored on entities or all on categories, but there "
            "are both"
        )
    for scores in splits:
        for support, names in _SUPPORTED[task].items():
            _check_supported(scores, support, names)
        if task == TEXTCAT:
            _EXCLUSIVE.validate_python(scores.get(EXCLUSIVE))
        for key in PARTS.values():
            for part in (_PARTS.validate_python(scores.get(key)) or {}).values():
                _check_supported(part, "support", ["f"])


def _check_supported(
    scores: Mapping[str, Any], support: str, names: Sequence[str]
) -> None:
    found = {name: scores.get(name) for name in names}
    _Supported.model_validate({"support": scores.get(support), "scores": found})
