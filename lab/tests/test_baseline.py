import json
import re
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from lab import baseline
from lab.baseline import EDGE, NAME, decode, list_features
from lab.tests.calling import squeeze, succeed
from tests import toy_ner

GOLD = [toy_ner.make_doc(text) for text in toy_ner.TRAIN]


def list_entities(doc: Doc) -> list[tuple[str, str]]:
    return [(ent.text, ent.label_) for ent in doc.ents]


def save_and_load(nlp: Language, path: Path) -> Language:
    nlp.to_disk(path)
    return spacy.load(path)


def test_saved_pipelines_and_biases(tmp_path):
    trainer = baseline.make_trainer(GOLD)
    weights = baseline.train(trainer, tmp_path / "crf", c1=0.0, c2=0.01, iterations=50)
    nlp = baseline.make_pipeline("en", weights)
    crf = nlp.get_pipe(NAME)
    loaded = save_and_load(nlp, tmp_path / "model")
    copies = [Doc(loaded.vocab, words=[t.text for t in doc]) for doc in GOLD]
    found = [list_entities(loaded(doc)) for doc in copies]
    assert found == [*map(list_entities, GOLD)]
    assert loaded.get_pipe(NAME).count_weights() == crf.count_weights() > 100
    texts, n_found = ["Dora and Emil saw Oslo again", "", "they left"], []
    for crf.outside_bias in (-50.0, 0.0, 50.0):
        docs = list(nlp.pipe(texts))
        n_found.append(sum(len(doc.ents) for doc in docs))
    assert 0 == n_found[0] < n_found[1] < n_found[2]
    loaded = save_and_load(nlp, tmp_path / "biased")
    assert [list_entities(loaded(x)) for x in texts] == [*map(list_entities, docs)]


LABELS = ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]


@pytest.mark.parametrize("seed", range(10))
def test_the_best_legal_tags_are_found(seed):
    scores = np.random.default_rng(seed).normal(size=(1 + seed % 5, len(LABELS)))
    illegal = re.compile("(^|O )I|LOC I-PER|PER I-LOC")
    legal = [
        tags
        for tags in product(range(len(LABELS)), repeat=len(scores))
        if not illegal.search(" ".join(LABELS[tag] for tag in tags))
    ]
    places = np.arange(len(scores))
    best = max(legal, key=lambda tags: scores[places, tags].sum())
    assert decode(scores, LABELS) == [LABELS[tag] for tag in best]


#: Features of "Oslo" in "In Oslo !".
OSLO = f"""
bias
0:word=Oslo 0:shape=Xxxx 0:short=Xx 0:title
0:prefix1=O 0:prefix2=Os 0:prefix3=Osl 0:prefix4=Oslo
0:suffix1=o 0:suffix2=lo 0:suffix3=slo 0:suffix4=Oslo
-2:lower={EDGE} -1:lower=in 0:lower=oslo 1:lower=! 2:lower={EDGE}
-2:short=<x> -1:short=Xx 1:short=! 2:short=<x>
-1:shape=Xx 1:shape=! -1:suffix3=in 1:suffix3=!
-2,-1:lower={EDGE}|in -1,0:lower=in|oslo 0,1:lower=oslo|! 1,2:lower=!|{EDGE}
-1,0:short=Xx|Xx 0,1:short=Xx|! -1..1:short=Xx|Xx|!
-1:lower,0:short=in|Xx 0:short,1:lower=Xx|! 0:suffix3,short=slo|Xx
"""


def test_features_of_a_token():
    assert sorted(list_features(["In", "Oslo", "!"])[1]) == sorted(OSLO.split())


@pytest.mark.slow
def test_the_command_runs_it_once(tiny_corpus, tmp_path, monkeypatch, capfd):
    shutil.copytree(tiny_corpus, tmp_path / "corpus" / "demo")
    monkeypatch.setattr(baseline, "PENALTIES", {"c1": (0.1, 30.0), "c2": (0.01,)})
    monkeypatch.chdir(tmp_path)
    shown = squeeze(succeed("baseline", "demo").output)
    path = Path("metrics/demo/crf/default/seed0.json")
    metrics = json.loads(path.read_text(encoding="utf8"))
    tried = f"c1 0.1, c2 0.01: F1 {100 * metrics['tried'][0]['ents_f']:.1f} on dev"
    assert tried in shown
    assert f"{metrics['sizes']['pipeline_parameters']:,} pipeline parameters." in shown
    assert "Chosen on development data: c1 0.1, c2 0.01" in shown
    again = succeed("baseline", "demo", "--json")
    assert "Already done, without changes" in again.stderr
    assert json.loads(capfd.readouterr().out) == metrics
