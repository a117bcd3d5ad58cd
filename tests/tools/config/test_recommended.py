"""What `config` puts in without --embedder, with --raw and --vectors."""

import re
from copy import deepcopy
from io import StringIO

import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.training.pretrain import pretrain
from spacy.util import load_config, set_dot_to_object
from spacy.vocab import Vocab
from thinc.api import Config

from spacy_hashembeds.architectures.symbols import save_symbols
from spacy_hashembeds.tools.analyze.analyze import analyze
from spacy_hashembeds.tools.config.configure import configure, list_commands
from spacy_hashembeds.tools.config.edits import get_value
from spacy_hashembeds.training.joined import LENGTHS

from ...conftest import ROOT
from . import toy_configs as toys

JOINED = "spacy-hashembeds.JoinedCorpus.v1"
ADAM = "spacy-hashembeds.Adam.v1"
CALIBRATION = {
    "@callbacks": "spacy-hashembeds.calibrate_ner.v1",
    "corpus": "${training.dev_corpus}",
    "balance": True,
}
SMALL = {
    "training.max_steps": 2,
    "training.eval_frequency": 1,
    "components.tok2vec.model.encode.width": 16,
    "components.tok2vec.model.encode.depth": 1,
}

FACTORY = "components.ner.factory"
READER = "corpora.train.@readers"
OPTIMIZER = "training.optimizer"
SAVING = "training.before_to_disk"
LABELS = "[initialize.components.ner]\nlabels = 1\n"
OTHER_READER = ('@readers = "spacy.Corpus.v1"', '@readers = "mine.v1"')


@pytest.fixture
def corpus(tmp_path):
    return toys.write_corpus(tmp_path / "train.spacy")


@pytest.fixture
def raw(tmp_path):
    path = tmp_path / "raw.txt"
    lines = (" ".join([*toys.WORDS, f"n{i}"]) for i in range(100))
    path.write_text("\n".join(lines))
    return path


def test_it_is_put_in(base, corpus):
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
    # settings of the reader stay
    assert config["corpora"]["train"] == {
        "@readers": JOINED,
        "path": "${paths.train}",
        "max_length": 200,
        "gold_preproc": False,
        "limit": 0,
        "augmenter": None,
        "lengths": list(LENGTHS),
        "seed": "${training.seed}",
    }
    assert config["corpora"]["dev"]["@readers"] == "spacy.Corpus.v1"
    again = configure(toys.write_made(base, made), train=corpus)
    assert (again.config, again.changes) == (made.config, [])


MINE = ('"corpora.train"', '"corpora.mine"')
RULE = "warmup_steps = 250\ninitial_rate = 0.1\ntotal_steps = 2500\n"
LEARN_RATE = (
    "learn_rate = 0.001\n",
    f'\n[{OPTIMIZER}.learn_rate]\n@schedules = "warmup_linear.v1"\n{RULE}',
)
MINE_V1 = {"@callbacks": "mine.v1"}


@pytest.mark.parametrize(
    ("pipeline", "edits", "expected", "warned"),
    [
        # the corpus is that which is trained on
        (
            "ner",
            [("[corpora.train]", "[corpora.mine]"), MINE],
            {"corpora.mine.@readers": JOINED, READER: "spacy.Corpus.v1"},
            None,
        ),
        ("ner", [OTHER_READER], {READER: "mine.v1"}, "corpora.train"),
        ("tagger", [], {READER: "spacy.Corpus.v1"}, None),
        # what does not learn or run is not calibrated
        (
            "ner",
            [toys.FREEZE_NER],
            {READER: "spacy.Corpus.v1", FACTORY: "ner", SAVING: None},
            "components.ner",
        ),
        (
            "ner",
            [("disabled = []", 'disabled = ["ner"]')],
            {FACTORY: "token_ner", SAVING: None},
            None,
        ),
        ("token_ner", [], {SAVING: CALIBRATION}, None),
        (
            "token_ner",
            [("before_to_disk = null", 'before_to_disk = {"@callbacks":"mine.v1"}')],
            {SAVING: MINE_V1},
            "training.before_to_disk",
        ),
        # an `ner` that something is for stays
        (
            "ner",
            [("[initialize.components]\n", "[initialize.components]\n" + LABELS)],
            {FACTORY: "ner"},
            "components.ner",
        ),
        (
            "ner",
            [("incorrect_spans_key = null", 'incorrect_spans_key = "wrong"')],
            {FACTORY: "ner", "components.ner.incorrect_spans_key": "wrong"},
            "components.ner",
        ),
        # optimizers of Thinc's average, others stay
        (
            "ner",
            [('"Adam.v1"', '"RAdam.v1"')],
            {f"{OPTIMIZER}.@optimizers": "RAdam.v1", f"{OPTIMIZER}.use_averages": True},
            None,
        ),
        (
            "ner",
            [LEARN_RATE],
            {f"{OPTIMIZER}.@optimizers": ADAM, f"{OPTIMIZER}.use_averages": True},
            None,
        ),
        (
            "ner",
            [('"Adam.v1"', '"mine.v1"')],
            {f"{OPTIMIZER}.@optimizers": "mine.v1", f"{OPTIMIZER}.use_averages": False},
            "training.optimizer",
        ),
    ],
)
def test_what_stays_is_warned_of(tmp_path, pipeline, edits, expected, warned):
    base = toys.write_base(tmp_path / "base.cfg", [pipeline])
    made = configure(toys.edit_base(base, *edits))
    assert {place: get_value(made.config, place) for place in expected} == expected
    places = [text[1:].partition("]")[0] for text in made.warnings]
    assert places == ([] if warned is None else [warned])


