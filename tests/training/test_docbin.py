"""`.spacy` files: read as in spaCy, errors for damaged files."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus
from spacy.vocab import Vocab

from spacy_hashembeds.training.docbin import read_docs, read_entity_texts, read_examples


def write(path: Path, *docs: Doc | str, **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    made = [Doc(Vocab(), words=[d]) if isinstance(d, str) else d for d in docs]
    DocBin(docs=made, store_user_data=True, **options).to_disk(path)
    return path


def read(path: Path) -> list[str]:
    return [doc.text.strip() for doc in read_docs(path, Vocab())]


def test_folders_of_shards_are_read_and_folders_of_splits_refused(tmp_path):
    for i, name in enumerate(("part-1", "more/part-2", "more/train")):
        write(tmp_path / f"{name}.spacy", f"w{i}")
    nlp = spacy.blank("en")
    assert read(tmp_path) == [x.reference.text.strip() for x in Corpus(tmp_path)(nlp)]
    assert sorted(read(tmp_path)) == ["w0", "w1", "w2"]
    readers = read, read_entity_texts, lambda path: list(read_examples(path, nlp))
    for split in ("dev", "test"):
        held_out = write(tmp_path / "more" / f"{split}.spacy", "other")
        for reading in readers:
            with pytest.raises(ValueError, match=f"'{tmp_path / 'more'}'"):
                reading(tmp_path)
        held_out.unlink()


def cut(size: int) -> Callable[[bytes], bytes]:
    return lambda content: content[:size]


def change(**values: Any) -> Callable[[bytes], bytes]:
    """Change packed values, which keeps the file decodable."""

    def changing(content: bytes) -> bytes:
        packed = srsly.msgpack_loads(zlib.decompress(content))
        return zlib.compress(srsly.msgpack_dumps(packed | values))

    return changing


def set_lengths(*lengths: int) -> Callable[[bytes], bytes]:
    return change(lengths=np.array(lengths, dtype="int32").tobytes())


def damage_span(start: int) -> Callable[[bytes], bytes]:
    """Change a span: three IDs of 8 bytes, then four offsets of 4 bytes."""

    def damage(content: bytes) -> bytes:
        packed = srsly.msgpack_loads(zlib.decompress(content))
        (of_doc,) = srsly.msgpack_loads(packed["span_groups"][0])
        group = srsly.msgpack_loads(of_doc)
        (span,) = group["spans"]
        group["spans"] = [span[:start] + b"\0\0\xff\0" + span[start + 4 :]]
        groups = srsly.msgpack_dumps({srsly.msgpack_dumps(group): ["places"]})
        return change(span_groups=[groups, b""])(content)

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        *(cut(0), cut(2), cut(50), lambda content: b"EU B-ORG\n"),
        *(change(cats=[cats, {}]) for cats in ({"a": "x"}, {"a": None}, {5: 1.0}, 5)),
        *(damage_span(20), damage_span(28)),  # label, end
        *(set_lengths(2), set_lengths(2, 2), set_lengths(4, -1), set_lengths()),
    ],
)
def test_damaged_and_text_files_are_refused(tmp_path, damage):
    doc = Doc(Vocab(), words=["in", "Paris"])
    doc.spans["places"] = [doc[1:2]]
    path = write(tmp_path / "train.spacy", doc, "x")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=f"'{path}' should be a .spacy file"):
        read(path)


def test_entities_that_begin_with_i_are_refused(tmp_path):
    doc = Doc(Vocab(), words=["in", "Anna"], ents=["O", "B-PER"])
    iob = np.array([[2, 0], [1, doc[1].ent_type]], "uint64")  # O I-PER
    path = write(tmp_path / "a.spacy", doc.from_array(["ENT_IOB", "ENT_TYPE"], iob))
    with pytest.raises(ValueError, match=f"'{path}' should be a .spacy file"):
        read(path)


def test_user_data_equals_spacys(tmp_path):
    docs = [Doc(Vocab(), words=["a"]) for _ in range(20)]
    for i, doc in enumerate(docs[1:]):
        doc.user_data[("._.", "é", i, None)] = {"list": [i], "array": np.ones(i)}
    path = write(tmp_path / "train.spacy", *docs)
    expected = [doc.user_data for doc in DocBin().from_disk(path).get_docs(Vocab())]
    found = [doc.user_data for doc in read_docs(path, Vocab())]
    assert str(found) == str(expected)
    assert list(map(type, found[-1])) == [tuple]


def test_optional_content_may_be_missing(tmp_path):
    ents = ["B-PER", "I-PER", "B-LOC"]
    docs = [Doc(Vocab(), words=["x"]), Doc(Vocab(), words=["A", "B", "C"], ents=ents)]
    path = write(tmp_path / "train.spacy", *docs)
    content = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    for name in ("flags", "span_groups", "user_data"):
        del content[name]
    path.write_bytes(zlib.compress(srsly.msgpack_dumps(content)))
    assert read(path) == ["x", "A B C"]
    assert read_entity_texts(path) == {"A B", "C"}
    assert read(write(tmp_path / "none.spacy")) == []
    assert read(write(tmp_path / "words.spacy", "a", attrs=["ORTH"])) == ["a"]
