"""`token_ner`: a named entity recognizer that tags tokens."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from spacy.errors import Errors
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ..files import quote
from ..layers.loss import get_cross_entropy
from .decoding import (
    DECODERS,
    NO_ENTITIES,
    OUTSIDE,
    Calibration,
    Entities,
    check_bias,
    check_labels,
    count_tags,
    find_entities,
)
from .entity_tags import forbid_tags, read_truth, set_entities

# Defaults of the fitted settings.
_UNFITTED: dict[str, Any] = {"calibration": None, "outside_bias": 0.0}

# As in spaCy's `ner`.
_SCORE_WEIGHTS = {"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None}


@Language.factory(
    "token_ner",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={
        "model": {
            "@architectures": "spacy-hashembeds.TokenClassifier.v1",
            # same size as spaCy's default for `ner`
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
        },
        "decoding": "viterbi",
        "spans_key": None,
        "scorer": {"@scorers": "spacy.ner_scorer.v1"},
    },
    default_score_weights=_SCORE_WEIGHTS,
)
def make_token_ner(
    nlp: Language,
    name: str,
    model: Model[list[Doc], list[Floats2d]],
    decoding: Literal["viterbi", "greedy"],
    spans_key: str | None,
    scorer: Callable | None,
) -> "TokenNER":
    """Build `token_ner`: see `TokenNER`."""
    return TokenNER(
        nlp.vocab, model, name, decoding=decoding, spans_key=spans_key, scorer=scorer
    )


class TokenNER(TrainablePipe):
    """Recognizes named entities by a tag for each token.

    model (Model): Computes tag probabilities for each token. Tags are O, and S, B, I
        and E of each entity type: see `TokenClassifier`.
    decoding (str): "viterbi" selects the most probable legal sequence. "greedy", as in
        the paper, selects the most probable tag of each token, and ignores tags that do
        not form a complete entity.
    spans_key (str, optional): Key of `doc.spans` under which entities are stored too.
        `attrs["scores"]` holds the product of tag probabilities, calibrated by
        `cfg["calibration"]`: see `calibrate_ner`.
    scorer (Callable, optional): The scorer for training and evaluation.

    `cfg["outside_bias"]` is subtracted from the log-probability of O before decoding.
    Values above 0 increase recall and decrease precision. Default: 0. Set it, or fit it
    by `calibrate_ner`. Training and `nlp.initialize` reset it.

    Existing entities of a Doc are kept, with their scores in `doc.spans`. White space
    neither begins nor ends an entity. Tokens with missing annotation have no gradient.
    Labels come from the training data, or `[initialize.components.token_ner] labels`;
    as in spaCy's `ner`, `nlp.update` adds new ones. As in `spancat`, `nlp.rehearse` is
    a no-op.

    Source: Li et al., "Why Attention? Analyze BiLSTM Deficiency and Its Remedies in the
    Case of NER" (2020), §3.2; the bias: Minkov et al., "NER Systems that Suit User's
    Preferences" (2006).
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], list[Floats2d]],
        name: str = "token_ner",
        *,
        decoding: str = "viterbi",
        spans_key: str | None = None,
        scorer: Callable | None = None,
    ) -> None:
        if any(node.attrs.get("softmax_normalize") is False for node in model.walk()):
            raise ValueError(
                "'model' should return probabilities. Set normalize = true in a "
                "spacy.Tagger.v2, or use spacy-hashembeds.TokenClassifier.v1."
            )
        self.vocab = vocab
        self.model = model
        self.name = name
        self.decoding = decoding
        self.spans_key = spans_key
        self.scorer = scorer
        self.cfg: dict[str, Any] = {"labels": [], **_UNFITTED}

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types."""
        return tuple(self.cfg["labels"])

    #: Saved by `spacy init labels`.
    label_data = labels

    def predict(self, docs: Iterable[Doc]) -> list[Entities]:
        """Return the new entities of each Doc, without modifying the Docs."""
        docs = list(docs)
        if not any(map(len, docs)):
            return [NO_ENTITIES for _ in docs]
        lengths = np.array([len(doc) for doc in docs], dtype="int64")
        bias, calibration = self.cfg["outside_bias"], self.cfg["calibration"]
        return self.decode(self.predict_tags(docs), lengths, bias, calibration)

    def decode(
        self,
        scores: NDArray,
        lengths: NDArray,
        outside_bias: float,
        calibration: Calibration | None = None,
    ) -> list[Entities]:
        """Return the entities of Docs, given the output of `predict_tags`."""
        check_bias(outside_bias)
        biased = scores.copy()
        biased[:, OUTSIDE] -= outside_bias
        tags = DECODERS[self.decoding](biased, lengths)
        return find_entities(tags, scores, lengths, calibration)

    def predict_tags(self, docs: list[Doc]) -> NDArray:
        """Return the tag log-probabilities of the concatenated tokens of Docs, -inf for
        forbidden tags. Docs must not be empty. *Shape:* `(n, 4P + 1)`.
        """
        self._require_labels()
        found = self.model.predict(docs)
        probs = self.model.ops.to_numpy(self.model.ops.xp.concatenate(found))
        self._check_outputs(probs.shape[1])
        scores = np.log(np.maximum(probs, np.finfo(probs.dtype).tiny))
        forbid_tags(scores, docs)
        return scores

    def set_annotations(self, docs: Iterable[Doc], scores: list[Entities]) -> None:
        """Add entities from `predict` to Docs."""
        for doc, entities in zip(docs, scores, strict=True):
            set_entities(doc, entities, self.labels, self.spans_key)

    def get_loss(
        self, examples: Iterable[Example], scores: list[Floats2d]
    ) -> tuple[float, list[Floats2d]]:
        """Return the summed cross-entropy of tags, and the gradient of the logits.

        `scores` are probabilities. Tokens with missing annotation are masked.
        RAISES (ValueError): If an entity type is not a label.
        """
        examples = list(examples)
        validate_examples(examples, "TokenNER.get_loss")
        if not examples:
            return 0.0, []
        truth = read_truth(examples, self.labels)
        probs = self.model.ops.xp.concatenate(scores)
        loss, d_scores = get_cross_entropy(self.model.ops, probs, truth)
        if np.isnan(loss):
            raise ValueError(Errors.E910.format(name=self.name))
        lengths: Any = np.array([len(array) for array in scores])
        return loss, self.model.ops.unflatten(d_scores, lengths)

    def update(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, float]:
        """Add new labels, reset bias and calibration, and update the model."""
        self.cfg |= _UNFITTED
        examples = list(examples)
        validate_examples(examples, "TokenNER.update")
        for label in _list_types(examples):
            self.add_label(label)
        return super().update(examples, **kwargs)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Any = None,  # validated here, with a better error than spaCy's
    ) -> None:
        """Set labels and layer sizes.

        labels (list[str], optional): As saved by `spacy init labels`. Default: the
            entity types of the examples.
        """
        validate_get_examples(get_examples, "TokenNER.initialize")
        self.cfg |= _UNFITTED
        labels = _list_types(get_examples()) if labels is None else labels
        check_labels(labels)
        for label in labels:
            self.add_label(label)
        if not self.labels:
            raise ValueError(
                f"'{self.name}' has no labels: the training data has no entities "
                "(doc.ents), and 'labels' is empty."
            )
        sample = list(islice((eg.x for eg in get_examples() if len(eg.x)), 10))
        if not sample:
            raise ValueError(Errors.E923.format(name=self.name))
        n_tags = count_tags(len(self.labels))
        Y = [self.model.ops.alloc2f(len(doc), n_tags) for doc in sample]
        self.model.initialize(X=sample, Y=Y)
        self._check_outputs(self.model.maybe_get_dim("nO"))

    def add_label(self, label: str) -> int:
        """Add an entity type. Return 1 if added, 0 if it exists."""
        check_labels([label])
        if label in self.labels:
            return 0
        nO, n_tags = self.model.maybe_get_dim("nO"), count_tags(len(self.labels) + 1)
        if self.is_resizable:
            self.set_output(n_tags)
        elif nO is not None and nO < n_tags:
            raise ValueError(
                f"The model of '{self.name}' can't be resized for another label, "
                f"{quote(label)}. Initialize it with all labels, or use "
                "spacy-hashembeds.TokenClassifier.v1."
            )
        self.cfg["labels"].append(label)
        self.vocab.strings.add(label)
        return 1

    def _check_outputs(self, nO: int | None) -> None:
        if nO not in (None, n_tags := count_tags(len(self.labels))):
            raise ValueError(
                f"The model of '{self.name}' should have {n_tags} outputs for its "
                f"{len(self.labels)} labels, but has {nO}."
            )


def _list_types(examples: Iterable[Example]) -> list[str]:
    ents = (ent for eg in examples for ent in eg.reference.ents)
    return sorted({ent.label_ for ent in ents})
