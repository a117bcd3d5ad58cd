"""Attributes set by earlier components."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.util import load_config

from spacy_hashembeds.layers.vocabulary import find_vocabulary_layers
from spacy_hashembeds.tools.analyze.analyze import analyze
from spacy_hashembeds.tools.config.configure import configure

from . import toy_configs as toys

PIPELINE = '["ruler", "tok2vec", "ner"]'
RULER = '[components]\n[components.ruler]\nfactory = "attribute_ruler"\n'
PATTERNS = '[{"patterns":[[{"TEXT":{"REGEX":"[ac]"}}]],"attrs":{"TAG":"RULED"}}]'
PATTERNS = f"[initialize.components.ruler]\npatterns = {PATTERNS}\n"


@pytest.fixture
def base(base, tmp_path, monkeypatch) -> Path:
    """A pipeline with a component that sets the TAG, which the embedder uses."""
    monkeypatch.chdir(tmp_path)
    return toys.edit_base(
        base,
        ('["tok2vec", "ner"]', PIPELINE),
        ("[components]\n", RULER),
        ("[initialize.components]\n", f"[initialize.components]\n{PATTERNS}"),
        (toys.ATTRS, '"NORM", "TAG"'),
        (toys.ROWS, "rows = [5000, 100]"),
        ("annotating_components = []", 'annotating_components = ["ruler"]'),
    )


@pytest.mark.parametrize(
    ("component", "expected"),
    [
        ('factory = "attribute_ruler"', {"RULED"}),
        # untrained components: gold annotation
        ('factory = "tagger"', {"T", "U", "V"}),
        ('source = "trained"', {"LEARNED"}),
    ],
)
def test_counted_symbols_equal_those_in_training(base, component, expected):
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, "a b c d".split(), tags="T U T U".split())
    # tokenized as "do" and "n't", and as one token of two tags
    other = Doc(vocab, ["don't", "f", "g"], [True, False, True], tags=["V", "W", "Z"])
    DocBin(docs=[doc, other]).to_disk("train.spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger", name="ruler").add_label("LEARNED")
    nlp.initialize()
    nlp.to_disk("trained")
    toys.edit_base(base, ('factory = "attribute_ruler"', component))
    if "ruler" not in component:
        toys.edit_base(base, (PATTERNS, ""))
    made = configure(base, embedder="multi_embed", train="train.spacy")
    toys.write_made(base, made)
    toys.edit_base(base, ("min_freq = 2", "min_freq = 1"))
    nlp = init_nlp(load_config(base, {"paths.dev": "train.spacy"}))
    takers = find_vocabulary_layers(nlp.get_pipe("tok2vec").model)
    (symbols,) = (t.attrs["symbols"] for t in takers if t.attrs["key"] == "TAG")
    assert {nlp.vocab.strings[int(symbol)] for symbol in symbols} - {""} == expected


@pytest.mark.parametrize("embedder", [None, *toys.NAMES])
def test_attributes_set_by_earlier_components_are_kept(base, twins, embedder):
    made = configure(base, embedder=embedder, train=twins)
    assert toys.get_embed(made)["attrs"] == ["NORM", "TAG"]
    assert analyze(twins, config=base)["advice"][0]["attrs"] == ["NORM", "TAG"]
    toys.edit_base(base, (PIPELINE, '["tok2vec", "ner"]'))
    made = configure(base, embedder=embedder, train=twins)
    assert toys.get_embed(made)["attrs"] == ["NORM"]
    assert analyze(twins, config=base)["advice"][0]["attrs"] == ["NORM"]


def test_unsupported_attributes_are_refused(base):
    toys.edit_base(base, ('"NORM", "TAG"', '"NORM", "ENT_IOB"'))
    with pytest.raises(ValueError, match="embeds ENT_IOB"):
        configure(base, embedder="hash_former_embed")
    Path("raw.txt").write_text("a b c")
    with pytest.raises(ValueError, match=r"embeds ENT_IOB.*--raw"):
        configure(base, embedder="multi_embed", raw="raw.txt")
    configure(base, embedder="multi_fewer_hash_embed", raw="raw.txt")
