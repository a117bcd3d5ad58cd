from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...checks import check_integers
from ...layers.softvoting import soft_voting
from .dense import offer_labels

#: The most classifiers that vote.
MAX_MODELS = 1000

#: What layers that hash call their seeds.
_SEEDS = {"seed", "hash_seed"}


def TextCatVotingEnsemble(
    *members: Model[list[Doc], Floats2d], num_models: int
) -> Model[list[Doc], Floats2d]:
    """Average the scores of several n-gram classifiers with different hash seeds.

    N-grams that share their rows in one of them have rows of their own in another. Each
    is trained for itself: what is averaged are scores alone.

    members (Model): One or more `HashNgramTextCat`, with the same labels and
        `exclusive_classes`, at most `num_models`.
    num_models (int): How many classifiers vote, 1000 at most; the paper has 10. They
        are copies of `members` in turn, with initial weights and hash seeds of their
        own: those of the members, or the next that are free.

    Source: Tito Svenstrup et al., "Hash Embeddings for Efficient Word Representations"
    (2017), §5.5.
    """
    kinds = {member.attrs.get("multi_label") for member in members}
    if len(kinds) != 1 or None in kinds:
        raise ValueError(
            "The members of TextCatVotingEnsemble should be one or more text "
            "classifiers with the same 'exclusive_classes', but are "
            f"{', '.join(m.name for m in members) or 'none'}. Add a section "
            "[….model.*.member] with "
            '`@architectures = "spacy-hashembeds.HashNgramTextCat.v1"`.'
        )
    check_integers(len(members), MAX_MODELS, num_models=num_models)
    voters = [members[i % len(members)].copy() for i in range(num_models)]
    # each gets a hash seed that none before it has, nearest to its own
    taken: set[int] = set()
    for node in (node for voter in voters for node in voter.walk()):
        for name in _SEEDS & node.attrs.keys():
            while node.attrs[name] in taken:
                node.attrs[name] = (node.attrs[name] + 1) % 2**32
            taken.add(node.attrs[name])
    model: Any = soft_voting(*voters)
    exclusive_classes = not members[0].attrs["multi_label"]
    return offer_labels(model, None, exclusive_classes=exclusive_classes)
