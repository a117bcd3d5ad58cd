import json
from functools import partial
from pathlib import Path

import pytest
import spacy

from lab.importance.importance import list_importance
from tests.papers.hash_embeddings.toy_weighted import TEXTS, make_pipeline, set_weights

from ..calling import succeed

run = partial(succeed, "importance")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Pipelines with a dictionary and without, and texts, to read only."""
    folder = tmp_path_factory.mktemp("importance")
    nlp = make_pipeline()
    set_weights(nlp, {"coffee": [3.0, -4.0], "tea": [0.5, 0.5]})
    nlp.to_disk(folder / "dictionary")
    make_pipeline(importance_rows=[5]).to_disk(folder / "hashed")
    (folder / "a.txt").write_text("\n".join(TEXTS))
    (folder / "b.jsonl").write_text('{"text": "tea for two"}\n')
    return folder


def test_texts_of_all_kinds_are_taken_together(folder, capfd):
    texts = ["--texts", folder / "a.txt", "--texts", folder / "b.jsonl"]
    run(folder / "hashed", *texts, "--json", "--top", 3)
    nlp = spacy.load(folder / "hashed")
    docs = map(nlp.make_doc, [*TEXTS, "tea for two"])
    assert json.loads(capfd.readouterr().out) == list_importance(nlp, docs, top=3)


def test_lists_are_saved(folder, tmp_path):
    output = tmp_path / "made/lists.json"
    result = run(folder / "dictionary", "-o", output)
    nlp = spacy.load(folder / "dictionary")
    assert json.loads(output.read_text()) == list_importance(nlp)
    assert "coffee" in result.stdout
    assert "3.536  +3.000 -4.000" in result.stdout
