"""Values that `config` inserts."""

import json

import pytest
from spacy.tokens import Doc, DocBin
from spacy.util import dot_to_object, load_config, load_config_from_str
from spacy.vocab import Vocab

from spacy_hashembeds.tools.analyze.analyze import analyze
from spacy_hashembeds.tools.config.configure import configure
from spacy_hashembeds.tools.config.edits import get_value

from . import toy_configs as toys
from .toy_configs import ATTRS, EMBED, ROWS, configure_hashed, get_embed, write_made

COUNTING = "spacy-hashembeds.count_symbols.v1"
NGRAMS = "spacy-hashembeds.count_character_ngrams.v1"
HASHER = "spacy-hashembeds.LSHHasher.v1"
PROJ = "spacy-hashembeds.ProjCompressor.v1"
BLAS = {"@callbacks": "spacy-hashembeds.use_fastest_blas.v1"}
SCORER = {
    "@scorers": "spacy-hashembeds.seen_unseen_ner_scorer.v1",
    "train": "${paths.train}",
}
MINE = {"@callbacks": "mine.v1"}
CORPUS = {"corpus": "${training.train_corpus}"}
COUNT_SYMBOLS = {"@callbacks": COUNTING, "min_freq": 2, **CORPUS}
COUNT_NGRAMS = {"@callbacks": NGRAMS, **CORPUS}

BEFORE_INIT, ENCODE = "initialize.before_init", "components.tok2vec.model.encode"
NO_CALLBACK, AFTER = "before_init = null", "after_pipeline_creation"
USES_BLAS = f"before_creation = {json.dumps(BLAS)}"


@pytest.mark.parametrize(
    ("pipeline", "optimize", "embedder"),
    [
        (["tagger", "parser", "ner"], "accuracy", "multi_embed"),
        (["spancat", "morphologizer"], "accuracy", "multi_embed"),
        *(([name], "accuracy", "multi_embed") for name in ("textcat", "ner")),
        *((["ner"], "efficiency", embedder) for embedder in toys.NAMES),
    ],
)
def test_configs_of_spacy_build(base, pipeline, optimize, embedder):
    toys.write_base(base, *pipeline, optimize=optimize)
    old = dot_to_object(load_config(base), EMBED)
    made = configure(base, embedder=embedder, scorer="ner" in pipeline)
    assert toys.build(made).pipe_names == ["tok2vec", *pipeline]
    model = made.config["components"]["tok2vec"]["model"]
    assert model["embed"]["@architectures"] == toys.NAMES[embedder]
    assert model["encode"]["@architectures"] == toys.ENCODER
    # variables and settings are kept
    for key in ("width", "attrs", "include_static_vectors"):
        assert model["embed"][key] == old[key]
    for name in pipeline:
        listener = made.config["components"][name]["model"]["tok2vec"]
        assert listener["width"] == "${components.tok2vec.model.encode.width}"
    assert made.warnings == []


@pytest.mark.parametrize("embedder", [None, *toys.NAMES])
def test_is_idempotent(base, train, embedder):
    options = {"embedder": embedder, "train": train, "scorer": True}
    made = configure(base, **options)
    again = configure(write_made(base, made), **options)
    assert (again.config, again.changes) == (made.config, [])


def test_only_commented_changes(base):
    made = configure_hashed(base)
    lines = made.text.splitlines()
    assert {*base.read_text().splitlines()} - {*lines} == {
        "after_pipeline_creation = null",
        '@architectures = "spacy.MultiHashEmbed.v2"',
        '@architectures = "spacy.MaxoutWindowEncoder.v2"',
        '@optimizers = "Adam.v1"',
    }
    for change in made.changes:
        at = lines.index(f"[{change.section}]")
        if change.key:
            keys = (i for i, n in enumerate(lines) if n.startswith(f"{change.key} ="))
            at = next(i for i in keys if i > at)
        assert lines[at - 1] == f"# spacy-hashembeds: {change.why}"


VARIABLES = "\n[vars]\nnone = null\nhalf = 0.5\n"
IN_FILE = [(toys.MULTI_HASH, toys.LOOKUP), (ROWS, 'tables = "tables.npz"')]


def count(value, expected, embedder="multi_embed", **more):
    """Return a case with a callback, as JSON or a variable."""
    text = value if isinstance(value, str) else json.dumps(value)
    edits = [(NO_CALLBACK, f"before_init = {text}")]
    return edits, {"embedder": embedder}, {BEFORE_INIT: {**expected, **more} or None}


