"""Recommendations, --raw and --vectors; training with them."""

import re
from copy import deepcopy
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as train_pipeline
from spacy.training.pretrain import pretrain
from spacy.util import load_config, set_dot_to_object
from spacy.vocab import Vocab

from spacy_hashembeds.architectures.symbols import save_symbols
from spacy_hashembeds.tools.analyze.analyze import analyze
from spacy_hashembeds.tools.config.configure import configure
from spacy_hashembeds.tools.config.edits import get_value
from spacy_hashembeds.training.readers import LENGTHS

from ...conftest import ROOT
from . import toy_configs as toys

JOINED, CORPUS = "spacy-hashembeds.JoinedCorpus.v1", "spacy.Corpus.v1"
CALIBRATION = {
    "@callbacks": "spacy-hashembeds.calibrate_ner.v1",
    "corpus": "${training.dev_corpus}",
    "balance": True,
}
READER, FACTORY = "corpora.train.@readers", "components.ner.factory"
NER, SAVING = "components.ner", "training.before_to_disk"
BLAS, OPTIMIZER = "nlp.after_pipeline_creation", "training.optimizer"
ADAM, AVERAGES = f"{OPTIMIZER}.@optimizers", f"{OPTIMIZER}.use_averages"
OTHER_READER = (f'@readers = "{CORPUS}"', '@readers = "mine.v1"')
MINE = {"@callbacks": "mine.v1"}


def test_recommendations_are_inserted(base, corpus):
    toys.edit_base(base, ("max_length = 0", "max_length = 200"))
    made = configure(base, train=corpus)
    config = made.config
    embed = toys.get_embed(made)
    assert embed["@architectures"] == toys.LOOKUP
    assert embed["subwords"]["@architectures"] == "spacy-hashembeds.SubwordEmbed.v1"
    assert config["training"]["optimizer"]["use_averages"] is True
    assert config["training"]["before_to_disk"] == CALIBRATION
    ner = config["components"]["ner"]
    assert ner["factory"] == "token_ner"
    assert ner["scorer"] == {"@scorers": "spacy.ner_scorer.v1"}
    assert ner["model"]["tok2vec"]["@architectures"] == "spacy.Tok2VecListener.v1"
    reader = {"@readers": JOINED, "lengths": [*LENGTHS], "seed": "${training.seed}"}
    settings = {"path": "${paths.train}", "max_length": 200}
    assert config["corpora"]["train"].items() >= {**reader, **settings}.items()
    assert config["corpora"]["dev"]["@readers"] == CORPUS
    reasons = [(change.section, change.why) for change in made.changes]
    assert len(reasons) == len({*reasons})


def test_example_of_the_documentation(base, tiny_corpus):
    page = (ROOT / "docs/config.md").read_text(encoding="utf8")
    (shown,) = re.findall("```ini\n(.+?)```", page, flags=re.DOTALL)
    assert shown in configure(base, train=tiny_corpus / "train.spacy").text


MY_CORPUS = [("[corpora.train]", "[corpora.x]"), ('"corpora.train"', '"corpora.x"')]
MY_SAVING = ("before_to_disk = null", 'before_to_disk = {"@callbacks":"mine.v1"}')
MY_BLAS = ("pipeline_creation = null", 'pipeline_creation = {"@callbacks":"mine.v1"}')


LABELS = ("[initialize.components]", '[initialize.components]\nner = {"labels":1}')
SCHEDULE = """
[training.optimizer.learn_rate]
@schedules = "warmup_linear.v1"
warmup_steps = 250
initial_rate = 0.1
total_steps = 2500
"""


