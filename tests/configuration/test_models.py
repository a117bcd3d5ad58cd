"""Embedders and encoders of every kind, wherever they stand in a config."""

import pytest
from spacy.util import dot_to_object, load_config

from spacy_hashembeds.configuration.configure import configure

from . import toy_configs as toys

HEAD = """
[nlp]
lang = "en"
pipeline = {pipeline}

[components]
"""


def write(path, *components, pipeline=("a",), more=""):
    names = str(list(pipeline)).replace("'", '"')
    path.write_text(HEAD.format(pipeline=names) + "".join(components) + more)
    return path


def tok2vec(name, embed, encode=None, version="v2"):
    """A tok2vec component as text."""
    encode = encode or (
        '@architectures = "spacy.MaxoutWindowEncoder.v2"\n'
        "width = 16\ndepth = 1\nwindow_size = 1\nmaxout_pieces = 2"
    )
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

ENCODE_OLD = """\
@architectures = "spacy.MaxoutWindowEncoder.v1"
width = 16
depth = 1
window_size = 1
maxout_pieces = 2"""

CHARACTERS = """\
@architectures = "spacy.CharacterEmbed.{version}"
width = 16
rows = 700
nM = 4
nC = 4
include_static_vectors = false{feature}"""


def get_embed(made, name="a"):
    return dot_to_object(made.config, f"components.{name}.model.embed")


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_versions_of_spacy_s_embedder_are_replaced(tmp_path, version):
    base = write(tmp_path / "b.cfg", tok2vec("a", multi_hash(version=version)))
    made = configure(base, embedder="multi_fewer_hash_embed")
    assert get_embed(made) == {
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
def test_a_cnn_becomes_an_embedder_and_an_encoder(tmp_path, version):
    base = tmp_path / "b.cfg"
    base.write_text(toys.CNN.replace("HashEmbedCNN.v2", f"HashEmbedCNN.{version}"))
    made = configure(base, embedder="multi_fewer_hash_embed")
    assert made.config["components"]["tok2vec"]["model"] == {
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
    ner = made.config["components"]["ner"]["model"]
    # a variable for what is still there, a value for what is not
    assert ner["tok2vec"]["width"] == "${components.tok2vec.model.encode.width}"
    assert ner["hidden_width"] == 200
    toys.build(made)
    kept = configure(base, encoder=False, embedder="multi_fewer_hash_embed").config[
        "components"
    ]["tok2vec"]["model"]
    assert kept["encode"]["@architectures"] == "spacy.MaxoutWindowEncoder.v2"


@pytest.mark.parametrize(
    ("version", "feature", "attr"),
    [("v1", "", "LOWER"), ("v2", '\nfeature = "NORM"', "NORM")],
)
def test_subwords_stand_for_characters(tmp_path, version, feature, attr):
    embed = CHARACTERS.format(version=version, feature=feature)
    made = configure(
        write(tmp_path / "b.cfg", tok2vec("a", embed)),
        embedder="multi_fewer_hash_embed",
    )
    assert get_embed(made)["attrs"] == [attr, "PREFIX", "SUFFIX", "SHAPE"]
    assert get_embed(made)["rows"] == [700, 1000, 2500, 2500]
    assert "The subwords stand for the characters of CharacterEmbed" in made.text
    toys.build(made)


@pytest.mark.parametrize("embedder", ["multi_fewer_hash_embed", "multi_embed"])
def test_names_of_the_report_become_ours(tmp_path, embedder):
    alias = toys.NAMES[embedder].replace("spacy-hashembeds", "spacy")
    embed = multi_hash().replace("spacy.MultiHashEmbed.v2", alias)
    if embedder == "multi_embed":
        embed = embed.replace("rows = [500]", "unk = 0\ndropout = null")
    made = configure(write(tmp_path / "b.cfg", tok2vec("a", embed)), embedder=embedder)
    changed = {change.place for change in made.changes}
    assert "[components.a.model.embed] @architectures" in changed
    # of our own what was set stays, spaCy's seed too
    block = get_embed(made)
    assert block["@architectures"] == toys.NAMES[embedder]
    assert "num_hashes" not in block
    assert "seed" not in block
    assert ("dropout" in block) == (embedder == "multi_embed")


def test_the_seed_and_pieces_that_somebody_chose_stay(tmp_path, tiny_corpus):
    embed = multi_hash().replace("spacy.MultiHashEmbed.v2", toys.HASH)
    base = write(
        tmp_path / "b.cfg",
        tok2vec("a", f"{embed}\nseed = 12\nnum_hashes = 1\nmaxout_pieces = 2"),
    )
    made = configure(
        base, train=tiny_corpus / "train.spacy", embedder="multi_fewer_hash_embed"
    )
    block = get_embed(made)
    assert (block["seed"], block["maxout_pieces"]) == (12, 2)
    assert block["num_hashes"] > 1
    toys.edit_base(base, ("seed = 12", "seed = 8"))
    assert (
        get_embed(
            configure(
                base,
                train=tiny_corpus / "train.spacy",
                embedder="multi_fewer_hash_embed",
            )
        )["seed"]
        == 9
    )


def test_several_embedders_have_settings_of_their_own(tmp_path, tiny_corpus):
    attrs = '["SHAPE", "LOWER"]'
    base = write(
        tmp_path / "b.cfg",
        tok2vec("a", multi_hash("a", rows="[9000]")),
        tok2vec("b", multi_hash("b", attrs=attrs, rows="${vars.rows}")),
        pipeline=["a", "b"],
        more="\n[vars]\nrows = [300,400]\n",
    )
    made = configure(
        base, train=tiny_corpus / "train.spacy", embedder="multi_fewer_hash_embed"
    )
    assert get_embed(made, "a")["rows"] == [9000]
    assert get_embed(made, "b")["attrs"] == ["SHAPE", "LOWER"]
    assert get_embed(made, "b")["rows"] == "${vars.rows}"
    toys.build(made)
    made = configure(base, embedder="multi_embed")
    assert "In [components.a.model.embed] and [components.b.model.embed]" in " ".join(
        change.why for change in made.changes
    )
    toys.build(made)


def test_numbers_of_attributes_stay(tmp_path):
    base = write(tmp_path / "b.cfg", tok2vec("a", multi_hash(attrs="[67]")))
    assert get_embed(configure(base, embedder="multi_fewer_hash_embed"))["attrs"] == [
        67
    ]


def test_an_old_encoder_gets_the_tok2vec_that_ours_needs(tmp_path):
    encode = (
        '@architectures = "spacy.MaxoutWindowEncoder.v1"\n'
        "width = 16\ndepth = 1\nwindow_size = 1\nmaxout_pieces = 2"
    )
    base = write(tmp_path / "b.cfg", tok2vec("a", multi_hash(), encode, version="v1"))
    model = configure(base, embedder="multi_fewer_hash_embed").config["components"][
        "a"
    ]["model"]
    assert model["@architectures"] == "spacy.Tok2Vec.v2"
    assert model["encode"]["@architectures"] == toys.ENCODER
    model = configure(base, encoder=False, embedder="multi_fewer_hash_embed").config[
        "components"
    ]["a"]["model"]
    assert model["@architectures"] == "spacy.Tok2Vec.v1"
    nlp = toys.build(configure(base, embedder="multi_fewer_hash_embed"))
    nlp.initialize()
    assert nlp("two words").tensor.shape == (2, 16)


def test_other_encoders_stay(tmp_path):
    encode = '@architectures = "spacy.MishWindowEncoder.v2"\n'
    encode += "width = 16\ndepth = 1\nwindow_size = 1"
    made = configure(
        write(tmp_path / "b.cfg", tok2vec("a", multi_hash(), encode)),
        embedder="multi_fewer_hash_embed",
    )
    model = made.config["components"]["a"]["model"]
    assert model["encode"]["@architectures"] == "spacy.MishWindowEncoder.v2"
    assert model["embed"]["@architectures"] == toys.HASH


@pytest.mark.parametrize("factory", ["ner", "textcat", "tok2vec", "spancat"])
def test_what_spacy_would_fill_in_is_written_out(tmp_path, factory):
    base = write(tmp_path / "b.cfg", f'\n[components.a]\nfactory = "{factory}"\n')
    made = configure(base, embedder="multi_fewer_hash_embed")
    model = made.config["components"]["a"]["model"]
    inner = model if factory == "tok2vec" else model["tok2vec"]
    assert inner["embed"]["@architectures"] == toys.HASH
    assert inner["encode"]["@architectures"] == toys.ENCODER
    toys.build(made)


def test_a_model_that_is_written_in_part_is_completed(tmp_path):
    model = '[components.a.model]\n@architectures = "spacy.Tagger.v2"\n# mine\nnO = 5\n'
    base = write(tmp_path / "b.cfg", f'\n[components.a]\nfactory = "tagger"\n\n{model}')
    made = configure(base, embedder="multi_fewer_hash_embed")
    inner = made.config["components"]["a"]["model"]
    assert inner["nO"] == 5
    assert inner["tok2vec"]["embed"]["@architectures"] == toys.HASH
    assert "# mine\nnO = 5" in made.text
    toys.build(made)


def test_a_model_that_is_another_s_by_a_variable_stays(tmp_path):
    tagger = """
[components.b]
factory = "tagger"

[components.b.model]
@architectures = "spacy.Tagger.v2"
tok2vec = ${components.a.model}
"""
    base = write(
        tmp_path / "b.cfg", tok2vec("a", multi_hash()), tagger, pipeline=["a", "b"]
    )
    made = configure(base, embedder="multi_fewer_hash_embed")
    assert "tok2vec = ${components.a.model}\n" in made.text
    assert toys.build(made).pipe_names == ["a", "b"]


@pytest.mark.parametrize("key", ["model", "embed", "encode"])
def test_a_block_of_another_section_is_written_out(tmp_path, key):
    text = tok2vec("a", EMBED_ALONE)
    place = "components.a.model" + ("" if key == "model" else f".{key}")
    parent = place.rpartition(".")[0]
    text = text.replace(f"[{place}]", "[vars]\n\n[vars.mine]")
    text = text.replace(f"[{place}.", "[vars.mine.")
    text = text.replace(f"[{parent}]\n", f"[{parent}]\n{key} = ${{vars.mine}}\n")
    base = write(tmp_path / "b.cfg", text)
    old = load_config(base)["vars"]
    made = configure(base, embedder="multi_fewer_hash_embed")
    assert get_embed(made, "a")["@architectures"] == toys.HASH
    encoder = dot_to_object(made.config, "components.a.model.encode")
    assert encoder["@architectures"] == toys.ENCODER
    assert made.config["vars"] == old
    assert "# spacy-hashembeds: In place of ${vars.mine}, to be changed" in made.text
    toys.build(made)
    base.write_text(made.text)
    assert configure(base, embedder="multi_fewer_hash_embed").changes == []


def test_two_that_share_a_block_get_one_each(tmp_path):
    texts = [
        tok2vec(n, "@x = 1")
        .replace(f"\n[components.{n}.model.embed]\n@x = 1\n", "")
        .replace('"spacy.Tok2Vec.v2"', '"spacy.Tok2Vec.v2"\nembed = ${vars.a}')
        for n in ("a", "b")
    ]
    more = f"\n[vars]\na = ${{vars.b}}\n\n[vars.b]\n{EMBED_ALONE}\n"
    base = write(tmp_path / "b.cfg", *texts, pipeline=["a", "b"], more=more)
    made = configure(base, embedder="multi_fewer_hash_embed")
    first, second = (get_embed(made, name) for name in ("a", "b"))
    assert first == second
    assert first is not second
    assert first["seed"] == 9
    toys.build(made)


def test_a_shared_block_stays_as_it_is_in_a_component_that_is_left(tmp_path):
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
    base = write(
        tmp_path / "b.cfg",
        *components,
        pipeline=["a", "b"],
        more=f'{shared}\n[training]\nfrozen_components = ["b"]\n',
    )
    old = load_config(base)
    made = configure(base, embedder="multi_fewer_hash_embed").config
    assert made["components"]["b"] == old["components"]["b"]
    assert made["vars"] == old["vars"]
    changed = made["components"]["a"]["model"]["tok2vec"]
    assert changed["embed"]["@architectures"] == toys.HASH
    assert changed["encode"]["@architectures"] == toys.ENCODER


def test_a_default_model_is_found_by_a_factory_that_is_a_variable(tmp_path):
    ner = "\n[components.a]\nfactory = ${vars.f}\n"
    base = write(tmp_path / "b.cfg", ner, more='\n[vars]\nf = "ner"\n')
    made = configure(base, embedder="multi_fewer_hash_embed")
    tok2vec = made.config["components"]["a"]["model"]["tok2vec"]
    assert tok2vec["embed"]["@architectures"] == toys.HASH
    assert made.config["components"]["a"]["factory"] == "${vars.f}"
    toys.build(made)


def test_architectures_may_be_variables(tmp_path):
    encode = ENCODE_OLD.replace('"spacy.MaxoutWindowEncoder.v1"', "${vars.e}")
    text = tok2vec("a", multi_hash(version="v1"), encode, "v1")
    text = text.replace('"spacy.Tok2Vec.v1"', "${vars.t}")
    more = '\n[vars]\ne = "spacy.MaxoutWindowEncoder.v1"\nt = "spacy.Tok2Vec.v1"\n'
    made = configure(
        write(tmp_path / "b.cfg", text, more=more), embedder="multi_fewer_hash_embed"
    )
    model = made.config["components"]["a"]["model"]
    assert model["@architectures"] == "spacy.Tok2Vec.v2"
    assert model["encode"]["@architectures"] == toys.ENCODER
    toys.build(made)


# What is left as it is


def test_sourced_and_frozen_components_stay_with_a_warning(tmp_path):
    base = write(
        tmp_path / "b.cfg",
        tok2vec("a", multi_hash("a")),
        tok2vec("b", multi_hash("b")),
        '\n[components.c]\nsource = "en_other"\n',
        pipeline=["a", "b", "c"],
        more='\n[training]\nfrozen_components = ["b"]\n',
    )
    made = configure(base, embedder="multi_fewer_hash_embed")
    assert get_embed(made, "a")["@architectures"] == toys.HASH
    assert get_embed(made, "b")["@architectures"] == "spacy.MultiHashEmbed.v2"
    encoder = dot_to_object(made.config, "components.b.model.encode")
    assert encoder["@architectures"] == "spacy.MaxoutWindowEncoder.v2"
    assert made.config["components"]["c"] == {"source": "en_other"}
    assert sorted(made.warnings) == [
        "[components.b] keeps its model: it is among [training] frozen_components.",
        "[components.c] keeps its model: it is taken from 'en_other' as it is.",
    ]


def test_a_transformer_leaves_nothing_to_replace(tmp_path):
    transformer = """
[components.a]
factory = "curated_transformer"

[components.a.model]
@architectures = "spacy-curated-transformers.BertTransformer.v1"
vocab_size = 28996
"""
    base = write(tmp_path / "b.cfg", transformer)
    error = (
        r"(?s)b.cfg' should have an embedder .*spacy.MultiHashEmbed.* has none "
        r"\(components.a.model: spacy-curated-transformers.BertTransformer.v1\)"
    )
    with pytest.raises(ValueError, match=error):
        configure(base, embedder="multi_fewer_hash_embed")


def test_a_long_name_of_a_model_is_not_shown_in_full(tmp_path):
    model = f'[components.a.model]\n@architectures = "{"x" * 5000}"\n'
    base = write(tmp_path / "b.cfg", f"\n[components.a]\n{model}")
    with pytest.raises(
        ValueError, match=r"has none .components.a.model: xx+\)"
    ) as error:
        configure(base)
    assert len(str(error.value)) < 1000


def test_a_config_without_models_says_so(tmp_path):
    base = write(tmp_path / "b.cfg", '\n[components.a]\nfactory = "sentencizer"\n')
    with pytest.raises(ValueError, match=r"has none .no model at all\)\.$"):
        configure(base, embedder="multi_fewer_hash_embed")


@pytest.mark.parametrize(
    ("attrs", "rows", "error"),
    [
        ('["NORM", "SHAPE"]', "[500]", "a.model.embed. should .*Mismatched lengths: 1"),
        ('["NORM"]', '["few"]', r"a.model.embed. should name a model that can be"),
        ('["NORM"]', "[0]", "a.model.embed. should .*rows' should be 1 to 2147483647"),
    ],
)
def test_an_embedder_that_could_not_be_built_is_named(tmp_path, attrs, rows, error):
    base = write(tmp_path / "b.cfg", tok2vec("a", multi_hash("a", attrs, rows)))
    with pytest.raises(ValueError, match=error):
        configure(base, embedder="multi_fewer_hash_embed")


def test_unknown_embedders_are_refused_with_the_known_ones(tmp_path):
    with pytest.raises(ValueError, match="There are: hash_former_embed, multi_e"):
        configure(tmp_path / "b.cfg", embedder="bert")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("depth = 4", "depth = 300000", r"encode\] depth should be 100 or less"),
        (
            "window_size = 1",
            "window_size = ${components.ner.model}",
            r"encode\] should name a model that can be built: Undefined operator",
        ),
    ],
)
def test_models_that_can_not_be_built_are_named(tmp_path, old, new, message):
    base = toys.write_base(tmp_path / "base.cfg", ["ner"])
    with pytest.raises(ValueError, match=message):
        configure(toys.edit_base(base, (old, new)))


def test_a_tokenizer_that_can_not_be_made_is_refused(tmp_path):
    base = toys.write_base(tmp_path / "base.cfg", ["ner"])
    train = toys.write_corpus(tmp_path / "train.spacy")
    toys.edit_base(base, ('@tokenizers = "spacy.Tokenizer.v1"', "@tokenizers = true"))
    with pytest.raises(ValueError, match=r"\[nlp\] should have what can be made, but"):
        configure(base, train=train)
