"""Compute trials.md's XOR table: `python -m lab.pages.xor_limitation`.

Requires PyTorch (`pip install '.[torch]'`). Phrases are those of Li, Fu and Ma, "Why
Attention?" (2020), §3.3 and §3.4.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import spacy
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_hashembeds.components.decoding import get_tag_ids

from .page import to_markdown

Text = tuple[str, str | None]  # a phrase and its entity

#: Phrases whose entity is the whole phrase, or the word in the middle.
PHRASES: dict[str, tuple[Text, ...]] = {
    "whole": (
        ("Key and Peele", "Key and Peele"),
        ("You and I", "You and I"),
        ("Key and I", None),
        ("You and Peele", None),
    ),
    "middle": (("a m c", "m"), ("b m d", "m"), ("a m d", None), ("b m c", None)),
}

WIDTH = 40

#: Encoders by names in the table. The LSTMs of Att-BiLSTM have half of its width.
OURS = {"BiLSTM (baseline)": "", "Cross-BiLSTM": "Cross", "Att-BiLSTM": "Att"}
ENCODERS: dict[str, dict[str, Any]] = {
    label: {
        "@architectures": f"spacy-hashembeds.{name}BiLSTMEncoder.v1",
        "width": WIDTH * (2 if name == "Att" else 1),
        "dropout": 0.0,
    }
    for label, name in OURS.items()
}
ENCODERS["spaCy's windows"] = {
    **{"@architectures": "spacy.MaxoutWindowEncoder.v2", "width": WIDTH, "depth": 2},
    **{"window_size": 1, "maxout_pieces": 3},
}

UPDATES = 400


def learn_phrases(
    encoder: Mapping[str, Any], texts: Sequence[Text], seed: int
) -> dict[str, int]:
    """Train on four phrases, and count correct tags of the middle word, and phrases."""
    fix_random_seed(seed)
    nlp = spacy.blank("xx")
    embed: dict[str, Any] = {"width": WIDTH, "attrs": ["NORM"], "rows": [1000]}
    embed["@architectures"] = "spacy-hashembeds.MultiFewerHashEmbed.v1"
    embed["include_static_vectors"] = False
    tok2vec: dict[str, Any] = {"embed": embed, "encode": {**encoder}}
    tok2vec["@architectures"] = "spacy.Tok2Vec.v2"
    model = {"@architectures": "spacy-hashembeds.TokenClassifier.v1"}
    config = {"model": {**model, "tok2vec": tok2vec}}
    component: Any = nlp.add_pipe("token_ner", config=config)
    examples = []
    for text, entity in texts:
        start = f" {text} ".index(f" {entity} ") if entity else 0
        spans = [(start, start + len(entity), "WORK_OF_ART")] if entity else []
        examples.append(Example.from_dict(nlp.make_doc(text), {"entities": spans}))
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.03
    for _ in range(UPDATES):
        nlp.update(examples, sgd=optimizer)
    docs, numbers = [nlp(e.text) for e in examples], get_tag_ids(component.labels)
    middle = phrases = 0
    for e, doc, p in zip(examples, docs, component.model.predict(docs), strict=True):
        middle += int(np.argmax(p[1])) == numbers[e.get_aligned_ner()[1]]
        phrases += [*map(str, doc.ents)] == [*map(str, e.reference.ents)]
    return {"middle": middle, "phrases": phrases}


def tabulate_phrases() -> list[list[str]]:
    """Tabulate the numbers of phrases that each encoder learns, over five seeds."""
    columns = [(kind, count) for kind in PHRASES for count in ("middle", "phrases")]
    names = {"middle": "tags of the middle", "phrases": "phrases"}
    table = [["encoder", *(f"{kind}: {names[count]}" for kind, count in columns)]]
    for name, encoder in ENCODERS.items():
        right = {
            kind: [learn_phrases(encoder, texts, seed) for seed in range(5)]
            for kind, texts in PHRASES.items()
        }
        counts = ([of[count] for of in right[kind]] for kind, count in columns)
        ends = (sorted({min(found), max(found)}) for found in counts)
        table.append([name, *(" to ".join(map(str, pair)) for pair in ends)])
    return table


if __name__ == "__main__":
    sys.stdout.write(f"{to_markdown(tabulate_phrases())}\n")
