"""Embedders and encoders of every kind, wherever they stand in a config."""

import pytest
from spacy.util import load_config

from spacy_hashembeds.tools.config.configure import configure

from . import toy_configs as toys
from .toy_configs import configure_hashed, get_embed

WIDTH = "${components.tok2vec.model.encode.width}"
ENCODER = '"spacy.MaxoutWindowEncoder.v2"'
MULTI_HASH = '"spacy.MultiHashEmbed.v2"'
SETTINGS = f"""width = {WIDTH}
attrs = [{toys.ATTRS}]
{toys.ROWS}
"""
CHARACTERS = """width = 96
rows = 700
nM = 4
nC = 4
"""
HEAD = '[nlp]\nlang = "en"\npipeline = ["a"]\n\n[components]\n\n[components.a]\n'
BERT = "spacy-curated-transformers.BertTransformer.v1"


def get_tok2vec(made):
    return made.config["components"]["tok2vec"]["model"]


def check_is_ours(tok2vec, encoder=toys.ENCODER):
    """Check which embedder and encoder stand in a tok2vec."""
    assert tok2vec["embed"]["@architectures"] == toys.HASH
    assert tok2vec["encode"]["@architectures"] == encoder


@pytest.mark.parametrize(
    ("edits", "attrs", "rows"),
    [
        (
            [(SETTINGS, f"width = {WIDTH}\nattrs = [67]\nrows = [500]\n")],
            [67],  # numbers of attributes stay
            [500],
        ),
        (
            [("MultiHashEmbed.v2", "MultiHashEmbed.v1"), (toys.ROWS, "rows = ${v.n}")],
            ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
            "${v.n}",
        ),
        (
            [(MULTI_HASH, '"spacy.CharacterEmbed.v1"'), (SETTINGS, CHARACTERS)],
            ["LOWER", "PREFIX", "SUFFIX", "SHAPE"],
            [700, 1000, 2500, 2500],
        ),
        (
            [
                (MULTI_HASH, '"spacy.CharacterEmbed.v2"'),
                (SETTINGS, f'{CHARACTERS}feature = "NORM"\n'),
            ],
            ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
            [700, 1000, 2500, 2500],
        ),
    ],
)
def test_embedders_of_spacy_are_replaced(base, edits, attrs, rows):
    base.write_text(f"{base.read_text()}\n[v]\nn = [50,60,70,80]\n")
    made = configure_hashed(toys.edit_base(base, *edits))
    assert get_embed(made) == {
        "@architectures": toys.HASH,
        "width": 96 if "CharacterEmbed" in str(edits) else WIDTH,
        "num_hashes": 4,
        "attrs": attrs,
        "rows": rows,
        "include_static_vectors": False,
        "seed": 9,
    }
    toys.build(made)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_cnn_becomes_an_embedder_and_an_encoder(base, version):
    base.write_text(toys.CNN.replace("HashEmbedCNN.v2", f"HashEmbedCNN.{version}"))
    made = configure_hashed(base)
    assert get_tok2vec(made) == {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": toys.HASH,
            "width": WIDTH,
            "num_hashes": 4,
            "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
            "rows": [200, 100, 100, 100],
            "include_static_vectors": False,
            "seed": 9,
        },
        "encode": {
            "@architectures": toys.ENCODER,
            "width": 32,
            "depth": 2,
            "window_size": 1,
            "maxout_pieces": 3,
        },
    }
    # a variable for what is still there, a value for what is not
    ner = made.config["components"]["ner"]["model"]
    assert (ner["tok2vec"]["width"], ner["hidden_width"]) == (WIDTH, 200)
    toys.build(made)


@pytest.mark.parametrize("embedder", ["multi_fewer_hash_embed", "multi_embed"])
def test_names_of_the_report_become_ours(base, embedder):
    """Of our own what was set stays, spaCy's seed too."""
    alias = toys.NAMES[embedder].replace("spacy-hashembeds", "spacy")
    settings = toys.ROWS if embedder != "multi_embed" else "unk = 0"
    toys.edit_base(base, (MULTI_HASH, f'"{alias}"'), (toys.ROWS, settings))
    old = load_config(base)["components"]["tok2vec"]["model"]["embed"]
    made = configure(base, embedder=embedder)
    assert get_embed(made) == {**old, "@architectures": toys.NAMES[embedder]}


