"""The factory `token_ner`. It is registered when its entry point is loaded."""

from collections.abc import Callable

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from .recognizer import TokenNER

#: As large as spaCy's default for `ner`, in our layers.
DEFAULT_MODEL = {
    "@architectures": "spacy-hashembeds.TokenClassifier.v1",
    "tok2vec": {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy-hashembeds.MultiFewerHashEmbed.v1",
            "width": 96,
            "num_hashes": 4,
            "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
            "rows": [2000, 1000, 1000, 1000],
            "include_static_vectors": False,
            "seed": 9,
        },
        "encode": {
            "@architectures": "spacy-hashembeds.MaxoutWindowEncoder.v1",
            "width": 96,
            "depth": 4,
            "window_size": 1,
            "maxout_pieces": 3,
        },
    },
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
