import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy
import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus
from spacy.vocab import Vocab

from spacy_hashembeds.training.docbin import read_docs, read_entity_texts, read_examples


def write(path: Path, *words: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    vocab = Vocab()
    DocBin(docs=[Doc(vocab, words=[word]) for word in words]).to_disk(path)
    return path


def read(path: Path) -> list[str]:
    return [doc.text.strip() for doc in read_docs(path, Vocab())]


def test_a_folder_of_shards_is_one_corpus_as_in_spacy_and_a_prepared_one_none(tmp_path):
    for i, name in enumerate(("part-1", "more/part-2", "more/train")):
        write(tmp_path / f"{name}.spacy", f"w{i}")
    nlp = spacy.blank("en")
    assert read(tmp_path) == [x.reference.text.strip() for x in Corpus(tmp_path)(nlp)]
    assert sorted(read(tmp_path)) == ["w0", "w1", "w2"]
    for split in ("dev", "test"):
        held_out = write(tmp_path / "more" / f"{split}.spacy", "other")
        for reading in (
            read,
            read_entity_texts,
            lambda path: list(read_examples(path, nlp)),
        ):
            with pytest.raises(ValueError, match=f"'{tmp_path / 'more'}'"):
                reading(tmp_path)
        held_out.unlink()


@pytest.mark.parametrize("size", [0, 2, 50, None])
def test_damage_and_text_are_refused(tmp_path, size):
    path = write(tmp_path / "train.spacy", "a", "b", "c")
    path.write_bytes(b"EU B-ORG\n" if size is None else path.read_bytes()[:size])
    with pytest.raises(ValueError, match=f"'{path}' should be a .spacy file"):
        read(path)


def change(path: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """Change what is packed in a file, so that only what it says can give it away."""
    content = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    change(content)
    path.write_bytes(zlib.compress(srsly.msgpack_dumps(content)))
    return path


def test_an_entity_without_a_beginning_is_refused(tmp_path):
    path = tmp_path / "entities.spacy"
    doc = Doc(Vocab(), words=["in", "Anna"], ents=["O", "B-PER"])
    iob = numpy.array([[2, 0], [1, doc[1].ent_type]], "uint64")  # O I-PER
    DocBin(docs=[doc.from_array(["ENT_IOB", "ENT_TYPE"], iob)]).to_disk(path)
    with pytest.raises(ValueError, match=f"'{path}' should be a .spacy file"):
        read(path)


@pytest.mark.parametrize("cats", [{"a": "x"}, {"a": None}, {5: 1.0}, 5])
def test_what_is_no_category_is_refused(cats, tmp_path):
    path = tmp_path / "cats.spacy"
    DocBin(docs=[Doc(Vocab(), words=["in", "Paris"])]).to_disk(path)
    change(path, lambda content: content.update(cats=[cats]))
    with pytest.raises(ValueError, match=r"cats\.spacy' should be a \.spacy file"):
        read(path)


@pytest.mark.parametrize("start", [20, 28])
def test_a_span_with_another_label_or_end_is_refused(start, tmp_path):
    path = tmp_path / "spans.spacy"
    doc = Doc(Vocab(), words=["in", "Paris"])
    doc.spans["places"] = [doc[1:2]]
    DocBin(docs=[doc]).to_disk(path)

    def damage(content: dict[str, Any]) -> None:
        (packed,) = srsly.msgpack_loads(content["span_groups"][0])
        group = srsly.msgpack_loads(packed)
        # three ids of 8 bytes, then start and end, and offsets in the text, of 4
        (span,) = group["spans"]
        group["spans"] = [span[:start] + b"\0\0\xff\0" + span[start + 4 :]]
        groups = srsly.msgpack_dumps({srsly.msgpack_dumps(group): ["places"]})
        content["span_groups"] = [groups]

    change(path, damage)
    with pytest.raises(ValueError, match=r"spans\.spacy' should be a \.spacy file"):
        list(read_docs(path, Vocab()))


def test_user_data_is_spacys_and_unpacked_in_one_go(tmp_path, monkeypatch):
    decoders = Mock(wraps=srsly.msgpack_decoders.get_all)
    monkeypatch.setattr(srsly.msgpack_decoders, "get_all", decoders)
    n_calls = []
    for n_docs in (2, 20):
        path = tmp_path / f"{n_docs}.spacy"
        docs = [Doc(Vocab(), words=["a"]) for _ in range(n_docs)]
        for i, doc in enumerate(docs[1:]):
            doc.user_data[("._.", "é", i, None)] = {"list": [i], "array": numpy.ones(i)}
        DocBin(docs=docs, store_user_data=True).to_disk(path)
        expected = [d.user_data for d in DocBin().from_disk(path).get_docs(Vocab())]
        decoders.reset_mock()
        found = [doc.user_data for doc in read_docs(path, Vocab())]
        n_calls.append(decoders.call_count)
        assert str(found) == str(expected)
        assert list(map(type, found[-1])) == [tuple]
    assert n_calls[0] == n_calls[1]


def test_what_older_versions_left_out_is_not_missed(tmp_path):
    path = tmp_path / "train.spacy"
    docs = [Doc(Vocab(), words=["x"]), Doc(Vocab(), words=["Anna"], ents=["B-PER"])]
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    change(path, lambda x: [*map(x.pop, ("flags", "span_groups", "user_data"))])
    assert read(path) == ["x", "Anna"]
    assert read_entity_texts(path) == {"Anna"}


def test_a_file_without_docs_or_entity_types_is_fine(tmp_path):
    DocBin().to_disk(tmp_path / "none.spacy")
    assert read(tmp_path / "none.spacy") == []
    doc = Doc(Vocab(), words=["a"])
    DocBin(attrs=["ORTH"], docs=[doc]).to_disk(tmp_path / "words.spacy")
    assert read(tmp_path / "words.spacy") == ["a"]
