"""What `analyze` says of an embedder that has codes in the place of rows."""

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_hashembeds.papers.hashformers.hash_former_embed import find_columns
from spacy_hashembeds.papers.hashformers.hashers import set_ngrams
from spacy_hashembeds.tools.analyze.analyze import analyze

#: The same letters, as often, in the first two, and of one shape.
WORDS = ["ab", "ba", "abc", "x"]

LSH = {"@architectures": "spacy-hashembeds.LSHHasher.v1"}
HASHERS = {
    "letters": {**LSH, "max_ngrams": None, "ngram_size": 1},
    "counted": {**LSH, "num_bits": 64},
    "md5": {"@architectures": "spacy-hashembeds.MD5Hasher.v1"},
}
COMPRESSORS = {
    "proj": {"@architectures": "spacy-hashembeds.ProjCompressor.v1"},
    "emb": {"@architectures": "spacy-hashembeds.EmbCompressor.v1", "rows": 1},
}


def make(hasher: str, compressor: str) -> Language:
    nlp = spacy.blank("xx")
    embed = {
        "@architectures": "spacy-hashembeds.HashFormerEmbed.v1",
        "width": 8,
        "attrs": ["ORTH", "SHAPE"],
        "hashers": {"ORTH": HASHERS[hasher], "SHAPE": HASHERS["md5"]},
        "compressors": {
            "ORTH": COMPRESSORS[compressor],
            "SHAPE": COMPRESSORS["proj"],
        },
        "include_static_vectors": False,
    }
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": embed}
    nlp.add_pipe("tagger", config={"model": model})
    return nlp


@pytest.mark.parametrize(
    ("hasher", "compressor", "expected"),
    [
        ("letters", "proj", ("lshhasher", "projcompressor", 128, None, 128 * 8, 2)),
        ("md5", "proj", ("md5hasher", "projcompressor", 128, None, 128 * 8, 0)),
        ("md5", "emb", ("md5hasher", "embcompressor", None, 1, 8, 4)),
        ("counted", "proj", ("lshhasher", "projcompressor", 64, None, 64 * 8, None)),
    ],
)
def test_codes_are_measured(hasher, compressor, expected):
    nlp = make(hasher, compressor)
    weights = nlp.get_pipe("tagger").model.to_bytes
    doc = Doc(nlp.vocab, words=WORDS)
    analysis = analyze([doc], model=nlp)
    orth, shape = analysis["codes"]
    keys = ("hasher", "compressor", "bits", "rows", "parameters", "sharing_code")
    assert tuple(orth[key] for key in keys) == expected
    assert (orth["component"], orth["attr"], orth["width"]) == ("tagger", "ORTH", 8)
    assert (orth["values"], shape["attr"], shape["values"]) == (4, "SHAPE", 3)
    assert analysis["embedders"] == []
    row = ["-" if orth[key] is None else f"{orth[key]:,}" for key in keys[2:]]
    shown = [line.split() for line in str(analysis).splitlines()]
    assert [
        "tagger",
        "ORTH",
        *expected[:2],
        *row[:2],
        "8",
        row[2],
        "4",
        row[3],
    ] in shown
    assert weights() == make(hasher, compressor).get_pipe("tagger").model.to_bytes()
    for layer in (c.hasher for c in find_columns(nlp.get_pipe("tagger").model)):
        if hasher == "counted" and layer.name == "lshhasher":
            set_ngrams(layer, np.zeros(0, dtype="uint64"))
            # without a single n-gram all words are alike
            assert analyze([doc], model=nlp)["codes"][0]["sharing_code"] == 4
    nlp.initialize(lambda: [Example.from_dict(doc, {"tags": ["A"] * len(WORDS)})])
    assert analyze([doc], model=nlp)["codes"][0]["parameters"] == expected[4]
