"""Embedders and encoders of every kind, wherever they stand in a config."""

import pytest
from spacy.util import dot_to_object, load_config

from spacy_hashembeds.configuration.configure import configure

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
    assert "The subwords stand for the characters of CharacterEmbed" in made.text
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
    made = configure(write(path, tok2vec("a", embed)), embedder=embedder)
    changed = {change.place for change in made.changes}
    assert "[components.a.model.embed] @architectures" in changed
    # of our own what was set stays, spaCy's seed too
    block = get_embed(made, "a")
    assert block["@architectures"] == toys.NAMES[embedder]
    assert "num_hashes" not in block
    assert "seed" not in block
    assert ("dropout" in block) == (embedder == "multi_embed")


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
        tok2vec("a", multi_hash("a", rows="[9000]")),
        tok2vec("b", multi_hash("b", attrs=attrs, rows="${vars.rows}")),
        pipeline=["a", "b"],
        more="\n[vars]\nrows = [300,400]\n",
    )
    made = configure_hashed(base, train=tiny_corpus / "train.spacy")
    assert get_embed(made, "a")["rows"] == [9000]
    assert get_embed(made, "b")["attrs"] == ["SHAPE", "LOWER"]
    assert get_embed(made, "b")["rows"] == "${vars.rows}"
    toys.build(made)
    made = configure(base, embedder="multi_embed")
    both = "In [components.a.model.embed] and [components.b.model.embed]"
    assert both in toys.join_reasons(made)
    toys.build(made)


def test_numbers_of_attributes_stay(path):
    base = write(path, tok2vec("a", multi_hash(attrs="[67]")))
    assert get_embed(configure_hashed(base), "a")["attrs"] == [67]


def test_an_old_encoder_gets_the_tok2vec_that_ours_needs(path):
    base = write(path, tok2vec("a", multi_hash(), ENCODE_OLD, version="v1"))
    kept = get_model(configure_hashed(base, encoder=False))
    assert kept["@architectures"] == "spacy.Tok2Vec.v1"
    made = configure_hashed(base)
    assert get_model(made)["@architectures"] == "spacy.Tok2Vec.v2"
    check_is_ours(get_model(made))
    nlp = toys.build(made)
    nlp.initialize()
    assert nlp("two words").tensor.shape == (2, 16)


def test_other_encoders_stay(path):
    made = configure_hashed(write(path, tok2vec("a", multi_hash(), ENCODE_MISH)))
    check_is_ours(get_model(made), encoder="spacy.MishWindowEncoder.v2")


@pytest.mark.parametrize("factory", ["ner", "textcat", "tok2vec", "spancat"])
def test_what_spacy_would_fill_in_is_written_out(path, factory):
    made = configure_hashed(write(path, f'\n[components.a]\nfactory = "{factory}"\n'))
    model = get_model(made)
    check_is_ours(model if factory == "tok2vec" else model["tok2vec"])
    toys.build(made)


def test_a_model_that_is_written_in_part_is_completed(path):
    base = write(path, TAGGER.format(name="a", more="# mine\nnO = 5"))
    made = configure_hashed(base)
    assert get_model(made)["nO"] == 5
    check_is_ours(get_model(made)["tok2vec"])
    assert "# mine\nnO = 5" in made.text
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
    assert "# spacy-hashembeds: In place of ${vars.mine}, to be changed" in made.text
    toys.build(made)
    assert configure_hashed(toys.write_made(base, made)).changes == []


def test_two_that_share_a_block_get_one_each(path):
    texts = [
        tok2vec(n, "@x = 1")
        .replace(f"\n[components.{n}.model.embed]\n@x = 1\n", "")
        .replace('"spacy.Tok2Vec.v2"', '"spacy.Tok2Vec.v2"\nembed = ${vars.a}')
        for n in ("a", "b")
    ]
    more = f"\n[vars]\na = ${{vars.b}}\n\n[vars.b]\n{EMBED_ALONE}\n"
    made = configure_hashed(write(path, *texts, pipeline=["a", "b"], more=more))
    first, second = (get_embed(made, name) for name in ("a", "b"))
    assert first == second
    assert first is not second
    assert first["seed"] == 9
    toys.build(made)


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


def test_a_default_model_is_found_by_a_factory_that_is_a_variable(path):
    ner = "\n[components.a]\nfactory = ${vars.f}\n"
    made = configure_hashed(write(path, ner, more='\n[vars]\nf = "ner"\n'))
    check_is_ours(get_model(made)["tok2vec"])
    assert made.config["components"]["a"]["factory"] == "${vars.f}"
    toys.build(made)


def test_architectures_may_be_variables(path):
    encode = ENCODE_OLD.replace('"spacy.MaxoutWindowEncoder.v1"', "${vars.e}")
    text = tok2vec("a", multi_hash(version="v1"), encode, "v1")
    text = text.replace('"spacy.Tok2Vec.v1"', "${vars.t}")
    more = '\n[vars]\ne = "spacy.MaxoutWindowEncoder.v1"\nt = "spacy.Tok2Vec.v1"\n'
    made = configure_hashed(write(path, text, more=more))
    assert get_model(made)["@architectures"] == "spacy.Tok2Vec.v2"
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
    ("component", "has"),
    [
        (
            f'[components.a.model]\n@architectures = "{BERT}"\nvocab_size = 28996\n',
            rf"has none \(components.a.model: {BERT}\)",
        ),
        # which is not shown in full
        (
            f'[components.a.model]\n@architectures = "{"x" * 5000}"\n',
            r"has none .components.a.model: xx+\)",
        ),
        ('factory = "sentencizer"\n', r"has none .no model at all\)\.$"),
    ],
    ids=["transformer", "long name", "no model"],
)
def test_it_is_said_where_there_is_nothing_to_replace(path, component, has):
    base = write(path, f"\n[components.a]\n{component}")
    error = rf"(?s)b.cfg' should have an embedder .*spacy.MultiHashEmbed.* {has}"
    with pytest.raises(ValueError, match=error) as refused:
        configure(base)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    ("attrs", "rows", "error"),
    [
        ('["NORM", "SHAPE"]', "[500]", "a.model.embed. should .*Mismatched lengths: 1"),
        ('["NORM"]', '["few"]', r"a.model.embed. should name a model that can be"),
        ('["NORM"]', "[0]", "a.model.embed. should .*rows' should be 1 to 2147483647"),
    ],
)
def test_an_embedder_that_could_not_be_built_is_named(path, attrs, rows, error):
    base = write(path, tok2vec("a", multi_hash("a", attrs, rows)))
    with pytest.raises(ValueError, match=error):
        configure_hashed(base)


def test_unknown_embedders_are_refused_with_the_known_ones(path):
    with pytest.raises(ValueError, match="There are: hash_former_embed, multi_e"):
        configure(path, embedder="bert")


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("depth = 4", "depth = 300000", r"encode\] depth should be 100 or less"),
        ("maxout_pieces = 3", "maxout_pieces = 0", r"encode\] .*maxout_pieces. should"),
        (
            "window_size = 1",
            "window_size = ${components.ner.model}",
            r"encode\] should name a model that can be built: Undefined operator",
        ),
        (
            '@tokenizers = "spacy.Tokenizer.v1"',
            "@tokenizers = true",
            r"\[nlp\] should have what can be made, but",
        ),
    ],
)
def test_what_can_not_be_made_is_named(base, old, new, error):
    train = toys.write_corpus(base.with_name("train.spacy"))
    with pytest.raises(ValueError, match=error):
        configure(toys.edit_base(base, (old, new)), train=train)
