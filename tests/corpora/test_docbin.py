import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus
from spacy.vocab import Vocab

from spacy_hashembeds.corpora.docbin import read_docs, read_entity_texts, read_examples


def write(path: Path, *words: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    vocab = Vocab()
    DocBin(docs=[Doc(vocab, words=[word]) for word in words]).to_disk(path)
    return path


def read(path: Path) -> list[str]:
    return [doc.text.strip() for doc in read_docs(path, Vocab())]


def test_a_folder_of_shards_is_one_corpus_as_in_spacy(tmp_path):
    for i, name in enumerate(("part-1", "more/part-2", "more/train")):
        write(tmp_path / f"{name}.spacy", f"w{i}")
    nlp = spacy.blank("en")
    expected = [eg.reference.text.strip() for eg in Corpus(tmp_path)(nlp)]
    assert read(tmp_path) == expected
    assert sorted(expected) == ["w0", "w1", "w2"]


def test_splits_in_folders_of_their_own_are_shards_of_one_corpus(tmp_path):
    for name in ("a/train", "b/dev", "b/test"):
        write(tmp_path / f"{name}.spacy", name)
    assert len(read(tmp_path)) == 3


@pytest.mark.parametrize("held_out", [["dev"], ["test"], ["dev", "test"]])
@pytest.mark.parametrize("depth", ["", "wnut17"])
def test_a_prepared_folder_is_no_corpus(tmp_path, held_out, depth):
    folder = tmp_path / depth
    names = ["train", *held_out]
    for name in names:
        write(folder / f"{name}.spacy", name)
    files = " or ".join(f"'{folder / name}.spacy'" for name in names)
    message = rf"The folder '{folder}' should .* {len(names)} splits: .*meant: {files}"
    with pytest.raises(ValueError, match=message):
        read(tmp_path)
    with pytest.raises(ValueError, match=message):
        list(read_examples(tmp_path, spacy.blank("en")))
    with pytest.raises(ValueError, match=message):
        read_entity_texts(tmp_path)
    assert read(folder / "train.spacy") == ["train"]


@pytest.mark.parametrize(
    "text", ["EU B-ORG\nrejects O\n", "é" * 5000, "x" * 4095 + "é"]
)
def test_text_is_told_from_damage(tmp_path, text):
    path = tmp_path / "train.conll"
    path.write_text(text, encoding="utf8")
    with pytest.raises(ValueError, match=f"'{path}' should be.*hashembeds prepare iob"):
        read(path)


@pytest.mark.parametrize("size", [0, 2, 50])
def test_damage_is_told_from_text(tmp_path, size):
    path = write(tmp_path / "train.spacy", "a", "b", "c")
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match="is truncated, damaged or of another kind"):
        read(path)