def weigh(edits, **expected):
    places = {f"training.score_weights.{k}": value for k, value in expected.items()}
    return edits, {"scorer": True}, places


@pytest.mark.parametrize(
    ("edits", "options", "expected"),
    [
        # counting
        count("${vars.none}", COUNT_SYMBOLS),
        count("null", COUNT_NGRAMS, "hash_former_embed"),
        count({"@callbacks": COUNTING, "min_freq": 7}, COUNT_SYMBOLS, min_freq=7),
        count({"@callbacks": NGRAMS, "limit": 7}, COUNT_SYMBOLS, limit=7),
        count({"@callbacks": NGRAMS, "corpus": "mine"}, COUNT_SYMBOLS, corpus="mine"),
        # counting is removed if unneeded, other callbacks are kept
        count({"@callbacks": COUNTING}, {}, "multi_fewer_hash_embed"),
        count(MINE, MINE, "multi_fewer_hash_embed"),
        # no counting with symbols in a file
        (
            [(NO_CALLBACK, f"before_init = {json.dumps(MINE)}"), *IN_FILE],
            {"embedder": "multi_embed"},
            {BEFORE_INIT: MINE, f"{EMBED}.tables": "tables.npz"},
        ),
        # other encoders are kept
        (
            [("MaxoutWindow", "MishWindow"), ("maxout_pieces = 3\n", "")],
            {},
            {f"{ENCODE}.@architectures": "spacy.MishWindowEncoder.v2"},
        ),
        # BLAS
        (
            [(f"{AFTER} = null", f"{AFTER} = ${{vars.none}}")],
            {},
            {f"nlp.{AFTER}": BLAS},
        ),
        ([("before_creation = null", USES_BLAS)], {}, {f"nlp.{AFTER}": None}),
        # the scorer
        ([], {"scorer": True}, {"components.ner.scorer": SCORER}),
        weigh([], ents_f=0.5, ents_seen_f=0.0, ents_unseen_f=0.5),
        # existing weights are kept
        weigh(
            [("ents_f = 1.0", "ents_f = 1.0\nents_unseen_f = 1")],
            **{"ents_f": 1.0, "ents_unseen_f": 1},
        ),
        # hidden or unweighted scores are kept
        weigh(
            [("ents_f = 1.0", "ents_f = null"), ("ents_p = 0.0", "ents_p = 1.0")],
            **{"ents_f": None, "ents_seen_f": 0.0, "ents_unseen_f": 0.0},
        ),
        # a missing weight is spaCy's default
        weigh([("ents_f = 1.0\n", "")], ents_f=0.5, ents_unseen_f=0.5),
        # weights may be variables
        weigh(
            [("f = 1.0", "f = ${vars.half}"), ("p = 0.0", "p = ${vars.half}")],
            **{"ents_f": 0.25, "ents_p": "${vars.half}", "ents_unseen_f": 0.25},
        ),
    ],
)
def test_inserted_values(base, edits, options, expected):
    base.write_text(base.read_text() + VARIABLES)
    old = load_config(toys.edit_base(base, *edits))
    made = configure(base, **{"embedder": "multi_fewer_hash_embed", **options})
    assert {place: get_value(made.config, place) for place in expected} == expected
    assert made.config["vars"] == old["vars"]
    if MINE not in expected.values() and "mine" not in str(edits):
        toys.build(made)


@pytest.mark.parametrize("embedder", ["multi_embed", "hash_former_embed"])
def test_other_callbacks_are_refused_if_counting_is_needed(base, embedder):
    write_made(base, configure(base, embedder=embedder))
    counting = get_value(load_config(base), BEFORE_INIT)["@callbacks"]
    toys.edit_base(base, (f'"{counting}"', '"mine.v1"'))
    # with the same embedder, the callback is kept
    made = configure(base, embedder=embedder)
    assert get_value(made.config, BEFORE_INIT)["@callbacks"] == "mine.v1"
    toys.write_base(base, "ner")
    toys.edit_base(base, (NO_CALLBACK, f"before_init = {json.dumps(MINE)}"))
    with pytest.raises(ValueError, match=r"before_init.*mine\.v1"):
        configure(base, embedder=embedder)