def test_the_seed_and_pieces_that_somebody_chose_stay(base, tiny_corpus):
    train = tiny_corpus / "train.spacy"
    rows = f"{toys.ROWS}\nseed = 12\nnum_hashes = 1\nmaxout_pieces = 2"
    toys.edit_base(base, (MULTI_HASH, f'"{toys.HASH}"'), (toys.ROWS, rows))
    block = get_embed(configure_hashed(base, train=train))
    assert (block["seed"], block["maxout_pieces"]) == (12, 2)
    assert block["num_hashes"] > 1
    toys.edit_base(base, ("seed = 12", "seed = 8"))
    assert get_embed(configure_hashed(base, train=train))["seed"] == 9


def test_another_encoder_stays(base):
    mish = ('MaxoutWindowEncoder.v2"', 'MishWindowEncoder.v2"')
    made = configure_hashed(toys.edit_base(base, mish, ("maxout_pieces = 3\n", "")))
    check_is_ours(get_tok2vec(made), encoder="spacy.MishWindowEncoder.v2")
    toys.build(made)


def test_architectures_may_be_variables(base):
    text = base.read_text().replace(ENCODER, "${v.e}").replace(MULTI_HASH, "${v.m}")
    base.write_text(f"{text}\n[v]\ne = {ENCODER}\nm = {MULTI_HASH}\n")
    made = configure_hashed(base)
    check_is_ours(get_tok2vec(made))
    toys.build(made)


@pytest.mark.parametrize(
    "factory", ["ner", "tok2vec", 'tagger"\n[components.a.model]\nnO = "5']
)
def test_what_spacy_would_fill_in_is_written_out(base, factory):
    """A model, or what is missing of it."""
    base.write_text(f'{HEAD}factory = "{factory}"\n'.replace('"5"', "5"))
    made = configure_hashed(base)
    model = made.config["components"]["a"]["model"]
    check_is_ours(model if factory == "tok2vec" else model["tok2vec"])
    assert model.get("nO") == (5 if "nO" in factory else None)
    toys.build(made)


def test_a_model_that_is_another_component_s_stays(base):
    text = base.read_text()
    listener = text[text.index("[components.ner.model.tok2vec]") :].split("\n\n")[0]
    model = "[components.ner.model]\n"
    shared = f"{model}tok2vec = ${{components.tok2vec.model}}\n"
    made = configure_hashed(toys.edit_base(base, (listener, ""), (model, shared)))
    assert "tok2vec = ${components.tok2vec.model}\n" in made.text
    toys.build(made)


def test_sourced_and_frozen_components_stay_with_a_warning(base):
    source = '[components]\n\n[components.c]\nsource = "en_other"\n'
    toys.edit_base(base, ("[components]\n", source), toys.FREEZE_NER)
    old = load_config(base)["components"]
    made = configure(base)
    for name in ("ner", "c"):
        assert made.config["components"][name] == old[name]
    frozen, sourced = sorted(made.warnings, reverse=True)
    assert "components.ner" in frozen
    assert "en_other" in sourced


@pytest.mark.parametrize(
    ("component", "named"),
    [
        (f'[components.a.model]\n@architectures = "{BERT}"\nvocab_size = 28\n', BERT),
        # which is not shown in full
        (f'[components.a.model]\n@architectures = "{"x" * 5000}"\n', "xxx"),
        ('factory = "sentencizer"\n', "no model"),
        ('source = "en_other"\n', "no model"),
    ],
    ids=["transformer", "long name", "no model", "sourced"],
)
def test_it_is_said_where_there_is_nothing_to_replace(base, component, named):
    base.write_text(HEAD + component)
    with pytest.raises(ValueError, match=rf"base.cfg'.*Embed.*{named}") as refused:
        configure(base)
    assert len(str(refused.value)) < 1200


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (toys.ATTRS, '"NORM", "SHAPE"', r"model.embed\]"),
        (toys.ROWS, 'rows = ["few", 1, 1, 1]', r"model.embed\]"),
        ('attrs = ["NORM", ', f'attrs = ["{"x" * 2000}", ', "xxx"),
        ("init_tok2vec = null", f'init_tok2vec = "{"x" * 2000}"', "init_tok2vec"),
    ],
)
def test_what_can_not_be_made_is_named(base, old, new, named):
    with pytest.raises(ValueError, match=named) as refused:
        configure(toys.edit_base(base, (old, new)))
    assert len(str(refused.value)) < 1000


def test_unknown_embedders_are_refused_with_the_known_ones(base):
    with pytest.raises(ValueError, match="hash_former_embed"):
        configure(base, embedder="bert")
