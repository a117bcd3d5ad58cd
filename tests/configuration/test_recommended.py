"""What `config` puts in without --embedder, what it is worth, and that it trains."""

import re
from copy import deepcopy
from io import StringIO

import pytest
import spacy
import srsly
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.training.pretrain import pretrain
from spacy.util import load_config, set_dot_to_object
from thinc.api import Config

from spacy_hashembeds.analysis import recommendation
from spacy_hashembeds.analysis.analyze import analyze
from spacy_hashembeds.configuration.configure import configure
from spacy_hashembeds.configuration.output import list_commands
from spacy_hashembeds.corpora.joined import LENGTHS
from spacy_hashembeds.symbols import save_symbols

from ..conftest import ROOT
from . import toy_configs as toys

ADAM = "spacy-hashembeds.Adam.v1"
SMALL = {
    "training.max_steps": 2,
    "training.eval_frequency": 1,
    "components.tok2vec.model.encode.width": 16,
    "components.tok2vec.model.encode.depth": 1,
}


@pytest.fixture
def corpus(tmp_path):
    return toys.write_corpus(tmp_path / "train.spacy")


@pytest.fixture
def raw(tmp_path):
    path = tmp_path / "raw.txt"
    lines = (" ".join([*toys.WORDS, f"n{i}"]) for i in range(100))
    path.write_text("\n".join(lines))
    return path


def test_it_is_put_in_with_what_each_choice_is_worth(base, corpus):
    made = configure(base, train=corpus)
    config = made.config
    embed = toys.get_embed(made)
    assert embed["@architectures"] == toys.LOOKUP
    assert config["training"]["optimizer"]["use_averages"] is True
    ner = config["components"]["ner"]
    assert ner["factory"] == "token_ner"
    assert ner["scorer"] == {"@scorers": "spacy.ner_scorer.v1"}
    assert ner["model"]["tok2vec"]["@architectures"] == "spacy.Tok2VecListener.v1"
    assert embed["subwords"] == recommendation.SUBWORD_BLOCK
    why = toys.join_reasons(made)
    for words in ("LOOKUP", "SUBWORDS", "AVERAGES", "TOKEN_NER", "JOINED"):
        assert getattr(recommendation, words) in why
    again = configure(toys.write_made(base, made), train=corpus)
    assert again.config == config


def test_sentences_are_joined_and_settings_of_the_reader_stay(base):
    made = configure(toys.edit_base(base, ("max_length = 0", "max_length = 200")))
    assert made.config["corpora"]["train"] == {
        "@readers": "spacy-hashembeds.JoinedCorpus.v1",
        "path": "${paths.train}",
        "max_length": 200,
        "gold_preproc": False,
        "limit": 0,
        "augmenter": None,
        "lengths": list(LENGTHS),
        "seed": "${training.seed}",
    }
    assert made.config["corpora"]["dev"]["@readers"] == "spacy.Corpus.v1"


def test_the_corpus_is_that_which_is_trained_on_and_a_seed_may_be_missing(base):
    text = base.read_text().replace("[corpora.train]", "[corpora.mine]")
    text = text.replace('"corpora.train"', '"corpora.mine"')
    base.write_text(text.replace("seed = ${system.seed}", "seed = null"))
    corpora = configure(base).config["corpora"]
    assert set(corpora) == {"mine", "dev"}
    assert corpora["mine"]["@readers"] == "spacy-hashembeds.JoinedCorpus.v1"
    assert corpora["mine"]["seed"] == 0


def test_another_reader_stays_and_what_learns_no_entities_has_spacys(tmp_path, base):
    reader = ('@readers = "spacy.Corpus.v1"', '@readers = "mine.v1"')
    made = configure(toys.edit_base(base, reader))
    assert made.config["corpora"]["train"]["@readers"] == "mine.v1"
    assert "[corpora.train] stays as it is, mine.v1. Write .spacy" in made.warnings[0]
    tagger = toys.write_base(tmp_path / "tagger.cfg", ["tagger"])
    train = configure(tagger).config["corpora"]["train"]
    assert train["@readers"] == "spacy.Corpus.v1"
    both = toys.write_base(tmp_path / "both.cfg", ["tagger", "ner"])
    train = configure(toys.edit_base(both, toys.FREEZE_NER)).config["corpora"]["train"]
    assert train["@readers"] == "spacy.Corpus.v1"


def test_with_an_embedder_nothing_else_is_recommended(base):
    config = configure(base, embedder="multi_embed").config
    assert config["corpora"]["train"]["@readers"] == "spacy.Corpus.v1"
    assert config["training"]["optimizer"]["use_averages"] is False
    assert config["components"]["ner"]["factory"] == "ner"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "[initialize.components]\n",
            "[initialize.components]\n[initialize.components.ner]\nlabels = 1\n",
            "[initialize.components.ner]",
        ),
        (
            "incorrect_spans_key = null",
            'incorrect_spans_key = "wrong"',
            "[components.ner.incorrect_spans_key]",
        ),
        (
            "batch_size = 1000",
            "batch_size = ${components.ner.model.hidden_width}",
            "the variable ${components.ner.model.hidden_width} in [nlp]",
        ),
    ],
)
def test_an_ner_that_something_is_for_stays(base, old, new, reason):
    before = configure(base, embedder="multi_embed").config["components"]["ner"]
    made = configure(toys.edit_base(base, (old, new)))
    ner = made.config["components"]["ner"]
    assert ner == {**before, "incorrect_spans_key": ner["incorrect_spans_key"]}
    assert made.warnings == [
        f"[components.ner] stays spaCy's, for which {reason} is.",
    ]