@pytest.mark.parametrize(
    ("edits", "expected", "warned"),
    [
        # the reader named by train_corpus
        (MY_CORPUS, {"corpora.x.@readers": JOINED, READER: CORPUS}, None),
        ([OTHER_READER], {READER: "mine.v1"}, "corpora.train"),
        # frozen and disabled components are not calibrated
        ([toys.FREEZE_NER], {READER: CORPUS, FACTORY: "ner", SAVING: None}, NER),
        (
            [("disabled = []", 'disabled = ["ner"]')],
            {FACTORY: "token_ner", SAVING: None},
            None,
        ),
        ([('y = "ner"', 'y = "token_ner"')], {SAVING: CALIBRATION}, None),
        ([MY_SAVING], {SAVING: MINE}, SAVING),
        ([MY_BLAS], {BLAS: MINE}, BLAS),
        # an `ner` with settings that `token_ner` lacks is kept
        ([LABELS], {FACTORY: "ner"}, NER),
        ([("spans_key = null", 'spans_key = "wrong"')], {FACTORY: "ner"}, NER),
        # optimizers without averages are kept
        ([('"Adam.v1"', '"RAdam.v1"')], {ADAM: "RAdam.v1", AVERAGES: True}, None),
        ([("learn_rate = 0.001\n", SCHEDULE)], {ADAM: toys.ADAM, AVERAGES: True}, None),
        ([('"Adam.v1"', '"mine.v1"')], {ADAM: "mine.v1", AVERAGES: False}, OPTIMIZER),
    ],
)
def test_recommendations_by_config(base, edits, expected, warned):
    made = configure(toys.edit_base(base, *edits))
    assert {place: get_value(made.config, place) for place in expected} == expected
    places = [text[1:].partition("]")[0] for text in made.warnings]
    assert places == ([] if warned is None else [warned])


@pytest.mark.parametrize(
    ("n_whole", "n_others", "reader"),
    [(0, 40, JOINED), (1200, 40, JOINED), (40, 0, CORPUS)],
)
def test_reader_is_kept_without_sentence_boundaries(
    tmp_path, base, n_whole, n_others, reader
):
    whole, other = (
        Doc(Vocab(), words=["Ann", "is"], ents=["B-A", "O"], sent_starts=starts)
        for starts in (None, [True, False])
    )
    # spaCy reports boundaries for a Doc of one token
    single = Doc(Vocab(), words=["Ann"], ents=["B-A"])
    path = tmp_path / "train.spacy"
    DocBin(docs=[whole] * n_whole + [other] * n_others + [single]).to_disk(path)
    made = configure(base, train=path)
    assert get_value(made.config, READER) == reader
    n_docs = n_whole + n_others
    counted = [f"{n_whole:,} of {n_docs:,} Docs" in text for text in made.warnings]
    assert counted == [True] * (n_whole > 0)
    # no such warning with another reader
    (warning,) = configure(toys.edit_base(base, OTHER_READER), train=path).warnings
    assert "boundaries" not in warning


DEPTH = "components.tok2vec.model.encode.depth"


@pytest.mark.parametrize(
    ("pipeline", "there", "given", "expected"),
    [
        (["ner"], 4, None, 8),
        (["tagger", "ner"], 4, None, 4),  # the tagger uses it too
        (["tagger"], 4, None, 4),
        (["ner"], 3, None, 3),  # chosen by the user
        (["ner"], 4, 6, 6),
        (["tagger"], 4, 6, 6),
    ],
)
def test_encoders_of_entities_have_8_layers(tmp_path, pipeline, there, given, expected):
    base = toys.write_base(tmp_path / "base.cfg", *pipeline)
    toys.edit_base(base, ("depth = 4", f"depth = {there}"))
    made = configure(base, depth=given)
    assert get_value(made.config, DEPTH) == expected
    again = configure(toys.write_made(base, made))
    assert get_value(again.config, DEPTH) == expected
    if given is None:
        hashed = toys.configure_hashed(toys.write_base(base, *pipeline))
        assert get_value(hashed.config, DEPTH) == 4


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([toys.FREEZE_NER], 4),  # no component learns entities
        ([("disabled = []", 'disabled = ["tagger"]')], 8),
        ([("disabled = []", 'disabled = ["tagger"]'), ("depth = 4\n", "")], None),
    ],
)
def test_depth_depends_on_trained_components(tmp_path, edits, expected):
    base = toys.write_base(tmp_path / "base.cfg", "tagger", "ner")
    made = configure(toys.edit_base(base, *edits))
    assert get_value(made.config, DEPTH) == expected


def test_invalid_depths_and_depths_without_an_encoder_are_refused(base):
    with pytest.raises(ValueError, match="'depth'"):
        configure(base, depth=0)
    toys.edit_base(base, ("MaxoutWindowEncoder", "MishWindowEncoder"))
    with pytest.raises(ValueError, match="'depth'"):
        configure(base, depth=2)