def change(path: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """Change what is packed in a file, so that only what it says can give it away."""
    content = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    content.update(change(content))
    path.write_bytes(zlib.compress(srsly.msgpack_dumps(content)))
    return path


def write_named(path: Path) -> Path:
    vocab = Vocab()
    docs = [Doc(vocab, words=["Anna"], ents=["B-PER"]), Doc(vocab, words=["in", "x"])]
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return path


def pack(*lengths: int) -> bytes:
    return numpy.array(lengths, "int32").tobytes()


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        (lambda c: {"lengths": pack(1, 1)}, "tokens: 312, not 208"),
        (lambda c: {"lengths": pack(1, 3)}, "tokens: 312, not 416"),
        (lambda c: {"lengths": pack(4, -1)}, "negative lengths"),
        (lambda c: {"lengths": pack(1, 2, 0)}, "cats: 2, not 3"),
        (lambda c: {"spaces": c["spaces"][:2]}, "spaces: 2, not 3"),
        (lambda c: {"cats": c["cats"] * 2}, "cats: 4, not 2"),
        (lambda c: {"flags": []}, "flags: 0, not 2"),
        (lambda c: {"span_groups": [b""]}, "span_groups: 1, not 2"),
        (lambda c: {"user_data": []}, "user_data: 0, not 2"),
        (lambda c: {"cats": [True, {}]}, "cats: no mapping"),
        (lambda c: {"attrs": [*c["attrs"][:-1], 77]}, "attributes twice"),
        (
            lambda c: {"strings": sorted({*c["strings"]} - {"PER"})},
            "4317129024397789502 is not among",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path, damage, cause):
    path = write_named(tmp_path / "train.spacy")
    with pytest.raises(ValueError, match=f"'{path}' .*is truncated, damaged") as error:
        read(change(path, damage))
    assert cause in str(error.value.__cause__)


@pytest.mark.parametrize("start", [20, 28])
def test_a_span_with_another_label_or_end_is_refused(start, tmp_path):
    path = tmp_path / "spans.spacy"
    doc = Doc(Vocab(), words=["in", "Paris"])
    doc.spans["places"] = [doc[1:2]]
    DocBin(docs=[doc]).to_disk(path)

    def damage(content: dict[str, Any]) -> Any:
        (packed,) = srsly.msgpack_loads(content["span_groups"][0])
        group = srsly.msgpack_loads(packed)
        # three ids of 8 bytes, then start and end, and offsets in the text, of 4
        (span,) = group["spans"]
        group["spans"] = [span[:start] + b"\0\0\xff\0" + span[start + 4 :]]
        groups = srsly.msgpack_dumps({srsly.msgpack_dumps(group): ["places"]})
        return {**content, "span_groups": [groups]}

    change(path, damage)
    with pytest.raises(ValueError, match=r"spans\.spacy' should be a \.spacy file"):
        list(read_docs(path, Vocab()))


def write_annotated(path: Path, *missing: str) -> Path:
    """Write a Doc, but for some of its strings."""
    doc = Doc(Vocab(), words=["a"])
    doc[0].dep_, doc[0].tag_, doc[0].lemma_ = "relation", "tag", "lemma"
    doc[0].norm_, doc[0].ent_kb_id_, doc[0].ent_id_ = "norm", "kb_id", "id"
    DocBin(docs=[doc]).to_disk(path)
    return change(path, lambda c: {"strings": sorted({*c["strings"]} - {*missing})})


@pytest.mark.parametrize("string", ["relation", "tag", "lemma", "a"])
def test_a_string_that_tokens_need_is_missed(tmp_path, string):
    path = write_annotated(tmp_path / "train.spacy", string)
    with pytest.raises(ValueError, match=f"'{path}' .*is truncated, damaged"):
        read(path)
    # spaCy reads it where the pipeline has the string
    (doc,) = read_docs(path, Vocab(strings=[string]))
    assert (doc[0].text, doc[0].dep_, doc[0].lemma_) == ("a", "relation", "lemma")


def test_strings_that_older_versions_left_out_are_not_missed(tmp_path):
    path = write_annotated(tmp_path / "train.spacy", "norm", "kb_id", "id")
    assert read(path) == ["a"]


def test_what_older_versions_left_out_is_not_missed(tmp_path):
    path = write_named(tmp_path / "train.spacy")
    content = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    for key in ("flags", "span_groups", "user_data"):
        del content[key]
    path.write_bytes(zlib.compress(srsly.msgpack_dumps(content)))
    assert read(path) == ["Anna", "in x"]
    assert read_entity_texts(path) == {"Anna"}


def test_a_file_without_docs_or_entity_types_is_fine(tmp_path):
    DocBin().to_disk(tmp_path / "none.spacy")
    assert read(tmp_path / "none.spacy") == []
    doc = Doc(Vocab(), words=["a"])
    DocBin(attrs=["ORTH"], docs=[doc]).to_disk(tmp_path / "words.spacy")
    assert read(tmp_path / "words.spacy") == ["a"]