@pytest.mark.parametrize(
    ("edit", "factory"),
    [
        (toys.FREEZE_NER, "ner"),
        (("disabled = []", 'disabled = ["ner"]'), "token_ner"),
    ],
)
def test_an_ner_that_does_not_learn_or_run_is_not_calibrated(base, edit, factory):
    made = configure(toys.edit_base(base, edit))
    assert made.config["components"]["ner"]["factory"] == factory
    assert made.config["training"]["before_to_disk"] is None


def test_an_ner_by_tags_is_calibrated_unless_another_callback_is_there(tmp_path):
    base = toys.write_base(tmp_path / "base.cfg", ["token_ner"])
    made = configure(base)
    assert made.config["training"]["before_to_disk"] == {
        "@callbacks": "spacy-hashembeds.calibrate_ner.v1",
        "corpus": "${training.dev_corpus}",
        "balance": True,
    }
    other = ("before_to_disk = null", 'before_to_disk = {"@callbacks":"mine.v1"}')
    made = configure(toys.edit_base(base, other))
    assert made.config["training"]["before_to_disk"] == {"@callbacks": "mine.v1"}
    (warning,) = made.warnings
    assert "stays as it is, mine.v1. It holds one callback" in warning


def test_each_ner_has_spans_of_its_own_and_what_reads_no_embedder_stays(tmp_path):
    base = toys.write_base(tmp_path / "base.cfg", ["ner", "spancat"])
    text = base.read_text()
    start = text.index("[components.ner]")
    parts = [p for p in text[start:].split("\n\n") if p.startswith("[components.ner")]
    other = "\n\n".join(parts).replace("components.ner", "components.other")
    # one that reads a transformer
    third = other.replace("components.other", "components.third").replace(
        "spacy.Tok2VecListener.v1", "spacy-transformers.TransformerListener.v1"
    )
    base.write_text(f"{text}\n\n{other}\n\n{third}\n")
    components = configure(base).config["components"]
    names = {n: c["factory"] for n, c in components.items() if "spans_key" in c}
    assert names == {"ner": "token_ner", "other": "token_ner", "spancat": "spancat"}
    assert [components[n]["spans_key"] for n in ("ner", "other")] == ["ents", "other"]
    assert components["third"]["factory"] == "ner"


def test_weights_without_vectors_get_none(base, raw, tmp_path):
    toys.write_made(base, configure(base, raw=raw))
    vectors = toys.write_vectors(tmp_path / "vectors")
    with pytest.raises(ValueError, match=r"--vectors can't be mixed in: 'pretrained/"):
        configure(base, vectors=vectors)
    assert configure(base, raw=raw, vectors=vectors).config["paths"]["vectors"]


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


def test_paths_and_optimizers_are_those_that_spacy_fills_in(tmp_path, raw):
    base = tmp_path / "cnn.cfg"
    base.write_text(toys.CNN.replace("dev = null", 'dev = null\nvectors = "vecs"'))
    config = configure(base, raw=raw, embedder="multi_embed").config
    assert config["initialize"]["vectors"] == "${paths.vectors}"
    assert config["training"]["optimizer"] == {
        "@optimizers": ADAM,
        "L2": 0.01,
        "use_averages": False,
    }
    assert config["pretraining"]["optimizer"]["@optimizers"] == ADAM


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
    assert pretraining["component"] == place.split(".")[1]
    assert pretraining["layer"] == layer


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        (('"Adam.v1"', '"RAdam.v1"'), {}),
        (('"Adam.v1"', '"SGD.v1"'), {}),
        # a schedule stays
        (
            (
                "learn_rate = 0.001\n",
                '\n[training.optimizer.learn_rate]\n@schedules = "warmup_linear.v1"\n'
                "warmup_steps = 250\n",
            ),
            {"@optimizers": ADAM},
        ),
    ],
)
def test_an_optimizer_of_thincs_averages_and_keeps_the_rest(base, edit, changed):
    before = load_config(toys.edit_base(base, edit))["training"]["optimizer"]
    optimizer = configure(base).config["training"]["optimizer"]
    assert optimizer == {**before, **changed, "use_averages": True}


def test_an_optimizer_that_nobody_knows_stays(base):
    toys.edit_base(base, ('@optimizers = "Adam.v1"', '@optimizers = "mine.v1"'))
    made = configure(base)
    assert made.config["training"]["optimizer"]["use_averages"] is False
    (warning,) = made.warnings
    assert warning.startswith("[training.optimizer] stays as it is, mine.v1: set use_a")