def test_each_ner_has_its_spans_key_unless_it_reads_a_transformer(tmp_path):
    base = toys.write_base(tmp_path / "base.cfg", "ner", "spancat")
    config = load_config(base)
    components = config["components"]
    components["other"] = deepcopy(components["ner"])
    components["third"] = deepcopy(components["ner"])
    listener = "spacy-transformers.TransformerListener.v1"
    components["third"]["model"]["tok2vec"]["@architectures"] = listener
    base.write_text(config.to_str(interpolate=False))
    components = configure(base).config["components"]
    names = {n: c["factory"] for n, c in components.items() if "spans_key" in c}
    assert names == {"ner": "token_ner", "other": "token_ner", "spancat": "spancat"}
    assert [components[n]["spans_key"] for n in ("ner", "other")] == ["ents", "other"]
    assert components["third"]["factory"] == "ner"


def test_vectors(base, tmp_path):
    """The pipeline of the vectors is not loaded."""
    vectors = toys.write_vectors(tmp_path / "vectors")
    (vectors / "config.cfg").write_text("[nlp]\n")
    made = configure(base, vectors=vectors)
    assert toys.get_embed(made)["include_static_vectors"] is True
    assert made.config["paths"]["vectors"] == str(vectors)


def test_vectors_with_pretrained_weights_are_refused(base, raw, tmp_path):
    toys.write_made(base, configure(base, raw=raw))
    vectors = toys.write_vectors(tmp_path / "vectors")
    with pytest.raises(ValueError, match=r"--vectors.*init_tok2vec"):
        configure(base, vectors=vectors)
    assert configure(base, raw=raw, vectors=vectors).config["paths"]["vectors"]


def test_pretraining_settings_are_kept(base, raw):
    toys.write_made(base, configure(base, raw=raw))
    reader = "path = ${paths.raw_text}\n"
    other = (reader, f'{reader}exclude = ["dev.spacy"]\n')
    toys.edit_base(base, ("max_epochs = 100", "max_epochs = 7"), other)
    config = configure(base, raw=raw).config
    assert config["pretraining"]["max_epochs"] == 7
    assert config["corpora"]["pretrain"]["exclude"] == ["dev.spacy"]


def test_evaluation_texts_are_excluded_from_pretraining(base, raw, corpus):
    dev = toys.write_words(corpus.with_name("dev.spacy"), raw.read_text().split())
    exclude = ["mine.spacy", str(dev), "test.spacy"]
    toys.edit_base(base, ("dev = null", 'dev = null\ntest = "test.spacy"'))
    reader = '@readers = "spacy-hashembeds.RawTexts.v1"\npath = null\n'
    with base.open("a") as file:
        file.write(f'\n[corpora.pretrain]\n{reader}exclude = ["mine.spacy"]\n')
    made = configure(base, train=corpus, raw=raw)
    assert made.config["corpora"]["pretrain"]["exclude"] == exclude
    again = configure(toys.write_made(base, made), train=corpus, raw=raw)
    assert again.config["corpora"] == made.config["corpora"]
    with pytest.raises(ValueError, match=r"texts.*'exclude'"):  # nor counted
        configure(base, train=corpus, raw=dev)


def test_only_spacy_corpora_are_excluded_from_pretraining(base, raw):
    toys.edit_base(base, ("dev = null", 'dev = "dev.iob"\ntest = ["test.spacy"]'))
    made = configure(base, raw=raw)
    assert not made.config["corpora"]["pretrain"].get("exclude")


@pytest.mark.parametrize(
    ("place", "layer"),
    [("components.tok2vec.model", ""), ("components.ner.model.tok2vec", "tok2vec")],
)
def test_embedder_without_encoder_is_pretrained(base, raw, place, layer):
    config = load_config(base)
    embed = config["components"]["tok2vec"]["model"]["embed"]
    config["components"]["ner"]["model"]["tok2vec"]["width"] = 96
    set_dot_to_object(config, place, {**embed, "width": 96})
    if layer:
        config["nlp"]["pipeline"].remove("tok2vec")
        del config["components"]["tok2vec"]
    base.write_text(config.to_str(interpolate=False))
    pretraining = configure(base, raw=raw).config["pretraining"]
    assert pretraining["component"] == place.split(".")[1]
    assert pretraining["layer"] == layer


def test_two_embedders_can_not_be_pretrained(base, raw):
    config = load_config(base)
    config["components"]["other"] = config.interpolate()["components"]["tok2vec"]
    config.to_disk(base, interpolate=False)
    with pytest.raises(ValueError, match="--raw pretrains one tok2vec"):
        configure(base, raw=raw)