def test_settings_equal_the_advice_of_analyze(train, base):
    # one below the advice
    toys.edit_base(base, (ROWS, "rows = [5000, 20, 2500, 2500]"))
    advice = analyze(train, config=base)["advice"][0]
    hashed = configure_hashed(base, train=train)
    embed, hashing = get_embed(hashed), advice["hashing"]
    assert embed["num_hashes"] == hashing["num_hashes"]
    assert embed["rows"] == [5000, hashing["rows"][1], 2500, 2500]
    assert hashing["rows"][1] > 20
    min_freq = advice["lookup"]["min_freq"]
    for embedder in ("multi_embed", "multi_weighted_hash_embed"):
        made = configure(base, train=train, embedder=embedder)
        assert get_value(made.config, BEFORE_INIT)["min_freq"] == min_freq
    # with weights, fewer rows suffice
    embed = get_embed(made)
    assert (embed["num_hashes"], embed["seed"]) == (2, 9)
    assert embed["rows"] == [5000, 20, 2500, 2500]
    toys.edit_base(write_made(base, made), ("num_hashes = 2", "num_hashes = 7"))
    again = configure(base, train=train, embedder=embedder)
    assert get_embed(again) == {**embed, "num_hashes": 7}
    # the default
    assert get_embed(configure_hashed(base))["num_hashes"] == 4


def test_hashed_importance_rows_need_no_symbols(base, twins):
    toys.edit_base(
        base,
        ("spacy.MultiHashEmbed.v2", toys.WEIGHTED),
        (ROWS, f"{ROWS}\nimportance_rows = [70000, 1000, 50000, 20000]"),
        (ATTRS, '"LOWER", "NORM", "SUFFIX", "SHAPE"'),
    )
    made = configure(base, train=twins, embedder="multi_weighted_hash_embed")
    assert get_value(made.config, BEFORE_INIT) is None
    assert get_embed(made) == dot_to_object(load_config(base), EMBED)
    toys.build(made)


def test_redundant_attributes_are_removed_with_their_rows(base, twins):
    attrs = '"LOWER", "NORM", "SHAPE", "LANG"'
    toys.edit_base(base, (ATTRS, attrs), (ROWS, "rows = [1, 2, 3000, 4]"))
    made = configure_hashed(base, train=twins)
    embed = get_embed(made)
    assert embed["attrs"] == ["LOWER", "SHAPE"]
    assert embed["rows"][1] == 3000
    assert embed["rows"][0] > 1
    (why,) = [c.why for c in made.changes if c.key == "attrs"]
    assert "NORM, LANG" in why
    toys.build(made)


@pytest.mark.usefixtures("contractions")
def test_tokens_depend_on_the_language(tmp_path, base):
    doc = Doc(Vocab(), words=["don't"], spaces=[False])
    many = Doc(Vocab(), words=[f"w{i}" for i in range(98)], spaces=[True] * 98)
    DocBin(docs=[doc, many]).to_disk(tmp_path / "train.spacy")
    # 100 words: "don't" is two in English; 99 in a language without contractions
    assert (
        "too small" not in configure_hashed(base, train=tmp_path / "train.spacy").text
    )
    toys.edit_base(base, ('lang = "en"', 'lang = "xx"'))
    assert "too small" in configure_hashed(base, train=tmp_path / "train.spacy").text


@pytest.mark.parametrize(
    ("embedder", "min_freq"),
    [
        ("multi_embed", 2),
        ("multi_weighted_hash_embed", 10),
        ("multi_fewer_hash_embed", None),
    ],
)
def test_defaults_without_a_corpus_or_with_a_small_one(
    base, tmp_path, embedder, min_freq
):
    small = toys.write_words(tmp_path / "train.spacy", ["a", "b", "c"])
    for train, why in {None: "With --train", small: "too small"}.items():
        made = configure(base, train=train, embedder=embedder)
        assert why in made.text
        assert (get_value(made.config, BEFORE_INIT) or {}).get("min_freq") == min_freq


@pytest.mark.parametrize(("name", "what"), [("ner", "ent"), ("parser", "dep")])
def test_warns_about_missing_annotation(base, twins, corpus, name, what):
    toys.write_base(base, name)
    assert not configure(base, train=corpus).warnings
    warnings = configure(base, train=twins).warnings
    (warning,) = (text for text in warnings if str(twins) in text)
    assert f"has no {what}" in warning
    assert f"'{name}'" in warning


