"""Whole pipelines with token_ner: trained from its config, saved, shared, packaged."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.cli._util import app
from spacy.cli.package import package
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import load_config
from typer.testing import CliRunner

import spacy_hashembeds.cli  # noqa: F401
from spacy_hashembeds import evaluate
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.configuration.configure import configure
from spacy_hashembeds.evaluation.tasks import NER, find_task
from tests.configs import CONFIGS

from ..processes import annotate_spawned, load_package
from ..training import SMALL

TEXTS = ["Anna of Zotech said so .", "", "b"]
CONFIG = CONFIGS / "token_ner.cfg"


def get_overrides(corpus: Path) -> dict[str, object]:
    paths = {f"paths.{split}": f"{corpus}/{split}.spacy" for split in ("train", "dev")}
    return {**SMALL, **paths}


@pytest.fixture(scope="module")
def trained(tiny_corpus, tmp_path_factory) -> Path:
    """A trained pipeline's folder."""
    output = tmp_path_factory.mktemp("token_ner")
    train(CONFIG, output, overrides=get_overrides(tiny_corpus))
    return output / "model-last"


def read_docs(path: Path, nlp: Language) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(nlp.vocab))


def annotate(nlp: Language, docs: list[Doc]) -> list[list[tuple[int, int, str]]]:
    copies = (Doc(nlp.vocab, words=[token.text for token in doc]) for doc in docs)
    return [
        [(ent.start, ent.end, ent.label_) for ent in doc.ents]
        for doc in nlp.pipe(copies)
    ]


def run(*args: object, exit_code: int = 0) -> str:
    """Run a command of spaCy's."""
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == exit_code, result.output
    return result.output


@pytest.mark.slow
def test_spacy_train_needs_no_code(tiny_corpus, tmp_path):
    """In a process of its own, so that only the entry points can help."""
    command = [sys.executable, "-m", "spacy", "train", str(CONFIG), "--output", "."]
    for key, value in get_overrides(tiny_corpus).items():
        command += [f"--{key}", json.dumps(value)]
    command += ["--training.max_steps", "2"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert spacy.load(tmp_path / "model-last").get_pipe("token_ner").labels


def test_the_config_trains_what_finds_entities(trained, tiny_corpus):
    nlp = spacy.load(trained)
    assert nlp.pipe_names == ["tok2vec", "token_ner"]
    assert nlp.get_pipe("tok2vec").listening_components == ["token_ner"]
    test, training = (tiny_corpus / f"{split}.spacy" for split in ("test", "train"))
    evaluation = evaluate(nlp, test, train=training, samples=10)
    assert evaluation["ents_f"] > 0.3
    scores = nlp.evaluate(
        [Example(nlp.make_doc(doc.text), doc) for doc in read_docs(test, nlp)]
    )
    assert scores["ents_f"] == pytest.approx(evaluation["ents_f"])
    assert json.loads((trained / "meta.json").read_text())["performance"]["ents_f"] > 0


def test_equal_seeds_give_equal_models(trained, tiny_corpus, tmp_path):
    train(CONFIG, tmp_path, overrides=get_overrides(tiny_corpus))
    first, second = spacy.load(trained), spacy.load(tmp_path / "model-last")
    for name in first.pipe_names:
        one, other = (nlp.get_pipe(name).model.to_bytes() for nlp in (first, second))
        assert one == other


def test_replaced_listeners(trained, tiny_corpus):
    nlp = spacy.load(trained)
    docs = read_docs(tiny_corpus / "test.spacy", nlp)
    entities = annotate(nlp, docs)
    assert any(entities)
    nlp.replace_listeners("tok2vec", "token_ner", ["model.tok2vec"])
    for copied in (
        nlp,
        spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes()),
    ):
        copied.remove_pipe("tok2vec")
        assert annotate(copied, docs) == entities


@pytest.mark.parametrize("frozen", ["tok2vec", "token_ner"])
def test_frozen_components_are_not_changed(trained, frozen, tmp_path):
    config = load_config(trained / "config.cfg")
    for name in ("tok2vec", "token_ner"):
        config["components"][name] = {"source": str(trained)}
    config["training"]["frozen_components"] = [frozen]
    config["training"]["annotating_components"] = [frozen]
    config.to_disk(tmp_path / "frozen.cfg")
    train(tmp_path / "frozen.cfg", tmp_path, overrides={"training.max_steps": 4})
    old, new = spacy.load(trained), spacy.load(tmp_path / "model-last")
    is_same = {
        name: old.get_pipe(name).model.to_bytes() == new.get_pipe(name).model.to_bytes()
        for name in old.pipe_names
    }
    assert is_same[frozen]
    # without its listener, tok2vec learns nothing
    assert is_same == {"tok2vec": True, "token_ner": frozen == "token_ner"}


