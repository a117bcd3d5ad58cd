from collections.abc import Callable
from typing import TypeVar

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...arguments import check_integers
from .hash_ngram_textcat import set_label_attrs

InT = TypeVar("InT")
OutT = Floats2d

#: Maximum number of classifiers.
MAX_MODELS = 1000
#: Attributes with hash seeds.
_SEEDS = {"seed", "hash_seed"}


def TextCatVotingEnsemble(
    *members: Model[list[Doc], Floats2d], num_models: int
) -> Model[list[Doc], Floats2d]:
    """Average the scores of several n-gram classifiers with different hash seeds.

    N-grams that share rows in one classifier have different rows in another. The
    classifiers learn independently.

    members (Model): One or more `HashNgramTextCat` with equal `exclusive_classes`.
    num_models (int): Number of classifiers, up to 1000; the paper uses 10. They copy
        `members` in turn, with different initial weights, and the first unused hash
        seeds from the members' seeds on.

    Source: Svenstrup et al., "Hash Embeddings" (2017), §5.5.
    """
    kinds = {member.attrs.get("multi_label") for member in members}
    if len(kinds) != 1 or None in kinds:
        raise ValueError(
            "The members of TextCatVotingEnsemble, sections [….model.*.member], should "
            "be one or more HashNgramTextCat with equal 'exclusive_classes', but are "
            f"{', '.join(m.name for m in members) or 'missing'}."
        )
    check_integers(len(members), MAX_MODELS, num_models=num_models)
    voters = [members[i % len(members)].copy() for i in range(num_models)]
    taken: set[int] = set()
    for node in (node for voter in voters for node in voter.walk()):
        for name in _SEEDS & node.attrs.keys():
            while node.attrs[name] in taken:
                node.attrs[name] = (node.attrs[name] + 1) % 2**32
            taken.add(node.attrs[name])
    exclusive_classes = not members[0].attrs["multi_label"]
    model = soft_voting(*voters)
    return set_label_attrs(model, None, exclusive_classes=exclusive_classes)


def soft_voting(*members: Model[InT, OutT]) -> Model[InT, OutT]:
    """Average the scores of several classifiers. *Output:* `(n, labels)`, float32.

    spaCy's text categorizers backpropagate the mean score minus the truth. Each member
    gets its score minus the truth, or zero if a label is missing.
    """
    return Model(
        "soft_voting",
        forward,
        init=init,
        layers=members,
        dims={"nO": members[0].maybe_get_dim("nO")},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    Ys, backprops = zip(*(member(X, is_train) for member in model.layers), strict=True)
    mean = sum(Ys) / len(Ys)

    def backprop(d_mean: OutT) -> InT:
        is_there = d_mean != 0
        for Y, backprop_member in zip(Ys, backprops, strict=True):
            backprop_member(d_mean + (Y - mean) * is_there)
        return X

    return mean, backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    for member in model.layers:
        member.initialize(X, Y)
    model.set_dim("nO", model.layers[0].get_dim("nO"), force=True)
