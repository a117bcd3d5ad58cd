"""What the undamaged files are made of."""

from spacy.tokens import Doc
from spacy.vocab import Vocab

_TAGGED = (  # entities as word|TYPE
    "Anna|PER lives in Paris|LOC today .",
    "Ben|PER works in Rome|LOC , today .",
    "Zoë|PER lives in Lisbon|LOC !",
    "Rome|LOC is far from Paris|LOC .",
    "we met Anna|PER and Ben|PER in Rome|LOC",
    "nobody lives there today .",
)
#: The words of each sentence with their BIO tags.
SENTENCES = [
    [
        (word, f"B-{label}" if label else "O")
        for word, _, label in (token.partition("|") for token in sentence.split())
    ]
    for sentence in _TAGGED
]
#: The sentences as texts, and one with what tokenizers take apart.
TEXTS = [
    *(" ".join(word for word, _ in sentence) for sentence in SENTENCES),
    "don't see https://x.org/a, 12é \U0001f600\u2019",
]


def make_docs() -> list[Doc]:
    """Make the sentences with their entities."""
    vocab = Vocab()
    pairs = [zip(*sentence, strict=True) for sentence in SENTENCES]
    return [Doc(vocab, words=[*words], ents=[*tags]) for words, tags in pairs]