@pytest.mark.parametrize(
    ("n_whole", "n_others", "reader"),
    [(0, 40, JOINED), (1200, 40, JOINED), (40, 0, "spacy.Corpus.v1")],
)
def test_the_reader_stays_where_no_doc_has_boundaries(
    tmp_path, base, n_whole, n_others, reader
):
    docs = [
        Doc(Vocab(), words=["Ann", "is"], ents=["B-A", "O"], sent_starts=starts)
        for starts in (None, [True, False])
    ]
    # spaCy says that a Doc of one token has boundaries
    single = Doc(Vocab(), words=["Ann"], ents=["B-A"])
    path = tmp_path / "train.spacy"
    DocBin(docs=[docs[0]] * n_whole + [docs[1]] * n_others + [single]).to_disk(path)
    made = configure(base, train=path)
    assert get_value(made.config, READER) == reader
    n_docs = n_whole + n_others
    counted = any(f"{n_whole:,} of {n_docs:,} Docs" in text for text in made.warnings)
    assert counted is (0 < n_whole < n_docs)
    assert any("[corpora.train]" in text for text in made.notes) is (n_others == 0)
    # nothing is said of a reader that leaves all Docs whole
    made = configure(toys.edit_base(base, OTHER_READER), train=path)
    assert not made.notes
    assert not any("boundaries" in text for text in made.warnings)


def test_with_an_embedder_nothing_else_is_recommended(base):
    config = configure(base, embedder="multi_embed").config
    assert get_value(config, READER) == "spacy.Corpus.v1"
    assert config["training"]["optimizer"]["use_averages"] is False
    assert get_value(config, FACTORY) == "ner"


def test_each_ner_has_spans_of_its_own_and_what_reads_no_embedder_stays(tmp_path):
    base = toys.write_base(tmp_path / "base.cfg", ["ner", "spancat"])
    config = load_config(base)
    components = config["components"]
    components["other"] = deepcopy(components["ner"])
    # one that reads a transformer
    components["third"] = deepcopy(components["ner"])
    listener = "spacy-transformers.TransformerListener.v1"
    components["third"]["model"]["tok2vec"]["@architectures"] = listener
    base.write_text(config.to_str(interpolate=False))
    components = configure(base).config["components"]
    names = {n: c["factory"] for n, c in components.items() if "spans_key" in c}
    assert names == {"ner": "token_ner", "other": "token_ner", "spancat": "spancat"}
    assert [components[n]["spans_key"] for n in ("ner", "other")] == ["ents", "other"]
    assert components["third"]["factory"] == "ner"


# Vectors


def test_vectors_are_mixed_in(base, tmp_path):
    """Though the pipeline that has them can't be loaded."""
    vectors = toys.write_vectors(tmp_path / "vectors")
    (vectors / "config.cfg").write_text("[nlp]\n")
    made = configure(base, vectors=vectors)
    assert toys.get_embed(made)["include_static_vectors"] is True
    assert made.config["paths"]["vectors"] == str(vectors)
    (vectors / "vocab" / "vectors").unlink()
    for path in ("gone", vectors, tmp_path):
        with pytest.raises((ValueError, OSError), match=str(path)):
            configure(base, vectors=path)


def test_weights_without_vectors_get_none(base, raw, tmp_path):
    toys.write_made(base, configure(base, raw=raw))
    vectors = toys.write_vectors(tmp_path / "vectors")
    with pytest.raises(ValueError, match=r"--vectors.*init_tok2vec"):
        configure(base, vectors=vectors)
    assert configure(base, raw=raw, vectors=vectors).config["paths"]["vectors"]


# Texts


def test_what_was_set_for_pretraining_stays(base, raw):
    toys.write_made(base, configure(base, raw=raw))
    reader = '@readers = "spacy-hashembeds.RawTexts.v1"\n'
    toys.edit_base(
        base,
        ("max_epochs = 100", "max_epochs = 7"),
        (reader, f'{reader}exclude = ["dev.spacy"]\n'),
    )
    config = configure(base, raw=raw).config
    assert config["pretraining"]["max_epochs"] == 7
    assert config["corpora"]["pretrain"]["exclude"] == ["dev.spacy"]