def test_raw_texts_get_no_more_rows_than_before(base, raw):
    toys.edit_base(base, (toys.ROWS, "rows = [8, 1, 1, 1]"))
    made = configure(base, raw=raw)
    assert toys.get_embed(made)["tables"] == "config.npz"
    assert made.config["initialize"]["before_init"] is None
    # 100 lines share more than 11 words, prefixes and suffixes
    assert made.symbols.min_freq > 90
    assert sum(len(t.frequent) for t in made.symbols.tables.values()) <= 11
    toys.edit_base(base, ("rows = [8, 1, 1, 1]", toys.ROWS))
    assert configure(base, raw=raw).symbols.min_freq == 2
    hashed = toys.configure_hashed(base, raw=raw)
    assert hashed.symbols is None
    assert hashed.config["pretraining"]


def test_two_embedders_share_the_larger_min_freq(base, corpus):
    toys.write_words(corpus, [f"w{i // 4}x" for i in range(800)])
    toys.edit_base(base, (toys.ROWS, "rows = [90, 9, 9, 9]"))
    config = load_config(base)
    larger = deepcopy(config["components"]["tok2vec"])
    larger["model"]["embed"].update(rows=[5000, 1000, 2500, 2500], width=96)
    config["components"]["other"] = larger
    config.to_disk(base, interpolate=False)
    made = configure(base, train=corpus)
    assert made.config["initialize"]["before_init"]["min_freq"] == 5
    (advice,) = analyze(corpus, config=base)["advice"]
    assert advice["lookup"]["min_freq"] == 5


@pytest.mark.slow
def test_all_components_train(tmp_path, corpus):
    pipeline = ["tagger", "parser", "ner", "spancat", "morphologizer", "textcat"]
    base = toys.write_base(tmp_path / "base.cfg", *pipeline, optimize="accuracy")
    made = configure(base, embedder="hash_former_embed", train=corpus, scorer=True)
    overrides = {**toys.SMALL, "paths.train": str(corpus), "paths.dev": str(corpus)}
    overrides["paths.vectors"] = str(toys.write_vectors(tmp_path / "vectors"))
    loaded = load_config(toys.write_made(tmp_path / "new.cfg", made), overrides)
    log = StringIO()
    nlp, _ = train_pipeline(init_nlp(loaded), tmp_path, stdout=log, stderr=StringIO())
    saved = spacy.load(tmp_path / "model-last")
    doc = nlp.make_doc(" ".join(toys.WORDS))
    before, after = (
        each.get_pipe("tok2vec").model.predict([doc])[0] for each in (nlp, saved)
    )
    np.testing.assert_allclose(before, after, rtol=1e-5, atol=1e-6)
    assert saved.pipe_names == ["tok2vec", *pipeline]
    embed = saved.config["components"]["tok2vec"]["model"]["embed"]
    assert embed["@architectures"] == toys.NAMES["hash_former_embed"]
    assert embed["include_static_vectors"]
    assert "ENTS_UNSEEN_F" in log.getvalue().upper()


@pytest.mark.slow
def test_config_pretrains_and_trains(tmp_path, monkeypatch, base, corpus, raw):
    """Also from an incomplete config, which `spacy pretrain` does not fill."""
    monkeypatch.chdir(tmp_path)
    base.write_text(toys.CNN)
    config = Path("new.cfg")
    made = configure(base, train=corpus, raw=raw, output=config)
    save_symbols("new.npz", made.symbols)
    config.write_text(made.text)
    folder = Path("pretrained/new")
    folder.mkdir(parents=True)
    loaded = load_config(config, {**toys.SMALL, "pretraining.max_epochs": 2})
    pretrain(loaded.interpolate(), folder)
    assert [*srsly.read_jsonl(folder / "log.jsonl")][-1]["nr_word"] > 0
    paths = {"paths.train": str(corpus), "paths.dev": str(corpus)}
    nlp = init_nlp(load_config(config, {**toys.SMALL, **paths}))
    # only strings with a row are kept
    assert "n99" not in nlp.vocab.strings
    weights = (folder / "model-last.bin").read_bytes()
    assert nlp.get_pipe("tok2vec").model.to_bytes() == weights
    train_pipeline(nlp, tmp_path, stdout=StringIO(), stderr=StringIO())
    assert spacy.load("model-last").pipe_names == ["tok2vec", "ner"]