@pytest.mark.slow
@pytest.mark.usefixtures("forked")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_worker_processes(trained):
    nlp = spacy.load(trained, config={"components.token_ner.spans_key": "found"})
    one, two = (
        [
            (doc.to_json(), doc.spans["found"].attrs["scores"].tolist())
            for doc in nlp.pipe(TEXTS * 5, n_process=n, batch_size=4)
        ]
        for n in (1, 2)
    )
    assert one == two


@pytest.mark.slow
def test_spawned_processes(trained, tmp_path):
    annotate_spawned(trained, TEXTS, tmp_path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of spaCy's own
def test_package(trained, tmp_path):
    """What `spacy package` makes imports and loads in a process of its own."""
    package(trained, tmp_path, name="toy", version="0.0.1")
    (root,) = tmp_path.iterdir()
    code = (
        "import en_toy; nlp = en_toy.load(); print(*nlp.get_pipe('token_ner').labels)"
    )
    labels = spacy.load(trained).get_pipe("token_ner").labels
    assert load_package(root, code) == " ".join(labels) + "\n"


def test_commands_of_spacy(trained, tiny_corpus, tmp_path):
    test = tiny_corpus / "test.spacy"
    run("evaluate", trained, test, "--output", tmp_path / "scores.json")
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert scores["ents_f"] > 0.3
    # which has one thing to say against it: the corpus is small
    output = run("debug", "data", trained / "config.cfg", exit_code=1)
    assert "Pipeline can be initialized with data" in output
    assert "1 error" in output
    run("init", "fill-config", CONFIG, tmp_path / "filled.cfg")
    filled = load_config(tmp_path / "filled.cfg")["components"]["token_ner"]
    assert filled["scorer"] == {"@scorers": "spacy.ner_scorer.v1"}


def test_it_is_evaluated_as_ner_is(trained, tiny_corpus, tmp_path):
    assert find_task(spacy.load(trained)) == NER
    page = tmp_path / "page.html"
    split = [tiny_corpus / f"{name}.spacy" for name in ("test", "train")]
    run(
        *("hashembeds", "evaluate", trained, split[0], "--train", split[1]),
        *("--output", page),
    )
    assert "Entities" in page.read_text()


def test_its_scorer_may_be_that_of_unseen_entities():
    made = configure(CONFIG, scorer=True, embedder="multi_fewer_hash_embed")
    scorer = made.config["components"]["token_ner"]["scorer"]
    assert scorer == {
        "@scorers": "spacy-hashembeds.seen_unseen_ner_scorer.v1",
        "train": "${paths.train}",
    }
    assert made.config["training"]["score_weights"]["ents_unseen_f"] == 0.5


@pytest.mark.slow
def test_a_pipeline_of_spacys_layers_is_accelerated(tiny_corpus, tmp_path):
    """What it finds, and how sure it is, stays but for rounding."""
    config = load_config(CONFIG, overrides=get_overrides(tiny_corpus))
    config["components"]["token_ner"]["spans_key"] = "found"
    model = config["components"]["tok2vec"]["model"]
    model["encode"]["@architectures"] = "spacy.MaxoutWindowEncoder.v2"
    model["embed"] = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": model["encode"]["width"],
        "attrs": model["embed"]["attrs"],
        "rows": model["embed"]["rows"],
        "include_static_vectors": False,
    }
    config.to_disk(tmp_path / "config.cfg")
    train(tmp_path / "config.cfg", tmp_path)
    nlp = spacy.load(tmp_path / "model-last")
    docs = read_docs(tiny_corpus / "test.spacy", nlp)
    done = accelerate(nlp, docs, rounds=1)
    assert done.nlp.get_pipe("tok2vec").model is not nlp.get_pipe("tok2vec").model
    assert annotate(done.nlp, docs) == annotate(nlp, docs)
    group, new_group = (
        pipeline(docs[0].text).spans["found"].attrs["scores"]
        for pipeline in (nlp, done.nlp)
    )
    np.testing.assert_allclose(group, new_group, atol=1e-4)
