import json
from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Corpus

from spacy_hashembeds import label_entities
from spacy_hashembeds.training.features import read_values, store_values
from tests.components import toy_recognizers as toys
from tests.components.toy_recognizers import get_entities, make_pipeline, train

from ... import toy_ner
from .running import run_command, unwrap

run = partial(run_command, "label")

TEXTS = ("Anna lives in Oslo", "Rome is far", "we met Ben", "Dora")


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("models")
    for steps in (6, 20):
        train(make_pipeline(spans_key="ents"), steps=steps).to_disk(folder / f"{steps}")
    return sorted(folder.iterdir())


@pytest.fixture
def raw() -> Path:
    Path("raw.txt").write_text("\n".join((*TEXTS, "Dora")), encoding="utf8")
    return Path("raw.txt")


def read(path: str) -> dict[str, list[tuple[int, int, str]]]:
    docs = list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))
    return dict(zip((doc.text for doc in docs), get_entities(docs), strict=True))


def test_texts_are_labelled_and_saved(models, raw):
    Path("labelled.spacy").write_bytes(b"old")
    result = run(*models, "--raw", raw, "-o", "labelled.spacy", "--force")
    pipelines = [spacy.load(model) for model in models]
    docs = list(label_entities(pipelines, map(pipelines[0].make_doc, TEXTS)))
    found = read("labelled.spacy")
    assert found == dict(zip(TEXTS, get_entities(docs), strict=True))
    n_entities = sum(map(len, found.values()))
    assert n_entities
    said = f"Saved 4 texts with {n_entities} entities to labelled.spacy"
    assert said in unwrap(result.output)
    examples = Corpus("labelled.spacy")(make_pipeline())
    assert all(each.reference.has_annotation("ENT_IOB") for each in examples)


def test_texts_are_excluded_and_sampled(models, raw):
    held_out = map(toy_ner.make_doc, ("Rome is far", "Dora"))
    toy_ner.write(Path("test.spacy"), held_out)
    Path("more.jsonl").write_text(json.dumps({"text": TEXTS[0]}), encoding="utf8")
    options = ("--raw", raw, "-x", "test.spacy", "-x", "more.jsonl")
    result = run(models[0], *options, "-o", "few.spacy")
    assert [*read("few.spacy")] == ["we met Ben"]
    assert "Left out 3 texts" in result.output
    found = []
    for name in ("a.spacy", "b.spacy"):
        result = run(models[0], "--raw", raw, "--limit", 2, "-o", name)
        found.append(list(read(name)))
    assert found[0] == found[1] == [text for text in TEXTS if text in found[0]]
    assert len(found[0]) == 2
    assert found[0] != [*TEXTS[:2]]  # a sample


def test_tokens_and_sentences_are_kept(models, raw):
    doc = Doc(spacy.blank("en").vocab, words="We can't Anna,Ben He left".split())
    for token in doc:
        token.is_sent_start = token.i in (0, 3)
    doc.set_ents([doc[0:1].char_span(0, 2, label="OLD")])
    DocBin(docs=[doc], attrs=["ORTH", "SENT_START", "ENT_TYPE"]).to_disk("raw.spacy")
    run(models[0], "--raw", "raw.spacy", "-o", "new.spacy")
    (found,) = DocBin().from_disk("new.spacy").get_docs(doc.vocab)
    assert [token.text for token in found] == [token.text for token in doc]
    assert [sent.text for sent in found.sents] == ["We can't Anna,Ben", "He left"]
    assert "OLD" not in {ent.label_ for ent in found.ents}


def test_features_are_read_and_kept(monkeypatch):
    embed = {"attrs": ["NORM", "spans.x"], "rows": [50, 50]}
    monkeypatch.setitem(toys.TOK2VEC, "embed", toys.TOK2VEC["embed"] | embed)
    nlp = make_pipeline()
    nlp.initialize(lambda: toys.make_examples(nlp))
    for name in "ab":
        nlp.to_disk(name)
    doc = toy_ner.make_doc("Anna Brown sings")
    store_values(doc, "bold", ["yes", None, "no"])
    doc.spans["x"] = [Span(doc, 0, 2, "NEW")]
    DocBin(docs=[doc], store_user_data=True).to_disk("raw.spacy")
    run("a", "b", "--raw", "raw.spacy", "-o", "new.spacy")
    (found,) = DocBin().from_disk("new.spacy").get_docs(doc.vocab)
    assert read_values(found, "_.bold") == ["yes", None, "no"]
    assert read_values(found, "spans.x") == ["B-NEW", "I-NEW", None]