@pytest.mark.parametrize(
    ("place", "layer"),
    [("components.tok2vec.model", ""), ("components.ner.model.tok2vec", "tok2vec")],
)
def test_an_embedder_alone_is_pretrained(base, raw, place, layer):
    config = load_config(base)
    embed = config["components"]["tok2vec"]["model"]["embed"]
    config["components"]["ner"]["model"]["tok2vec"]["width"] = 96
    set_dot_to_object(config, place, {**embed, "width": 96})
    if layer:
        config["nlp"]["pipeline"].remove("tok2vec")
        del config["components"]["tok2vec"]
    base.write_text(config.to_str(interpolate=False))
    pretraining = configure(base, raw=raw, encoder=False).config["pretraining"]
    assert (pretraining["component"], pretraining["layer"]) == (
        place.split(".")[1],
        layer,
    )


def test_one_tok2vec_is_pretrained(base, raw):
    config = load_config(base)
    config["components"]["other"] = config.interpolate()["components"]["tok2vec"]
    config.to_disk(base, interpolate=False)
    with pytest.raises(ValueError, match="--raw pretrains one tok2vec"):
        configure(base, raw=raw)


def test_rows_for_raw_texts_are_no_more_than_stood_there(base, raw):
    toys.edit_base(base, (toys.ROWS, "rows = [8, 1, 1, 1]"))
    made = configure(base, raw=raw)
    assert toys.get_embed(made)["tables"] == "config.npz"
    assert made.config["initialize"]["before_init"] is None
    # 13 words and more prefixes and suffixes are there in each of a hundred lines
    assert made.symbols.min_freq > 90
    assert sum(len(t.frequent) for t in made.symbols.tables.values()) <= 11
    toys.edit_base(base, ("rows = [8, 1, 1, 1]", toys.ROWS))
    assert configure(base, raw=raw).symbols.min_freq == 2
    hashed = toys.configure_hashed(base, raw=raw)
    assert hashed.symbols is None
    assert hashed.config["pretraining"]


def test_rows_are_no_more_than_stood_there(base, corpus):
    def choose():
        made = configure(base, train=corpus)
        return made.config["initialize"]["before_init"]["min_freq"]

    toys.write_words(corpus, [f"w{i // 4}x" for i in range(800)])
    assert choose() == 2
    # a row for each of 200 words, and one for all others
    toys.edit_base(base, (toys.ROWS, "rows = [90, 90, 90, 90]"))
    assert choose() == 2
    toys.edit_base(base, ("rows = [90, 90, 90, 90]", "rows = [90, 9, 9, 9]"))
    assert choose() == 5
    assert analyze(corpus, config=base)["advice"][0]["lookup"]["min_freq"] == 5
    # one for both: that of the smaller
    config = load_config(base)
    larger = deepcopy(config["components"]["tok2vec"])
    larger["model"]["embed"].update(rows=[5000, 1000, 2500, 2500], width=96)
    config["components"]["other"] = larger
    base.write_text(config.to_str(interpolate=False))
    assert choose() == 5


@pytest.mark.slow
def test_it_is_pretrained_and_trains_by_the_commands_that_are_printed(
    tmp_path, monkeypatch, base, corpus, raw
):
    """Though `spacy pretrain` fills in nothing, and this config leaves most out."""
    monkeypatch.chdir(tmp_path)
    base.write_text(toys.CNN)
    config = tmp_path / "new.cfg"
    made = configure(base, train=corpus, raw=raw, output=config)
    save_symbols("new.npz", made.symbols)
    config.write_text(made.text)
    first, second, _ = list_commands(made, config, train=corpus, raw=raw)
    assert first == f"spacy pretrain {config} pretrained/new"
    assert second.startswith(f"spacy train {config} --output training/new ")
    folder = tmp_path / "pretrained" / "new"
    folder.mkdir(parents=True)
    loaded = load_config(config, {**SMALL, "pretraining.max_epochs": 2})
    pretrain(loaded.interpolate(), folder)
    log = [*srsly.read_jsonl(folder / "log.jsonl")]
    assert log[-1]["nr_word"] > 0
    paths = {"paths.train": str(corpus), "paths.dev": str(corpus)}
    nlp = init_nlp(load_config(config, {**SMALL, **paths}))
    # nothing of the texts is kept but what has a row
    assert "n99" not in nlp.vocab.strings
    weights = (folder / "model-last.bin").read_bytes()
    assert nlp.get_pipe("tok2vec").model.to_bytes() == weights
    (tmp_path / "out").mkdir()
    train(nlp, tmp_path / "out", stdout=StringIO(), stderr=StringIO())
    assert spacy.load(tmp_path / "out" / "model-last").pipe_names == ["tok2vec", "ner"]


def test_how_it_is_pretrained_is_what_the_page_says(base, raw):
    page = (ROOT / "docs" / "pretraining.md").read_text(encoding="utf8")
    (block,) = re.findall(r"```ini\n(.*?)```", page, re.DOTALL)
    said = Config().from_str(f"[corpora]\n{block}", interpolate=False)["pretraining"]
    said["n_save_epoch"] = said["max_epochs"]
    made = configure(base, raw=raw).config["pretraining"]
    for part in ("objective", "batcher", "optimizer"):
        assert said.pop(part).items() <= made.pop(part).items()
    assert said == made
