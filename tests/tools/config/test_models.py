"""Embedders and encoders of every kind, wherever they stand in a config."""

import pytest
from spacy.util import dot_to_object, load_config

from spacy_hashembeds.tools.config.configure import configure

from . import toy_configs as toys
from .toy_configs import configure_hashed, get_embed

HEAD = """
[nlp]
lang = "en"
pipeline = {pipeline}

[components]
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "b.cfg"


def write(path, *components, pipeline=("a",), more=""):
    names = str(list(pipeline)).replace("'", '"')
    path.write_text(HEAD.format(pipeline=names) + "".join(components) + more)
    return path


ENCODE = """\
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 16
depth = 1
window_size = 1
maxout_pieces = 2"""
ENCODE_OLD = ENCODE.replace("v2", "v1")
ENCODE_MISH = """\
@architectures = "spacy.MishWindowEncoder.v2"
width = 16
depth = 1
window_size = 1"""


def tok2vec(name, embed, encode=ENCODE, version="v2"):
    """A tok2vec component as text."""
    return f"""
[components.{name}]
factory = "tok2vec"

[components.{name}.model]
@architectures = "spacy.Tok2Vec.{version}"

[components.{name}.model.embed]
{embed}

[components.{name}.model.encode]
{encode}
"""


MULTI_HASH = """\
@architectures = "spacy.MultiHashEmbed.{version}"
width = ${{components.{name}.model.encode.width}}
attrs = {attrs}
rows = {rows}
include_static_vectors = false"""


def multi_hash(name="a", attrs='["NORM"]', rows="[500]", version="v2"):
    return MULTI_HASH.format(name=name, attrs=attrs, rows=rows, version=version)


EMBED_ALONE = multi_hash().replace("${components.a.model.encode.width}", "16")

CHARACTERS = """\
@architectures = "spacy.CharacterEmbed.{version}"
width = 16
rows = 700
nM = 4
nC = 4
include_static_vectors = false{feature}"""

TAGGER = """
[components.{name}]
factory = "tagger"

