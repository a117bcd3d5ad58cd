from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...checks import check_integers
from ...layers.softvoting import soft_voting
from .output import offer_labels


def TextCatVotingEnsemble(
    *members: Model[list[Doc], Floats2d], num_models: int
) -> Model[list[Doc], Floats2d]:
    """Average the scores of several n-gram classifiers with different hash seeds.

    N-grams that share their rows in one of them have rows of their own in another. Each
    is trained for itself: what is averaged are scores alone.

    members (Model): One or more `HashNgramTextCat`, with the same labels.
    num_models (int): How many classifiers vote. They are copies of `members` in turn,
        the hash seed of each one higher than that of the one before, with initial
        weights of its own. The paper has 10. Time and memory grow with it.

    RAISES (ValueError): If there are no members, more than `num_models`, or some whose
        classes exclude each other beside others whose don't.

    Source: Tito Svenstrup et al., "Hash Embeddings for Efficient Word Representations"
    (2017), §5.5.
    """
    _check_members(members)
    check_integers(len(members), num_models=num_models)
    model: Any = soft_voting(*(_copy(members, i) for i in range(num_models)))
    exclusive_classes = not members[0].attrs["multi_label"]
    return offer_labels(model, None, exclusive_classes=exclusive_classes)


def _copy(members: tuple[Model, ...], i: int) -> Model:
    """Make the classifier number i."""
    member = members[i % len(members)].copy()
    for node in member.walk():
        if "seed" in node.attrs:
            node.attrs["seed"] = (node.attrs["seed"] + i) % 2**32
    return member


def _check_members(members: tuple[Model, ...]) -> None:
    kinds = {member.attrs.get("multi_label") for member in members}
    if len(kinds) != 1 or None in kinds:
        raise ValueError(
            "The members of TextCatVotingEnsemble should be one or more text "
            "classifiers with the same 'exclusive_classes', but are "
            f"{', '.join(m.name for m in members) or 'none'}. Add a section "
            "[….model.*.member] with "
            '`@architectures = "spacy-hashembeds.HashNgramTextCat.v1"`.'
        )
