"""The factory `token_ner`. It is registered when its entry point is loaded."""

from collections.abc import Callable

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from .defaults import DEFAULT_TOK2VEC
from .recognizer import TokenNER

#: A tag for each token, on a tok2vec of our layers.
DEFAULT_MODEL = {
    "@architectures": "spacy-hashembeds.TokenClassifier.v1",
    "tok2vec": DEFAULT_TOK2VEC,
}


@Language.factory(
    "token_ner",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={
        "model": DEFAULT_MODEL,
        "decoding": "viterbi",
        "spans_key": None,
        "scorer": {"@scorers": "spacy.ner_scorer.v1"},
    },
    default_score_weights={
        "ents_f": 1.0,
        "ents_p": 0.0,
        "ents_r": 0.0,
        "ents_per_type": None,
    },
)
def make_token_ner(
    nlp: Language,
    name: str,
    model: Model[list[Doc], list[Floats2d]],
    decoding: str,
    spans_key: str | None,
    scorer: Callable | None,
) -> TokenNER:
    """Build the component `token_ner`. The arguments are those of `TokenNER`."""
    return TokenNER(
        nlp.vocab,
        model,
        name,
        decoding=decoding,
        spans_key=spans_key,
        scorer=scorer,
    )
