"""The pipeline that is recommended, and what its choices were measured to be worth.

`config` puts it in, with these words as comments; `analyze` and the docs say the same.
"""

from collections.abc import Sequence
from inspect import signature

from ..architectures.embedders import multi_embed
from ..architectures.embedders.subword_embed import SubwordEmbed

#: What to put in, by its description.
EMBEDDER = multi_embed.DESCRIPTION

#: How many seeds each choice was measured with.
SEEDS = 5

#: By how many points F1 moved on the test sets of WNUT 2017, AnEM, and CoNLL 2002 in
#: Spanish and Dutch: means over the seeds, 2,400 steps.
POINTS = {
    "LOOKUP": (2.9, -0.3, 1.0, 2.0),
    "AVERAGES": (-0.9, 2.9, 1.3, 1.4),
    "TOKEN_NER": (1.4, 2.3, 1.0, 0.5),
    "ALL": (4.1, 5.9, 2.3, 4.5),
}

#: The same of training on sentences joined, against single ones: on texts of ten, and
#: on single sentences. Means over the seeds that both have.
POINTS_JOINED = {
    "TEXTS": (-1.1, 0.7, 0.8, 4.0),
    "SENTENCES": (-1.3, 0.1, -0.7, -0.2),
}

#: The same of n-grams, both trained on sentences joined.
POINTS_SUBWORDS = {
    "TEXTS": (2.8, 1.6, 0.3, 0.8),
    "SENTENCES": (2.7, 1.5, 0.2, 0.9),
}

#: What is put in beside the tables.
SUBWORD_BLOCK = {
    "@architectures": "spacy-hashembeds.SubwordEmbed.v1",
    **{
        name: parameter.default
        for name, parameter in signature(SubwordEmbed).parameters.items()
        if name != "dropout"
    },
}

#: The same on WNUT 2017, of pretraining on its raw texts, with an encoder of 4 layers.
PRETRAINED_POINTS = 7.5


def _say_points(choice: str) -> str:
    return (
        f"F1 of entities on test data, in points: {_list_points(POINTS[choice])} "
        f"({SEEDS} seeds, 2,400 steps: docs/results.md)."
    )


def _list_points(points: Sequence[float]) -> str:
    wnut, anem, spanish, dutch = (f"{number:+.1f}" for number in points)
    return (
        f"WNUT 2017 {wnut}, AnEM {anem}, CoNLL 2002 in Spanish {spanish} and in Dutch "
        f"{dutch}"
    )


LOOKUP = f"In place of 4 hashes, both with averaged weights: {_say_points('LOOKUP')}"
AVERAGES = (
    "What is scored and saved are averages of the weights over the last steps. "
    + _say_points("AVERAGES")
)
TOKEN_NER = (
    "A tag for each token in place of spaCy's transitions, faster, with scores of "
    f"entities in `doc.spans`. {_say_points('TOKEN_NER')}"
)
JOINED = (
    "Docs of one sentence and of many, so that whole texts are predicted as well as "
    "sentences. F1 of entities on test data, in points, in texts of ten sentences: "
    f"{_list_points(POINTS_JOINED['TEXTS'])}; on single ones: "
    f"{_list_points(POINTS_JOINED['SENTENCES'])} (three seeds, 2,400 steps: "
    "docs/whole-texts.md)."
)
CALIBRATION = (
    "Has scores of entities say how often they are right, each time the pipeline is "
    "saved: fits two numbers to the development set. Expected calibration error there, "
    "cross-validated, in points, before and after: WNUT 2017 25.1 and 3.8, AnEM 12.9 "
    "and 3.7, CoNLL 2002 in Spanish 9.5 and 1.2, in Dutch 12.7 and 1.8; on other texts "
    "it may stay large. With balance, chooses there too how readily entities are "
    "found: F1, cross-validated, gains 3.1 points on WNUT 2017, whose entities are "
    "nearly all new, and is as it was on the others (two to four seeds: docs/ner.md)."
)
SUBWORDS = (
    "Character n-grams of words beside the tables, half a megabyte. F1 of entities on "
    "test data, in points, with sentences joined: in texts of ten "
    f"{_list_points(POINTS_SUBWORDS['TEXTS'])}; on single ones "
    f"{_list_points(POINTS_SUBWORDS['SENTENCES'])}. Each may be chance (three seeds, "
    "2,400 steps: docs/whole-texts.md)."
)
VECTORS = (
    "Mixes in the vectors that --vectors names, and makes the pipeline larger. On WNUT "
    "2017 floret vectors of its raw texts gave an embedder of characters 1.9 points of "
    "F1, which may be chance (one seed: docs/results.md)."
)
PRETRAINING = (
    "`spacy pretrain` learns from texts to tell which words of them were replaced. On "
    f"WNUT 2017 its raw texts gave {PRETRAINED_POINTS} points of F1 (5 seeds: "
    "docs/results.md)."
)

CLASSIFIER = (
    "Hash embeddings of words and pairs of words: 88.4 percent right on 2,000 texts of "
    "AG's news, where spaCy's bag of words had 87.2, which may be chance (trained on "
    "5,000, two seeds: docs/trials.md), with fewer parameters, and faster to train "
    "(docs/speed.md)."
)
CLASSIFIER_TRAINING = "As the classifier was measured."

#: Where to begin, as `analyze` says it.
WHERE_TO_BEGIN = (
    "Begin with what `spacy hashembeds config` puts in without --embedder: "
    f"{EMBEDDER.architecture} with character n-grams, averaged weights, sentences "
    "joined, and `token_ner` in the place of `ner`; pretrained, if there are texts "
    "without annotation (--raw). Together, "
    "against spaCy's tables under `ner` and without such texts: "
    f"{_say_points('ALL')} Comments in the new config say what each is worth. Neither "
    "importance weights nor rows of their own beside hashed ones were shown to be "
    "worth more than plain hashing."
)
