"""Compute the table of xor-limitation.md: `python -m lab.pages.xor_limitation`.

Needs PyTorch (`pip install '.[torch]'`). The phrases are those of §3.3 and §3.4 of Li,
Fu and Ma, "Why Attention? Analyze BiLSTM Deficiency and Its Remedies in the Case of
NER" (2020).
"""

import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_hashembeds.components.tags import encode_tags, number_tags

from .markdown import to_markdown

Table = list[list[str]]
Text = tuple[str, str | None]  # words, and the entity

LABEL = "WORK_OF_ART"

#: What is tagged is the whole phrase, or its word in the middle.
PHRASES: dict[str, tuple[Text, ...]] = {
    "whole": (
        ("Key and Peele", "Key and Peele"),
        ("You and I", "You and I"),
        ("Key and I", None),
        ("You and Peele", None),
    ),
    "middle": (("a m c", "m"), ("b m d", "m"), ("a m d", None), ("b m c", None)),
}

#: Encoders by their names in the tables.
ENCODERS: dict[str, dict[str, Any]] = {
    "BiLSTM (baseline)": {"@architectures": "spacy-hashembeds.BiLSTMEncoder.v1"},
    "Cross-BiLSTM": {"@architectures": "spacy-hashembeds.CrossBiLSTMEncoder.v1"},
    "Att-BiLSTM": {
        "@architectures": "spacy-hashembeds.AttBiLSTMEncoder.v1",
        "width": 80,  # half of it is the LSTMs', and half attention's
    },
    "spaCy's windows": {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "depth": 2,
        "window_size": 1,
        "maxout_pieces": 3,
    },
}

WIDTH = 40
UPDATES = 400
LEARN_RATE = 0.03

SEEDS = range(5)


def make_pipeline(encoder: Mapping[str, Any], texts: Sequence[Text], seed: int) -> Any:
    """Make a pipeline with `token_ner`, its examples, and what to train it with."""
    fix_random_seed(seed)
    nlp = spacy.blank("xx")
    is_ours = str(encoder["@architectures"]).startswith("spacy-hashembeds")
    embed = {
        "@architectures": "spacy-hashembeds.MultiFewerHashEmbed.v1",
        "width": WIDTH,
        "attrs": ["NORM"],
        "rows": [1000],
        "include_static_vectors": False,
    }
    tok2vec = {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": embed,
        "encode": {"width": WIDTH, **encoder, **({"dropout": 0.0} if is_ours else {})},
    }
    model = {"@architectures": "spacy-hashembeds.TokenClassifier.v1"}
    nlp.add_pipe("token_ner", config={"model": {**model, "tok2vec": tok2vec}})
    examples = [make_example(nlp, *text) for text in texts]
    return nlp, examples, nlp.initialize(lambda: examples)


def make_example(nlp: Language, text: str, entity: str | None) -> Example:
    """Make an example of a text in which one stretch of words is an entity, or none."""
    doc = nlp.make_doc(text)
    start = f" {text} ".index(f" {entity} ") if entity else 0
    spans = [(start, start + len(entity), LABEL)] if entity else []
    return Example.from_dict(doc, {"entities": spans})


def count_right(nlp: Language, examples: Sequence[Example]) -> dict[str, int]:
    """Count phrases whose middle is right, and that are right as they are decoded."""
    component: Any = nlp.get_pipe("token_ner")
    probs = component.model.predict([nlp.make_doc(e.text) for e in examples])
    numbers = number_tags(component.labels)
    tags = [encode_tags(example.get_aligned_ner(), numbers) for example in examples]
    middles = [int(np.argmax(of_phrase[1])) for of_phrase in probs]
    counts = {"middle": sum(m == t[1] for m, t in zip(middles, tags, strict=True))}
    docs = nlp.pipe(example.text for example in examples)
    found = [list(map(str, doc.ents)) for doc in docs]
    truth = [list(map(str, example.reference.ents)) for example in examples]
    counts["phrases"] = sum(a == b for a, b in zip(found, truth, strict=True))
    return counts


def learn_phrases(
    encoder: Mapping[str, Any], texts: Sequence[Text], seed: int
) -> dict[str, int]:
    """Train on four phrases, and give how many are right at the end."""
    nlp, examples, optimizer = make_pipeline(encoder, texts, seed)
    optimizer.learn_rate = LEARN_RATE
    for _ in range(UPDATES):
        nlp.update(examples, sgd=optimizer)
    return count_right(nlp, examples)


def tabulate_phrases() -> Table:
    """Say of how many of four phrases each encoder learns the middle, and all."""
    columns = [(kind, count) for kind in PHRASES for count in ("middle", "phrases")]
    names = {"middle": "tags of the middle", "phrases": "phrases"}
    table = [["encoder", *(f"{kind}: {names[count]}" for kind, count in columns)]]
    for name, encoder in ENCODERS.items():
        right = {
            kind: [learn_phrases(encoder, texts, seed) for seed in SEEDS]
            for kind, texts in PHRASES.items()
        }
        table.append(
            [name, *(_span([of[count] for of in right[k]]) for k, count in columns)]
        )
    return table


def _span(counts: Sequence[int]) -> str:
    """Say what all seeds have, or the least and the most."""
    least, most = min(counts), max(counts)
    return f"{least}" if least == most else f"{least} to {most}"


if __name__ == "__main__":
    ArgumentParser(description=__doc__).parse_args()
    sys.stdout.write(f"{to_markdown(tabulate_phrases())}\n")