[components.{name}.model]
@architectures = "spacy.Tagger.v2"
{more}
"""


def get_model(made, name="a"):
    return made.config["components"][name]["model"]


def check_is_ours(tok2vec, encoder=toys.ENCODER):
    """Check which embedder and encoder stand in a tok2vec."""
    assert tok2vec["embed"]["@architectures"] == toys.HASH
    assert tok2vec["encode"]["@architectures"] == encoder


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_versions_of_spacy_s_embedder_are_replaced(path, version):
    base = write(path, tok2vec("a", multi_hash(version=version)))
    made = configure_hashed(base)
    assert get_embed(made, "a") == {
        "@architectures": toys.HASH,
        "width": "${components.a.model.encode.width}",
        "num_hashes": 4,
        "attrs": ["NORM"],
        "rows": [500],
        "include_static_vectors": False,
        "seed": 9,
    }
    toys.build(made)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_cnn_becomes_an_embedder_and_an_encoder(path, version):
    path.write_text(toys.CNN.replace("HashEmbedCNN.v2", f"HashEmbedCNN.{version}"))
    made = configure_hashed(path)
    assert get_model(made, "tok2vec") == {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": toys.HASH,
            "width": "${components.tok2vec.model.encode.width}",
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
    ner = get_model(made, "ner")
    assert ner["tok2vec"]["width"] == "${components.tok2vec.model.encode.width}"
    assert ner["hidden_width"] == 200
    toys.build(made)
    kept = get_model(configure_hashed(path, encoder=False), "tok2vec")
    assert kept["encode"]["@architectures"] == "spacy.MaxoutWindowEncoder.v2"


@pytest.mark.parametrize(
    ("version", "feature", "attr"),
    [("v1", "", "LOWER"), ("v2", '\nfeature = "NORM"', "NORM")],
)
def test_subwords_stand_for_characters(path, version, feature, attr):
    embed = CHARACTERS.format(version=version, feature=feature)
    made = configure_hashed(write(path, tok2vec("a", embed)))
    assert get_embed(made, "a")["attrs"] == [attr, "PREFIX", "SUFFIX", "SHAPE"]
    assert get_embed(made, "a")["rows"] == [700, 1000, 2500, 2500]
    toys.build(made)


@pytest.mark.parametrize(
    ("embedder", "settings"),
    [
        ("multi_fewer_hash_embed", "rows = [500]"),
        ("multi_embed", "unk = 0\ndropout = null"),
    ],
)
def test_names_of_the_report_become_ours(path, embedder, settings):
    alias = toys.NAMES[embedder].replace("spacy-hashembeds", "spacy")
    embed = multi_hash().replace("spacy.MultiHashEmbed.v2", alias)
    embed = embed.replace("rows = [500]", settings)
    old = load_config(write(path, tok2vec("a", embed)))
    made = configure(path, embedder=embedder)
    # of our own what was set stays, spaCy's seed too
    old = old["components"]["a"]["model"]["embed"]
    assert get_embed(made, "a") == {**old, "@architectures": toys.NAMES[embedder]}


def test_the_seed_and_pieces_that_somebody_chose_stay(path, tiny_corpus):
    train = tiny_corpus / "train.spacy"
    embed = multi_hash().replace("spacy.MultiHashEmbed.v2", toys.HASH)
    settings = "seed = 12\nnum_hashes = 1\nmaxout_pieces = 2"
    base = write(path, tok2vec("a", f"{embed}\n{settings}"))
    block = get_embed(configure_hashed(base, train=train), "a")
    assert (block["seed"], block["maxout_pieces"]) == (12, 2)
    assert block["num_hashes"] > 1
    toys.edit_base(base, ("seed = 12", "seed = 8"))
    assert get_embed(configure_hashed(base, train=train), "a")["seed"] == 9


def test_several_embedders_have_settings_of_their_own(path, tiny_corpus):
    attrs = '["SHAPE", "LOWER"]'
    base = write(
        path,
        tok2vec("a", multi_hash("a", attrs="[67]", rows="[9000]")),
        tok2vec("b", multi_hash("b", attrs=attrs, rows="${vars.rows}")),
        pipeline=["a", "b"],
        more="\n[vars]\nrows = [300,400]\n",
    )
    made = configure_hashed(base, train=tiny_corpus / "train.spacy")
    # numbers of attributes stay
    assert get_embed(made, "a")["attrs"] == [67]
    assert get_embed(made, "a")["rows"] == [9000]
    assert get_embed(made, "b")["attrs"] == ["SHAPE", "LOWER"]
    assert get_embed(made, "b")["rows"] == "${vars.rows}"
    toys.build(made)
    toys.build(configure(base, embedder="multi_embed"))


@pytest.mark.parametrize(
    ("encode", "name", "version"),
    [
        (ENCODE_MISH, "spacy.MishWindowEncoder.v2", "v2"),
        (ENCODE_OLD, "spacy.MaxoutWindowEncoder.v1", "v1"),
    ],
)
def test_other_encoders_stay(path, encode, name, version):
    made = configure_hashed(write(path, tok2vec("a", multi_hash(), encode, version)))
    check_is_ours(get_model(made), encoder=name)
    toys.build(made)


@pytest.mark.parametrize("factory", ["ner", "textcat", "tok2vec", "spancat"])
def test_what_spacy_would_fill_in_is_written_out(path, factory):
    more = f'\n[vars]\nf = "{factory}"\n'
    base = write(path, "\n[components.a]\nfactory = ${vars.f}\n", more=more)
    made = configure_hashed(base)
    model = get_model(made)
    check_is_ours(model if factory == "tok2vec" else model["tok2vec"])
    toys.build(made)


def test_a_model_that_is_written_in_part_is_completed(path):
    base = write(path, TAGGER.format(name="a", more="nO = 5"))
    made = configure_hashed(base)
    assert get_model(made)["nO"] == 5
    check_is_ours(get_model(made)["tok2vec"])
    toys.build(made)


def test_a_model_that_is_another_s_by_a_variable_stays(path):
    tagger = TAGGER.format(name="b", more="tok2vec = ${components.a.model}")
    base = write(path, tok2vec("a", multi_hash()), tagger, pipeline=["a", "b"])
    made = configure_hashed(base)
    assert "tok2vec = ${components.a.model}\n" in made.text
    assert toys.build(made).pipe_names == ["a", "b"]


@pytest.mark.parametrize("key", ["model", "embed", "encode"])
def test_a_block_of_another_section_is_written_out(path, key):
    text = tok2vec("a", EMBED_ALONE)
    place = "components.a.model" + ("" if key == "model" else f".{key}")
    parent = place.rpartition(".")[0]
    text = text.replace(f"[{place}]", "[vars]\n\n[vars.mine]")
    text = text.replace(f"[{place}.", "[vars.mine.")
    text = text.replace(f"[{parent}]\n", f"[{parent}]\n{key} = ${{vars.mine}}\n")
    base = write(path, text)
    old = load_config(base)["vars"]
    made = configure_hashed(base)
    check_is_ours(dot_to_object(made.config, "components.a.model"))
    assert made.config["vars"] == old
    toys.build(made)
    assert configure_hashed(toys.write_made(base, made)).changes == []


def test_a_shared_block_stays_as_it_is_in_a_component_that_is_left(path):
    """Though what is replaced in the other component is deep inside of it."""
    components = [
        f'\n[components.{name}]\nfactory = "tagger"\nmodel = ${{vars.mine}}\n'
        for name in ("a", "b")
    ]
    tagger = '[vars.mine]\n@architectures = "spacy.Tagger.v2"\n\n[vars.mine.tok2vec'
    shared = (
        tok2vec("a", EMBED_ALONE)
        .replace('[components.a]\nfactory = "tok2vec"\n', "[vars]\n")
        .replace("[components.a.model", tagger, 1)
        .replace("[components.a.model", "[vars.mine.tok2vec")
    )
    frozen = '\n[training]\nfrozen_components = ["b"]\n'
    base = write(path, *components, pipeline=["a", "b"], more=shared + frozen)
    old = load_config(base)
    made = configure_hashed(base)
    assert made.config["components"]["b"] == old["components"]["b"]
    assert made.config["vars"] == old["vars"]
    check_is_ours(get_model(made)["tok2vec"])


def test_architectures_may_be_variables(path):
    encode = ENCODE.replace('"spacy.MaxoutWindowEncoder.v2"', "${vars.e}")
    embed = multi_hash().replace('"spacy.MultiHashEmbed.v2"', "${vars.m}")
    more = '\n[vars]\ne = "spacy.MaxoutWindowEncoder.v2"\nm = "spacy.MultiHashEmbed.v2"'
    made = configure_hashed(write(path, tok2vec("a", embed, encode), more=f"{more}\n"))
    check_is_ours(get_model(made))
    toys.build(made)


# What is left as it is


def test_sourced_and_frozen_components_stay_with_a_warning(path):
    base = write(
        path,
        tok2vec("a", multi_hash("a")),
        tok2vec("b", multi_hash("b")),
        '\n[components.c]\nsource = "en_other"\n',
        pipeline=["a", "b", "c"],
        more='\n[training]\nfrozen_components = ["b"]\n',
    )
    old = load_config(base)["components"]
    made = configure_hashed(base)
    check_is_ours(get_model(made, "a"))
    for name in ("b", "c"):
        assert made.config["components"][name] == old[name]
    assert sorted(made.warnings) == [
        "[components.b] keeps its model: it is among [training] frozen_components.",
        "[components.c] keeps its model: it is taken from 'en_other' as it is.",
    ]


BERT = "spacy-curated-transformers.BertTransformer.v1"


@pytest.mark.parametrize(
    ("component", "named"),
    [
        (f'[components.a.model]\n@architectures = "{BERT}"\nvocab_size = 28\n', BERT),
        # which is not shown in full
        (f'[components.a.model]\n@architectures = "{"x" * 5000}"\n', "xxx"),
        ('factory = "sentencizer"\n', "no model"),
        ('source = "en_other"\n', "en_other"),
    ],
    ids=["transformer", "long name", "no model", "sourced"],
)
def test_it_is_said_where_there_is_nothing_to_replace(path, component, named):
    base = write(path, f"\n[components.a]\n{component}")
    with pytest.raises(ValueError, match=rf"b.cfg'.*Embed.*{named}") as refused:
        configure(base)
    assert len(str(refused.value)) < 1200


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (f"{toys.ATTRS}", '"NORM", "SHAPE"', r"model.embed\]"),
        (toys.ROWS, 'rows = ["few", 1, 1, 1]', r"model.embed\]"),
        (toys.ROWS, "rows = [0, 1, 1, 1]", r"model.embed\] .*rows"),
        ('attrs = ["NORM", ', f'attrs = ["{"x" * 2000}", ', "xxx"),
        ("depth = 4", "depth = 300000", r"encode\] .*depth"),
        ("depth = 4", f'depth = "{"x" * 2000}"', r"encode\] .*depth"),
        ("maxout_pieces = 3", "maxout_pieces = 0", r"encode\] .*maxout_pieces"),
        ("window_size = 1", "window_size = ${components.ner.model}", r"encode\] "),
        ('@tokenizers = "spacy.Tokenizer.v1"', "@tokenizers = true", "nlp"),
        ("init_tok2vec = null", f'init_tok2vec = "{"x" * 2000}"', "init_tok2vec"),
    ],
)
def test_what_can_not_be_made_is_named(base, old, new, named):
    train = toys.write_corpus(base.with_name("train.spacy"))
    toys.edit_base(base, (old, new))
    embedder = "multi_fewer_hash_embed" if old == toys.ROWS else None
    with pytest.raises(ValueError, match=named) as refused:
        configure(base, train=train, embedder=embedder)
    assert len(str(refused.value)) < 1000


def test_unknown_embedders_are_refused_with_the_known_ones(path):
    with pytest.raises(ValueError, match="hash_former_embed, multi_e"):
        configure(path, embedder="bert")