def test_of_a_pipeline_with_vectors_only_these_are_loaded(base, tmp_path):
    vectors = toys.write_vectors(tmp_path / "vectors")
    nlp = spacy.load(vectors)
    nlp.add_pipe("sentencizer")
    nlp.to_disk(vectors)
    toys.edit_base(vectors / "config.cfg", ('"sentencizer"', '"of.another.package"'))
    assert configure(base, vectors=vectors).config["paths"]["vectors"] == str(vectors)


def test_vectors_are_mixed_in(base, tmp_path):
    vectors = toys.write_vectors(tmp_path / "vectors")
    made = configure(base, vectors=vectors)
    assert toys.get_embed(made)["include_static_vectors"] is True
    assert made.config["paths"]["vectors"] == str(vectors)
    assert not made.needs_vectors
    with pytest.raises(FileNotFoundError, match=r"no vectors 'gone'.*init vectors"):
        configure(base, vectors="gone")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ValueError, match=r"blank' should hold vectors, but has none"):
        configure(base, vectors=tmp_path / "blank")
    (vectors / "vocab" / "vectors").write_bytes(b"\x93NUMPY")
    with pytest.raises(ValueError, match=r"vectors' should hold vectors, but can't"):
        configure(base, vectors=vectors)
    with pytest.raises(ValueError, match=r"but can't be .* Give one of those in it: "):
        configure(base, vectors=tmp_path)


def test_rows_for_raw_texts_are_no_more_than_stood_there(base, raw):
    toys.edit_base(base, (toys.ROWS, "rows = [8, 1, 1, 1]"))
    made = configure(base, raw=raw)
    assert toys.get_embed(made)["tables"] == "config.npz"
    assert made.config["initialize"]["before_init"] is None
    # 13 words and more prefixes and suffixes are there in each of a hundred lines
    assert made.symbols.min_freq > 90
    assert sum(len(t.frequent) for t in made.symbols.tables.values()) <= 11
    (why,) = [c.why for c in made.changes if c.key == "tables"]
    assert "no more than 11, the rows that stood here" in why
    toys.edit_base(base, ("rows = [8, 1, 1, 1]", toys.ROWS))
    assert configure(base, raw=raw).symbols.min_freq == 2
    hashed = toys.configure_hashed(base, raw=raw)
    assert hashed.symbols is None
    assert hashed.is_pretrained


def test_rows_are_no_more_than_stood_there(base, corpus):
    def choose(**options):
        made = configure(base, train=corpus, **options)
        return made.config["initialize"]["before_init"]["min_freq"]

    toys.write_words(corpus, [f"w{i // 4}x" for i in range(800)])
    assert choose() == 2
    # a row for each of 200 words, and one for all others
    toys.edit_base(base, (toys.ROWS, "rows = [90, 90, 90, 90]"))
    assert choose() == 2
    toys.edit_base(base, ("rows = [90, 90, 90, 90]", "rows = [90, 9, 9, 9]"))
    assert choose() == 5
    assert choose(embedder="multi_hybrid_embed") == 5
    assert analyze(corpus, config=base)["advice"][0]["lookup"]["min_freq"] == 5
    # one for both: that of the smaller
    config = load_config(base)
    larger = deepcopy(config["components"]["tok2vec"])
    larger["model"]["embed"].update(rows=[5000, 1000, 2500, 2500], width=96)
    config["components"]["other"] = larger
    base.write_text(config.to_str(interpolate=False))
    assert choose() == 5


def test_one_tok2vec_is_pretrained(base, raw):
    config = load_config(base)
    config["components"]["other"] = config.interpolate()["components"]["tok2vec"]
    config.to_disk(base, interpolate=False)
    with pytest.raises(ValueError, match="--raw pretrains one tok2vec"):
        configure(base, raw=raw)


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
    first, second, _ = list_commands(made, config, corpus)
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
    tok2vec = nlp.get_pipe("tok2vec").model
    weights = (folder / "model-last.bin").read_bytes()
    assert tok2vec.to_bytes() == weights
    (tmp_path / "out").mkdir()
    train(nlp, tmp_path / "out", stdout=StringIO(), stderr=StringIO())
    assert spacy.load(tmp_path / "out" / "model-last").pipe_names == ["tok2vec", "ner"]


def test_how_it_is_pretrained_is_what_the_page_says(base, raw):
    page = (ROOT / "docs" / "pretraining.md").read_text(encoding="utf8")
    (block,) = re.findall(r"```ini\n(.*?)```", page, re.DOTALL)
    block = f"[corpora]\n{block}"
    said = Config().from_str(block, interpolate=False)["pretraining"]
    said["n_save_epoch"] = said["max_epochs"]
    made = configure(base, raw=raw).config["pretraining"]
    for part in ("objective", "batcher", "optimizer"):
        assert said.pop(part).items() <= made.pop(part).items()
    assert said == made