def test_paths_of_corpora(base, tmp_path):
    train, dev = tmp_path / "$train.spacy", tmp_path / "dev.spacy"
    toys.edit_base(base, ("vectors = null", 'vectors = "$$v"'))
    for path, named in {train: None, dev: str(dev)}.items():
        toys.write_corpus(path)
        text = configure_hashed(base, train=train).text
        paths = load_config_from_str(text, interpolate=True)["paths"]
        assert (paths["train"], paths["vectors"]) == (str(train), "$v")
        assert paths["dev"] == named
    toys.edit_base(base, ("dev = null", 'dev = "mine.spacy"'))
    assert configure_hashed(base, train=train).config["paths"]["dev"] == "mine.spacy"
    toys.edit_base(base, ("train = null", 'train = "mine.spacy"'))
    assert configure_hashed(base, train=train).config["paths"]["dev"] == str(dev)
    (tmp_path / "parts").mkdir()
    toys.write_corpus(tmp_path / "parts" / "train.spacy")
    made = configure_hashed(base, train=tmp_path / "parts")
    assert made.config["paths"]["dev"] == "mine.spacy", "dev is of another corpus"


def test_blocks_of_attributes_are_written_once(base):
    made = configure(base, embedder="hash_former_embed")
    embed = dot_to_object(made.config.interpolate(), EMBED)
    assert list(embed["hashers"]) == list(embed["compressors"]) == embed["attrs"]
    for attr in embed["attrs"]:
        assert embed["hashers"][attr] == {"@architectures": HASHER}
        assert embed["compressors"][attr] == {"@architectures": PROJ}
    assert made.text.count(f'"{HASHER}"') == made.text.count(f'"{PROJ}"') == 1
    # hashers of all n-grams need no counting
    toys.edit_base(
        write_made(base, made), (f'{HASHER}"', f'{HASHER}"\nmax_ngrams = null')
    )
    again = configure(base, embedder="hash_former_embed")
    assert get_embed(again) == dot_to_object(load_config(base), EMBED)
    assert get_value(again.config, BEFORE_INIT) is None


def test_attributes_other_than_text_are_removed_with_a_reason(base, twins):
    attrs = '"IS_TITLE", "LOWER", "LENGTH", "SHAPE", "LOWER"'
    toys.edit_base(base, (ATTRS, attrs), (ROWS, "rows = [1, 2, 3, 4, 5]"))
    made = configure(base, embedder="hash_former_embed")
    embed = get_embed(made)
    assert embed["attrs"] == list(embed["hashers"]) == ["LOWER", "SHAPE"]
    (why,) = [c.why for c in made.changes if c.key == "attrs"]
    assert "IS_TITLE, LENGTH" in why
    assert "LOWER" not in why
    toys.build(made)
    toys.edit_base(base, (attrs, '"IS_TITLE"'), ("[1, 2, 3, 4, 5]", "[1]"))
    for train in (None, twins):
        with pytest.raises(ValueError, match=rf"\[{EMBED}\].*IS_TITLE"):
            configure(base, embedder="hash_former_embed", train=train)


@pytest.mark.parametrize("embedder", ["multi_embed", "multi_fewer_hash_embed"])
def test_codes_and_tables_replace_each_other(base, embedder):
    write_made(base, configure(base, embedder=embedder))
    toys.edit_base(base, ("attrs = ", "maxout_pieces = 2\nattrs = "))
    rows = configure(base, embedder=embedder)
    codes = configure(write_made(base, rows), embedder="hash_former_embed")
    assert get_value(codes.config, BEFORE_INIT) == COUNT_NGRAMS
    toys.build(codes)
    again = configure(write_made(base, codes), embedder=embedder)
    assert get_embed(again) == get_embed(rows)
    counting = COUNT_SYMBOLS if embedder == "multi_embed" else None
    assert get_value(again.config, BEFORE_INIT) == counting
    toys.build(again)


def test_embedder_without_mixing_is_replaced_by_one_with_mixing(base):
    toys.edit_base(base, (ATTRS, '"NORM"'), (ROWS, "rows = [5000]"))
    write_made(base, configure(base, embedder="hash_former_embed"))
    vectors = "include_static_vectors = "
    toys.edit_base(base, (vectors, f"maxout_pieces = null\n{vectors}"))
    kept = configure(base, embedder="hash_former_embed")
    assert get_embed(kept)["maxout_pieces"] is None
    made = configure_hashed(base)
    assert "maxout_pieces" not in get_embed(made)
    toys.build(made)


def test_frozen_component_keeps_its_model_with_a_scorer(base):
    toys.edit_base(base, ('factory = "ner"', "factory = ${v.ner}"), toys.FREEZE_NER)
    base.write_text(f'{base.read_text()}\n[v]\nner = "ner"\n')
    made = configure_hashed(base, scorer=True)
    assert ["frozen_components" in warning for warning in made.warnings] == [True]
    old, ner = (c["components"]["ner"] for c in (load_config(base), made.config))
    assert ner == {**old, "scorer": SCORER}
