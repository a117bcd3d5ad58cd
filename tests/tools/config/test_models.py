"""Embedders and encoders of all kinds in a config."""

import pytest
from spacy.language import DEFAULT_CONFIG_PRETRAIN_PATH
from spacy.util import dot_to_object, load_config

from spacy_hashembeds.tools.config.configure import configure

from . import toy_configs as toys
from .toy_configs import EMBED, MULTI_HASH, configure_hashed, get_embed

WIDTH = "${components.tok2vec.model.encode.width}"
ENCODER = "spacy.MaxoutWindowEncoder.v2"
SETTINGS = f"attrs = [{toys.ATTRS}]\n{toys.ROWS}\n"
USUAL = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
VARIABLE = f"attrs = [{toys.ATTRS}]\nrows = ${{v.n}}\n"
CHARACTERS = "rows = 700\nnM = 4\nnC = 4\n"
NORMS, FEW = f'{CHARACTERS}feature = "NORM"\n', [700, 1000, 2500, 2500]
HEAD = '[nlp]\nlang = "en"\npipeline = ["a"]\n\n[components]\n\n[components.a]\n'
MODEL = '[components.a.model]\n@architectures = "{}"\nwidth = 28\n'
BERT = "spacy-curated-transformers.BertTransformer.v1"


def check_is_ours(tok2vec):
    assert tok2vec["embed"]["@architectures"] == toys.HASH
    assert tok2vec["encode"]["@architectures"] == toys.ENCODER


