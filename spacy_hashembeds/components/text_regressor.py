"""`text_regressor`, numbers for texts, registered by its entry point."""

from collections.abc import Callable, Iterable

from spacy.language import Language
from spacy.pipeline.textcat_multilabel import MultiLabel_TextCategorizer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ..files import quote
from .defaults import DEFAULT_TOK2VEC

#: spaCy's mean of token vectors, in our layers.
DEFAULT_MODEL = {
    "@architectures": "spacy.TextCatReduce.v1",
    "exclusive_classes": False,
    "use_reduce_first": False,
    "use_reduce_last": False,
    "use_reduce_max": False,
    "use_reduce_mean": True,
    "tok2vec": DEFAULT_TOK2VEC,
}


@Language.factory(
    "text_regressor",
    assigns=["doc.cats"],
    default_config={"model": DEFAULT_MODEL, "scorer": None},
)
def make_text_regressor(
    nlp: Language,
    name: str,
    model: Model[list[Doc], Floats2d],
    scorer: Callable | None,
) -> "TextRegressor":
    """Build the component `text_regressor`: see `TextRegressor`."""
    return TextRegressor(nlp.vocab, model, name, scorer=scorer)


class TextRegressor(MultiLabel_TextCategorizer):
    """Predicts a number from 0 to 1 for each label of a text.

    It is spaCy's `textcat_multilabel` in all but what it learns from: any number from 0
    to 1 in the `cats` of a gold Doc, where that refuses all but 0 and 1. The loss is
    the squared error. Labels without an entry in `cats` are not learned from.

    model (Model): Gives each Doc a number from 0 to 1 for each label, as spaCy's
        architectures do with `exclusive_classes = false`.
    scorer (Callable, optional): What scores the component in evaluation. None: it is
        not scored, so that training has nothing to choose the best model by.

    RAISES (ValueError): If the model was made for classes that exclude each other: a
        single one of these would always be 1.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], Floats2d],
        name: str = "text_regressor",
        *,
        scorer: Callable | None = None,
    ) -> None:
        if not model.attrs.get("multi_label", True):
            raise ValueError(
                f"The model of component '{name}' should have exclusive_classes = "
                "false, but has true: its numbers would add up to 1."
            )
        # The threshold is nothing but what spaCy passes on to scorers of categories.
        super().__init__(vocab, model, name, threshold=0.5, scorer=scorer)

    def _validate_categories(self, examples: Iterable[Example]) -> None:
        for example in examples:
            for label, value in example.reference.cats.items():
                # others' corpora may hold anything there
                is_number = isinstance(value, int | float)
                if not is_number or not 0 <= value <= 1:
                    raise ValueError(
                        f"The component '{self.name}' should learn from numbers from 0 "
                        f"to 1 in doc.cats, but a gold document has {value!r:.80} for "
                        f"{quote(label)}. Divide what is larger by its maximum."
                    )
