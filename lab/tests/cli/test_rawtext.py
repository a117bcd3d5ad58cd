"""Raw text for word vectors, tokenized like WNUT 2017."""

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from lab.corpora.rawtext import RAW_FILES, tokenize
from lab.tests.calling import call, check_failure, squeeze, succeed
from spacy_hashembeds.training.docbin import read_docs


def test_held_out_data_are_excluded_and_others_added(tmp_path):
    folder = tmp_path / "raw"
    folder.mkdir()
    check_failure(call("rawtext", folder, "-o", tmp_path / "x"), "spacy project assets")
    for name in RAW_FILES:
        (folder / name).write_text("held out\nkept in!\n")
    paths = []
    for words in (["held", "out"], ["kept"], ["more", "\n", "words"]):
        paths.append(tmp_path / f"{words[0]}.spacy")
        DocBin(docs=[Doc(Vocab(), words=words)]).to_disk(paths[-1])
    options = ["--held-out", paths[0], "--held-out", paths[1], "--add", paths[2]]
    output = tmp_path / "text.txt"
    printed = squeeze(succeed("rawtext", folder, "-o", output, *options).output)
    assert output.read_text() == "kept in !\n" * 7 + "more words\n"
    assert "Left out 7 lines of held-out data" in printed
    assert f"Saved 8 lines of 24 tokens to {output}" in printed
    succeed("rawtext", folder, "-o", tmp_path / "docs.spacy", *options)
    docs = [*read_docs(tmp_path / "docs.spacy", Vocab())]
    found = [[token.text for token in doc] for doc in docs]
    assert sorted(found) == [["kept", "in", "!"]] * 7 + [["more", "\n", "words"]]
    assert all(doc.has_unknown_spaces for doc in docs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # sentences of the development and test data
        ("I've @EJ3A 'fun'!!", "I ' ve @ EJ 3 A ' fun ' ! !"),
        ("RT @boyband_joao: 12:00 AM", "RT @ boyband _ joao : 12 : 00 AM"),
        ("wow 😀😀 </s> &amp;", "wow 😀 😀 < / s > & amp ;"),
        ("a non-profit, and non- this", "a non-profit , and non- this"),
        ("(https://imgur.com/a/xP0Ta).", "( https://imgur.com/a/xP0Ta ) ."),
        ("a\u00a0b\rc \u3000", "a b c"),
    ],
)
def test_tokens_are_those_of_wnut17(text, expected):
    for split_contractions in (False, True):
        assert tokenize(text, split_contractions=split_contractions) == expected.split()
    assert tokenize("don't", split_contractions=True) == ["do", "n", "'", "t"]


def test_sentences_of_wnut17_are_reproduced(data_dir, prepare_real):
    # the development and test data are lines of the raw files
    raw = {}
    for name, split_contractions in RAW_FILES.items():
        text = (data_dir / "wnut17-raw" / name).read_bytes().decode("utf8")
        for line in text.split("\n"):
            key = "".join(line.split())
            raw.setdefault(key, tokenize(line, split_contractions=split_contractions))
    corpus = prepare_real("wnut17")
    sentences = [
        [token.text for token in doc]
        for split in ("dev", "test")
        for doc in read_docs(corpus / f"{split}.spacy", Vocab())
    ]
    found = [words for words in sentences if "".join(words) in raw]
    assert len(found) == 2243  # of 2296
    assert sum(raw["".join(words)] == words for words in found) == 2197