@pytest.mark.parametrize(
    ("name", "settings", "attrs", "rows"),
    [
        # attribute IDs are kept
        ("MultiHashEmbed.v2", "attrs = [67]\nrows = [500]\n", [67], [500]),
        ("MultiHashEmbed.v1", VARIABLE, USUAL, "${v.n}"),
        ("CharacterEmbed.v1", CHARACTERS, ["LOWER", *USUAL[1:]], FEW),
        ("CharacterEmbed.v2", NORMS, USUAL, FEW),
    ],
)
def test_embedders_of_spacy_are_replaced(base, name, settings, attrs, rows):
    toys.edit_base(base, (MULTI_HASH, f"spacy.{name}"), (SETTINGS, settings))
    base.write_text(f"{base.read_text()}\n[v]\nn = [50,60,70,80]\n")
    made = configure_hashed(base)
    assert get_embed(made) == {
        "@architectures": toys.HASH,
        "width": WIDTH,
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
    embed = get_embed(made)
    assert embed["@architectures"] == toys.HASH
    assert (embed["width"], embed["seed"]) == (WIDTH, 9)
    assert (embed["attrs"], embed["rows"]) == (USUAL, [200, 100, 100, 100])
    assert made.config["components"]["tok2vec"]["model"]["encode"] == {
        "@architectures": toys.ENCODER,
        "width": 32,
        "depth": 2,
        "window_size": 1,
        "maxout_pieces": 3,
    }
    # a variable if its target still exists, else a value
    ner = made.config["components"]["ner"]["model"]
    assert (ner["tok2vec"]["width"], ner["hidden_width"]) == (WIDTH, 200)
    toys.build(made)


@pytest.mark.parametrize("embedder", ["multi_fewer_hash_embed", "multi_embed"])
def test_aliases_are_replaced_without_other_changes(base, embedder):
    """Settings of our embedders are kept, including seed 8."""
    alias = toys.NAMES[embedder].replace("spacy-hashembeds", "spacy")
    settings = toys.ROWS if embedder != "multi_embed" else "unk = 0"
    toys.edit_base(base, (MULTI_HASH, alias), (toys.ROWS, settings))
    old = dot_to_object(load_config(base), EMBED)
    made = configure(base, embedder=embedder)
    assert get_embed(made) == {**old, "@architectures": toys.NAMES[embedder]}


def test_other_seeds_and_pieces_are_kept(base, train):
    rows = f"{toys.ROWS}\nseed = 12\nnum_hashes = 1\nmaxout_pieces = 2"
    toys.edit_base(base, (MULTI_HASH, toys.HASH), (toys.ROWS, rows))
    block = get_embed(configure_hashed(base, train=train))
    assert (block["seed"], block["maxout_pieces"]) == (12, 2)
    assert block["num_hashes"] > 1
    toys.edit_base(base, ("seed = 12", "seed = 8"))
    assert get_embed(configure_hashed(base, train=train))["seed"] == 9


def test_variables_for_architectures_and_components(base):
    text = base.read_text()
    listener = text[text.index("[components.ner.model.tok2vec]") :].split("\n\n")[0]
    model = "[components.ner.model]\n"
    shared = f"{model}tok2vec = ${{components.tok2vec.model}}\n"
    names = [(f'"{ENCODER}"', "${v.e}"), (f'"{MULTI_HASH}"', "${v.m}")]
    toys.edit_base(base, (listener, ""), (model, shared), *names)
    base.write_text(f'{base.read_text()}\n[v]\ne = "{ENCODER}"\nm = "{MULTI_HASH}"\n')
    made = configure_hashed(base)
    check_is_ours(made.config["components"]["tok2vec"]["model"])
    assert "tok2vec = ${components.tok2vec.model}\n" in made.text
    toys.build(made)


@pytest.mark.parametrize(
    "factory", ["ner", "tok2vec", 'tagger"\n[components.a.model]\nnO = "5']
)
def test_defaults_of_spacy_are_written_out(base, factory):
    base.write_text(f'{HEAD}factory = "{factory}"\n'.replace('"5"', "5"))
    made = configure_hashed(base)
    model = made.config["components"]["a"]["model"]
    check_is_ours(model if factory == "tok2vec" else model["tok2vec"])
    assert model.get("nO") == (5 if "nO" in factory else None)
    toys.build(made)


def test_sourced_and_frozen_components_are_kept_with_a_warning(base):
    source = '[components]\n\n[components.c]\nsource = "en_other"\n'
    toys.edit_base(base, ("[components]\n", source), toys.FREEZE_NER)
    old = load_config(base)["components"]
    made = configure(base)
    for name in ("ner", "c"):
        assert made.config["components"][name] == old[name]
    frozen, sourced = sorted(made.warnings, reverse=True)
    assert "components.ner" in frozen
    assert "en_other" in sourced


LINE, PATH = "init_tok2vec = ${paths.init_tok2vec}", "init_tok2vec = null"
WEIGHTS = 'init_tok2vec = "weights.bin"'
NUM_HASHES = f"batch_size = ${{{EMBED}.num_hashes}}"


@pytest.mark.parametrize(
    ("changes", "options", "named"),
    [
        # no embedder
        (HEAD + MODEL.format(BERT), {}, f"base.cfg'.*Embed.*{BERT}"),
        (HEAD + MODEL.format("x" * 5000), {}, "base.cfg'.*Embed.*xxx"),
        (HEAD + 'factory = "sentencizer"\n', {}, "base.cfg'.*Embed.*no model"),
        (HEAD + 'source = "en_other"\n', {}, "base.cfg'.*Embed.*no model"),
        # invalid models
        ([(toys.ATTRS, '"NORM", "SHAPE"')], {}, r"model.embed\]"),
        ([(toys.ROWS, 'rows = ["few", 1, 1, 1]')], {}, r"model.embed\]"),
        ([('attrs = ["NORM"', f'attrs = ["{"x" * 2000}"')], {}, "xxx"),
        ([(PATH, f'init_tok2vec = "{"x" * 2000}"')], {}, "init_tok2vec"),
        # pretrained weights of another embedder
        ([(LINE, WEIGHTS)], {}, f"init_tok2vec .*{MULTI_HASH}.*weights.bin"),
        (
            [(LINE, WEIGHTS), (MULTI_HASH, toys.HASH)],
            *({}, f"init_tok2vec .*{toys.HASH}.*weights.bin"),
        ),
        # a variable refers to a replaced value
        (
            [
                (toys.ROWS, f"{toys.ROWS}\nnum_hashes = 4"),
                *((MULTI_HASH, toys.HASH), ("batch_size = 1000", NUM_HASHES)),
            ],
            *({"embedder": "multi_embed"}, "num_hashes"),
        ),
        # --scorer without entities
        *(
            ([('factory = "ner"', text)], {"scorer": True}, "--scorer.*tok2vec, ner")
            for text in ('factory = "tagger"', 'source = "tagger"')
        ),
        ([], {"embedder": "bert"}, "hash_former_embed"),
    ],
)
def test_unsupported_bases_are_refused(base, changes, options, named):
    if isinstance(changes, str):
        base.write_text(changes)
    else:
        toys.edit_base(base, *changes)
    with pytest.raises(ValueError, match=named) as refused:
        configure(base, **options)
    assert len(str(refused.value)) < 1200  # long values are cut


@pytest.mark.parametrize(
    ("edit", "embedder"),
    [(LINE, "multi_fewer_hash_embed"), (PATH, "multi_weighted_hash_embed")],
)
def test_an_embedder_with_weights_keeps_its_settings(base, train, edit, embedder):
    toys.edit_base(
        base,
        # advice would be LOWER only, and more rows
        (toys.ATTRS, '"LOWER", "NORM", "SHAPE", "LANG"'),
        ("rows = [5000, 1000", "num_hashes = 3\nseed = 8\nrows = [20, 1000"),
        (MULTI_HASH, toys.NAMES[embedder]),
        (edit, WEIGHTS),
    )
    made = configure(base, embedder=embedder, train=train)
    assert get_embed(made) == dot_to_object(load_config(base), EMBED)
    (warning,) = made.warnings
    assert "init_tok2vec" in warning
    assert "'weights.bin'" in warning
    assert get_embed(configure(base, embedder=embedder)).get("subwords") is None


def test_pretrained_weights_of_another_component(base):
    config = load_config(DEFAULT_CONFIG_PRETRAIN_PATH).merge(load_config(base))
    config["pretraining"]["component"] = "ner"
    config["initialize"]["init_tok2vec"] = "weights.bin"
    config.to_disk(base)
    made = configure(base, embedder="multi_embed")
    assert get_embed(made)["@architectures"] == toys.LOOKUP
    assert made.warnings == []
