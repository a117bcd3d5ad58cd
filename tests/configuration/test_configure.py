"""What is put into a config, and where."""

import json

import pytest
from spacy.tokens import Doc, DocBin
from spacy.util import dot_to_object, load_config
from spacy.vocab import Vocab

from spacy_hashembeds.analysis.analyze import analyze
from spacy_hashembeds.configuration.configure import configure

from . import toy_configs as toys
from .toy_configs import ATTRS, EMBED, ROWS, configure_hashed, get_embed, write_made

COUNTING = "spacy-hashembeds.count_symbols.v1"
NGRAMS = "spacy-hashembeds.count_character_ngrams.v1"
HASHER = "spacy-hashembeds.LSHHasher.v1"
PROJ = "spacy-hashembeds.ProjCompressor.v1"
BLAS = "spacy-hashembeds.use_fastest_blas.v1"

#: Fewer than are advised for one of the attributes.
FEW = "rows = [5000, 20, 2500, 2500]"


@pytest.fixture
def train(tiny_corpus):
    return tiny_corpus / "train.spacy"


def get_before_init(made):
    return made.config["initialize"]["before_init"]


def get_changed(made) -> set[str]:
    return {change.place for change in made.changes}


# What `spacy init config` writes


@pytest.mark.parametrize(
    ("pipeline", "optimize", "embedder"),
    [
        *((pipeline, "accuracy", "multi_embed") for pipeline in toys.PIPELINES),
        *(
            (pipeline, "efficiency", "multi_fewer_hash_embed")
            for pipeline in toys.PIPELINES
            if "textcat" not in pipeline[0]
        ),
        *((["ner"], "efficiency", embedder) for embedder in toys.NAMES),
    ],
)
def test_all_that_spacy_writes_builds_a_pipeline(
    tmp_path, pipeline, optimize, embedder
):
    base = toys.write_base(tmp_path / "base.cfg", pipeline, optimize)
    made = configure(base, embedder=embedder, scorer="ner" in pipeline)
    nlp = toys.build(made)
    assert nlp.pipe_names == ["tok2vec", *pipeline]
    model = made.config["components"]["tok2vec"]["model"]
    assert model["embed"]["@architectures"] == toys.NAMES[embedder]
    assert model["encode"]["@architectures"] == toys.ENCODER
    # variables stay, and so does what the user has asked for
    old = load_config(base)["components"]["tok2vec"]["model"]
    for key in ("width", "attrs", "include_static_vectors"):
        assert model["embed"][key] == old["embed"][key]
    for name in pipeline:
        listener = made.config["components"][name]["model"]["tok2vec"]
        assert listener["width"] == "${components.tok2vec.model.encode.width}"
        assert listener["upstream"] == "*"
    assert made.warnings == []


@pytest.mark.parametrize("embedder", toys.NAMES)
def test_there_is_nothing_to_change_twice(base, embedder):
    made = configure(base, embedder=embedder, scorer=True)
    again = configure(write_made(base, made), embedder=embedder, scorer=True)
    assert (again.text, again.changes) == (made.text, [])


def test_all_else_stays_comments_too(base):
    text = f"# mine\n{base.read_text()}\n"
    base.write_text(text)
    made = configure_hashed(base)
    assert set(text.splitlines()) - set(made.text.splitlines()) == {
        "after_pipeline_creation = null",
        '@architectures = "spacy.MultiHashEmbed.v2"',
        '@architectures = "spacy.MaxoutWindowEncoder.v2"',
        '@optimizers = "Adam.v1"',
    }
    for change in made.changes:
        lines = made.text.splitlines()
        target = f"{change.key} =" if change.key else f"[{change.section}]"
        above = [
            lines[i - 1] for i, line in enumerate(lines) if line.startswith(target)
        ]
        assert any(line.startswith("#") for line in above), change.place


def test_what_is_declined_is_not_put_in(base):
    made = configure_hashed(base, encoder=False, blas=False)
    section = f"[{EMBED}]"
    names = ("@architectures", "num_hashes", "seed")
    assert get_changed(made) == {
        *(f"{section} {name}" for name in names),
        "[training.optimizer] @optimizers",
    }


# Advice


def test_settings_are_what_analyze_advises(train, base):
    toys.edit_base(base, (ROWS, FEW))
    advice = analyze(train, config=base)["advice"][0]
    made = configure_hashed(base, train=train)
    embed = get_embed(made)
    assert embed["num_hashes"] == advice["hashing"]["num_hashes"]
    least = advice["hashing"]["rows"]
    assert least[1] > 20
    assert embed["rows"] == [5000, least[1], 2500, 2500]
    assert made.config["paths"]["train"] == str(train)
    looked_up = configure(base, train=train, embedder="multi_embed")
    assert get_before_init(looked_up)["min_freq"] == advice["lookup"]["min_freq"]
    assert "rows" not in get_embed(looked_up)


def test_a_hybrid_has_rows_for_symbols_and_for_others(train, base):
    toys.edit_base(base, (ROWS, FEW))
    advice = analyze(train, config=base)["advice"][0]
    made = configure(base, train=train, embedder="multi_hybrid_embed")
    embed = get_embed(made)
    assert embed["@architectures"] == toys.HYBRID
    assert embed["num_hashes"] == advice["hashing"]["num_hashes"]
    n_prefixes = advice["lookup"]["rows"][1] + advice["hashing"]["rows"][1]
    assert embed["rows"] == [5000, n_prefixes, 2500, 2500]
    assert embed["seed"] == 9
    assert "Raised to have room for the frequent symbols" in " ".join(made.text.split())
    assert get_before_init(made)["min_freq"] == advice["lookup"]["min_freq"]
    again = configure(write_made(base, made), embedder="multi_hybrid_embed")
    assert get_embed(again) == embed


def test_a_hybrid_has_two_hashes_by_default_and_keeps_others(base):
    embed = get_embed(configure(base, embedder="multi_hybrid_embed"))
    assert (embed["num_hashes"], embed["rows"]) == (2, [5000, 1000, 2500, 2500])
    write_made(base, configure_hashed(base))
    toys.edit_base(base, ("num_hashes = 4", "num_hashes = 3"))
    made = configure(base, embedder="multi_hybrid_embed")
    assert get_embed(made)["num_hashes"] == 3
    toys.build(made)


def test_weights_are_those_of_the_frequent_symbols(train, base):
    toys.edit_base(base, (ROWS, FEW))
    chosen = analyze(train, config=base)["advice"][0]["lookup"]
    made = configure(base, train=train, embedder="multi_weighted_hash_embed")
    embed = get_embed(made)
    assert embed["@architectures"] == toys.WEIGHTED
    # two hashes and weights tell values apart in few rows too
    assert (embed["num_hashes"], embed["seed"]) == (2, 9)
    assert embed["rows"] == [5000, 20, 2500, 2500]
    assert get_before_init(made)["min_freq"] == chosen["min_freq"]
    n_weights = 2 * sum(chosen["rows"])
    assert f"have some {n_weights:,} parameters" in toys.join_reasons(made)
    toys.edit_base(write_made(base, made), ("num_hashes = 2", "num_hashes = 7"))
    again = configure(base, train=train, embedder="multi_weighted_hash_embed")
    assert get_embed(again) == {**embed, "num_hashes": 7}
    # more than other embedders have
    hashed = get_embed(configure_hashed(base))
    assert (hashed["@architectures"], hashed["num_hashes"]) == (toys.HASH, 4)


def test_rows_of_weights_that_are_hashed_need_no_symbols(base, twins):
    toys.edit_base(
        base,
        ("spacy.MultiHashEmbed.v2", toys.WEIGHTED),
        (ROWS, f"{ROWS}\nimportance_rows = [70000, 1000, 50000, 20000]"),
        (ATTRS, '"LOWER", "NORM", "SUFFIX", "SHAPE"'),
    )
    made = configure(base, train=twins, embedder="multi_weighted_hash_embed")
    assert get_before_init(made) is None
    embed = get_embed(made)
    assert embed["attrs"] == ["LOWER", "SHAPE"]
    assert embed["rows"] == [5000, 2500]
    assert embed["importance_rows"] == [70000, 20000]
    toys.build(made)


def test_attributes_that_say_nothing_are_left_out_with_their_rows(base, twins):
    attrs = '"LOWER", "NORM", "SHAPE", "LANG"'
    toys.edit_base(base, (ATTRS, attrs), (ROWS, "rows = [1, 2, 3000, 4]"))
    made = configure_hashed(base, train=twins)
    embed = get_embed(made)
    assert embed["attrs"] == ["LOWER", "SHAPE"]
    assert embed["rows"][1] == 3000
    assert embed["rows"][0] > 1
    said = toys.join_reasons(made)
    assert "NORM is left out: in the training corpus it tells the same" in said
    assert "LANG is left out: in the training corpus all words have one value" in said
    assert "Raised to the lower limit" in said
    toys.build(made)


@pytest.mark.usefixtures("contractions")
def test_tokens_are_those_of_the_config_s_language(tmp_path, base):
    doc = Doc(Vocab(), words=["don't"], spaces=[False])
    many = Doc(Vocab(), words=[f"w{i}" for i in range(98)], spaces=[True] * 98)
    DocBin(docs=[doc, many]).to_disk(tmp_path / "train.spacy")
    # 98 words, and "do" and "n't" in English, but "don't" in no language
    made = configure_hashed(base, train=tmp_path / "train.spacy")
    assert "too small" not in made.text
    toys.edit_base(base, ('lang = "en"', 'lang = "xx"'))
    made = configure_hashed(base, train=tmp_path / "train.spacy")
    assert "The default: the training corpus is too small to choose by" in made.text


@pytest.mark.parametrize(
    ("embedder", "min_freq"),
    [
        ("multi_embed", 2),
        ("multi_hybrid_embed", 10),
        ("multi_weighted_hash_embed", 10),
        ("multi_fewer_hash_embed", None),
    ],
)
def test_without_a_corpus_and_with_a_small_one_defaults_stay(
    base, tmp_path, embedder, min_freq
):
    small = toys.write_words(tmp_path / "train.spacy", ["a", "b", "c"])
    for train, why in {
        None: "--train would have it chosen",
        small: "the training corpus is too small to choose by",
    }.items():
        made = configure(base, train=train, embedder=embedder)
        assert f"The default: {why}" in " ".join(made.text.replace("\n# ", "").split())
        assert (get_before_init(made) or {}).get("min_freq") == min_freq


@pytest.mark.parametrize("embedder", [None, "multi_fewer_hash_embed"])
def test_a_corpus_without_entities_is_warned_of(base, tmp_path, train, embedder):
    assert not configure(base, train=train, embedder=embedder).warnings
    words = toys.write_words(tmp_path / "train.spacy", ["a", "b", "c"])
    warning = f"The training corpus '{words}' has no entities (doc.ents), so that 'ner'"
    found = configure(base, train=words, embedder=embedder).warnings
    assert [text[: len(warning)] for text in found] == [warning]
    toys.write_base(base, ["tagger"])
    assert not configure(base, train=words).warnings


def test_a_corpus_without_tokens_is_refused(base, tmp_path):
    DocBin(docs=[]).to_disk(tmp_path / "empty.spacy")
    with pytest.raises(ValueError, match="not a token in the corpus"):
        configure_hashed(base, train=tmp_path / "empty.spacy")


def test_the_path_that_the_config_has_stays(base, tmp_path):
    toys.edit_base(base, ("train = null", 'train = "mine.spacy"'))
    train = toys.write_corpus(tmp_path / "$other.spacy")
    assert configure_hashed(base, train=train).config["paths"]["train"] == "mine.spacy"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("init_tok2vec = null", 'init_tok2vec = "{}"'),
        ('attrs = ["NORM", ', 'attrs = ["{}", '),
        ("depth = 4", 'depth = "{}"'),
        ("[components.ner]", "[components.{}.a]\n[components.ner]"),
        ("[nlp]", "[nlp]\n{}"),
    ],
)
def test_a_message_is_short_whatever_stands_in_the_config(base, old, new):
    toys.edit_base(base, (old, new.format("x" * 2000)))
    with pytest.raises(ValueError, match="xxx") as error:
        configure(base)
    assert len(str(error.value)) < 1000


# Counting symbols and n-grams

CORPUS = {"corpus": "${training.train_corpus}"}
COUNT_SYMBOLS = {"@callbacks": COUNTING, "min_freq": 2, **CORPUS}
COUNT_NGRAMS = {"@callbacks": NGRAMS, **CORPUS}
MINE = {"@callbacks": "mine.v1"}
SET_TABLES = {
    "@callbacks": "set_attr",
    "path": "a.tables",
    "component": "tok2vec",
    "layer": "multiembed",
    "attr": "tables",
}
VARIABLES = f"""
[vars]
none = null

[vars.mine]
@callbacks = "{COUNTING}"
min_freq = 7
"""


def put_callback(base, value: str):
    """Put a callback, written as JSON or as a variable, into [initialize]."""
    base.write_text(base.read_text() + VARIABLES)
    return toys.edit_base(base, ("before_init = null", f"before_init = {value}"))


@pytest.mark.parametrize(
    ("there", "embedder", "expected"),
    [
        ("null", "multi_embed", COUNT_SYMBOLS),
        ("null", "hash_former_embed", COUNT_NGRAMS),
        ("null", "multi_hybrid_embed", {**COUNT_SYMBOLS, "min_freq": 10}),
        # ours keeps what it has
        (
            f'{{"@callbacks": "{COUNTING}", "corpus": "corpora.train"}}',
            "multi_embed",
            {"@callbacks": COUNTING, "corpus": "corpora.train"},
        ),
        (
            f'{{"@callbacks": "{COUNTING}", "min_freq": 7, "limit": 5}}',
            "multi_embed",
            {**COUNT_SYMBOLS, "min_freq": 7, "limit": 5},
        ),
        (f'"{COUNTING}"', "multi_embed", COUNT_SYMBOLS),
        (f'{{"@callbacks": "{NGRAMS}"}}', "multi_embed", COUNT_SYMBOLS),
        (json.dumps(SET_TABLES), "multi_embed", COUNT_SYMBOLS),
        ("${vars.none}", "multi_embed", COUNT_SYMBOLS),
        ("${vars.mine}", "multi_embed", {**COUNT_SYMBOLS, "min_freq": 7}),
        # and goes with the last embedder that needs it, but no other does
        ("${vars.mine}", "multi_fewer_hash_embed", None),
        (json.dumps(MINE), "multi_fewer_hash_embed", MINE),
    ],
)
def test_what_an_embedder_needs_is_counted(base, there, embedder, expected):
    made = configure(put_callback(base, there), embedder=embedder)
    assert get_before_init(made) == expected


@pytest.mark.parametrize(
    ("embedder", "expected"),
    [("multi_embed", COUNT_SYMBOLS), ("hash_former_embed", COUNT_NGRAMS)],
)
def test_what_needs_counting_may_be_left_to_spacys_defaults(base, embedder, expected):
    toys.edit_base(base, ("before_init = null\n", ""))
    assert get_before_init(configure(base, embedder=embedder)) == expected


def test_our_callback_takes_advice(train, base):
    put_callback(base, f'{{"@callbacks": "{COUNTING}", "min_freq": 7, "limit": 5}}')
    made = configure(base, embedder="multi_embed", train=train)
    assert get_before_init(made) == {**COUNT_SYMBOLS, "limit": 5}
    assert load_config(write_made(base, made)) == made.config


@pytest.mark.parametrize("there", [MINE, {**SET_TABLES, "attr": "rows"}])
def test_another_callback_is_refused_with_the_way_around(base, there):
    put_callback(base, json.dumps(there))
    error = rf"'{there['@callbacks']}' stands there.*tables"
    with pytest.raises(ValueError, match=error):
        configure(base, embedder="multi_embed")


def test_the_file_of_the_reports_lookup_tables_is_said_to_be_needless(base):
    made = configure(put_callback(base, json.dumps(SET_TABLES)), embedder="multi_embed")
    assert "needs the file that set_attr read here" in made.text.replace("\n# ", " ")


def test_a_file_of_symbols_needs_no_callback(base):
    write_made(base, configure(base, embedder="multi_embed"))
    toys.edit_base(
        base,
        (f'@callbacks = "{COUNTING}"', '@callbacks = "mine.v1"'),
        (toys.LOOKUP + '"', toys.LOOKUP + '"\ntables = "tables.npz"'),
    )
    made = configure(base, embedder="multi_embed")
    assert get_embed(made)["tables"] == "tables.npz"
    assert get_before_init(made)["@callbacks"] == "mine.v1"


def test_rows_come_back_where_there_were_symbols(base):
    write_made(base, configure(base, embedder="multi_embed"))
    made = configure_hashed(base)
    assert get_before_init(made) is None
    assert get_embed(made)["rows"] == [5000, 1000, 2500, 2500]
    toys.build(made)


def test_a_handwritten_config_names_the_corpus_itself(base):
    base.write_text(toys.CNN)
    made = configure(base, embedder="multi_embed")
    assert get_before_init(made)["corpus"] == "corpora.train"


def test_callbacks_and_tables_may_be_variables(base):
    put_callback(base, "${vars.none}")
    toys.edit_base(
        base,
        ("after_pipeline_creation = null", "after_pipeline_creation = ${vars.none}"),
        ("train = null", "train = ${vars.none}"),
        ('"spacy.MultiHashEmbed.v2"', f'"{toys.LOOKUP}"\ntables = ${{vars.none}}'),
        (f"{ROWS}\n", ""),
    )
    made = configure(base, embedder="multi_embed")
    assert made.warnings == []
    assert get_before_init(made)["@callbacks"] == COUNTING
    assert made.config["nlp"]["after_pipeline_creation"] == {"@callbacks": BLAS}


# Codes in the place of rows


def test_what_holds_for_all_hashers_is_written_once(base):
    made = configure(base, embedder="hash_former_embed")
    embed = dot_to_object(made.config.interpolate(), EMBED)
    assert list(embed["hashers"]) == list(embed["compressors"]) == embed["attrs"]
    for attr in embed["attrs"]:
        assert embed["hashers"][attr] == {"@architectures": HASHER}
        assert embed["compressors"][attr] == {"@architectures": PROJ}
    assert made.text.count(f'"{HASHER}"') == made.text.count(f'"{PROJ}"') == 1
    for section in (f"{EMBED}.hashers", f"{EMBED}.compressors"):
        why = made.text.partition(f"\n[{section}]")[0].rpartition("\n\n")[2]
        assert why.startswith("# spacy-hashembeds: 128")
    toys.build(made)


def test_attributes_that_are_no_text_are_left_out_with_a_reason(base):
    attrs = '"IS_TITLE", "LOWER", "LENGTH", "SHAPE", "LOWER"'
    toys.edit_base(base, (ATTRS, attrs), (ROWS, "rows = [1, 2, 3, 4, 5]"))
    made = configure(base, embedder="hash_former_embed")
    embed = get_embed(made)
    assert embed["attrs"] == list(embed["hashers"]) == ["LOWER", "SHAPE"]
    said = toys.join_reasons(made)
    for attr in ("IS_TITLE", "LENGTH"):
        assert f"{attr} is left out: it is no text to hash." in said
    assert "LOWER is left out" not in said
    toys.build(made)


@pytest.mark.parametrize("has_corpus", [False, True])
def test_an_embedder_without_text_is_refused(base, twins, has_corpus):
    toys.edit_base(base, (ATTRS, '"IS_TITLE"'), (ROWS, "rows = [1]"))
    train = twins if has_corpus else None
    with pytest.raises(ValueError, match=rf"\[{EMBED}\] should embed some text.*IS_T"):
        configure(base, embedder="hash_former_embed", train=train)


def test_hashers_go_with_their_attributes(base, twins):
    write_made(base, configure(base, embedder="hash_former_embed"))
    toys.edit_base(
        base,
        (ATTRS, '"NORM", "LOWER", "SHAPE", "PREFIX"'),
        ("\nSUFFIX = ", "\nLOWER = "),
        (HASHER + '"', HASHER + '"\nnum_bits = 64'),
    )
    made = configure(base, train=twins, embedder="hash_former_embed")
    embed = get_embed(made)
    assert "LOWER" not in embed["attrs"]
    assert list(embed["hashers"]) == list(embed["compressors"]) == embed["attrs"]
    for block in embed["hashers"].values():
        assert block == {"@architectures": HASHER, "num_bits": 64}
    toys.build(made)


def test_another_callback_lets_any_ngram_count_and_says_so(base):
    put_callback(base, json.dumps(MINE))
    made = configure(base, embedder="hash_former_embed")
    assert get_before_init(made) == MINE
    embed = get_embed(made)
    assert embed["hashers"]["NORM"] == {"@architectures": HASHER, "max_ngrams": None}
    assert embed["hashers"]["SHAPE"] == f"${{{EMBED}.hashers.NORM}}"
    said = toys.join_reasons(made)
    assert said.count("Any n-gram counts, not only those of the training corpus") == 1
    assert "\n# spacy-hashembeds: Any n-gram counts" in made.text
    again = configure(write_made(base, made), embedder="hash_former_embed")
    assert (again.text, again.changes) == (made.text, [])
    toys.build(made)


def test_hashers_that_were_there_keep_their_ngrams(base):
    """A callback of somebody's own may count them."""
    write_made(base, configure(base, embedder="hash_former_embed"))
    toys.edit_base(base, (f'"{NGRAMS}"', '"mine.v1"'))
    made = configure(base, embedder="hash_former_embed")
    assert (made.text, made.changes) == (base.read_text(), [])


@pytest.mark.parametrize(
    ("embedder", "counting"),
    [
        ("multi_embed", {**COUNT_SYMBOLS, "limit": 7}),
        ("multi_hybrid_embed", {**COUNT_SYMBOLS, "min_freq": 10, "limit": 7}),
        ("multi_fewer_hash_embed", None),
    ],
)
def test_codes_and_rows_take_each_other_s_place(base, embedder, counting):
    put_callback(base, f'{{"@callbacks": "{NGRAMS}", "limit": 7}}')
    write_made(base, configure(base, embedder=embedder))
    pieces = "maxout_pieces = 2\nattrs = "
    rows = configure(toys.edit_base(base, ("attrs = ", pieces)), embedder=embedder)
    codes = configure(write_made(base, rows), embedder="hash_former_embed")
    assert get_embed(codes)["maxout_pieces"] == 2
    limit = {"limit": 7} if counting else {}
    assert get_before_init(codes) == {**COUNT_NGRAMS, **limit}
    toys.build(codes)
    again = configure(write_made(base, codes), embedder=embedder)
    assert get_embed(again) == get_embed(rows)
    assert get_before_init(again) == counting
    toys.build(again)


def test_what_mixes_nothing_is_given_what_mixes(base):
    write_made(base, configure(base, embedder="hash_former_embed"))
    vectors = "include_static_vectors = "
    toys.edit_base(
        base,
        (ATTRS, '"NORM"'),
        (vectors, f"maxout_pieces = null\n{vectors}"),
    )
    lines = [n for n in base.read_text().split("\n") if "${" not in n or "width" in n]
    base.write_text("\n".join(lines))
    kept = configure(base, embedder="hash_former_embed")
    assert get_embed(kept)["maxout_pieces"] is None
    made = configure_hashed(base)
    assert "maxout_pieces" not in get_embed(made)
    toys.build(made)


def test_ngrams_that_need_no_counting_need_no_callback(base):
    write_made(base, configure(base, embedder="hash_former_embed"))
    toys.edit_base(base, (HASHER + '"', HASHER + '"\nmax_ngrams = null'))
    made = configure(base, embedder="hash_former_embed")
    assert get_before_init(made) is None
    assert "No embedder needs n-grams now." in made.text
    toys.build(made)


# BLAS


def test_another_callback_stays_with_a_warning(base):
    line = "after_pipeline_creation = "
    toys.edit_base(base, (f"{line}null", line + json.dumps(MINE)))
    made = configure_hashed(base)
    assert made.config["nlp"]["after_pipeline_creation"] == MINE
    (warning,) = made.warnings
    assert "after_pipeline_creation] stays as it is, mine.v1" in warning


def test_a_choice_that_was_made_for_all_pipelines_is_enough(base):
    line = f'before_creation = {{"@callbacks": "{BLAS}"}}'
    toys.edit_base(base, ("before_creation = null", line))
    assert configure_hashed(base).config["nlp"]["after_pipeline_creation"] is None


# The scorer


def test_weights_are_shared_by_both_scores(tmp_path):
    base = toys.write_base(tmp_path / "base.cfg", ["tagger", "parser", "ner"])
    made = configure_hashed(base, scorer=True)
    weights = made.config["training"]["score_weights"]
    old = load_config(base)["training"]["score_weights"]
    half = old["ents_f"] / 2
    scores = {"ents_f": half, "ents_seen_f": 0.0, "ents_unseen_f": half}
    assert weights == {**old, **scores}
    assert made.config["components"]["ner"]["scorer"] == {
        "@scorers": "spacy-hashembeds.seen_unseen_ner_scorer.v1",
        "train": "${paths.train}",
    }
    assert "spacy.ner_scorer.v1" not in made.text


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        # was chosen already
        (
            {"[training.score_weights]": "[training.score_weights]\nents_unseen_f = 1"},
            {"ents_f": 1.0, "ents_unseen_f": 1},
        ),
        # a score that was hidden, or has no weight, stays so
        (
            {"ents_f = 1.0": "ents_f = null", "ents_p = 0.0": "ents_p = 1.0"},
            {"ents_f": None, "ents_seen_f": 0.0, "ents_unseen_f": 0.0},
        ),
        (
            {"ents_f = 1.0": "ents_f = 0.0", "ents_p = 0.0": "ents_p = 1.0"},
            {"ents_f": 0.0, "ents_seen_f": 0.0, "ents_unseen_f": 0.0},
        ),
        # one weight is a variable, or all are
        (
            {
                "ents_f = 1.0": "ents_f = ${v.half}",
                "ents_p = 0.0": "ents_p = ${v.half}",
            },
            {"ents_f": 0.25, "ents_p": "${v.half}", "ents_unseen_f": 0.25},
        ),
        (
            {
                "[training.score_weights]": "[weights]",
                "[training]\n": "[training]\nscore_weights = ${weights}\n",
            },
            {"ents_f": 0.5, "ents_unseen_f": 0.5},
        ),
    ],
)
def test_weights_stay_but_for_that_of_all_entities(base, edits, expected):
    base.write_text(f"{base.read_text()}\n[v]\nhalf = 0.5\n")
    old = load_config(toys.edit_base(base, *edits.items()))
    made = configure_hashed(base, scorer=True)
    weights = made.config["training"]["score_weights"]
    assert {key: weights[key] for key in expected} == expected
    # what a variable stands for
    assert made.config.get("weights") == old.get("weights")
    toys.build(made)


def test_a_frozen_component_is_scored_with_the_model_that_it_has(base):
    """Also where its factory is a variable."""
    toys.edit_base(base, ('factory = "ner"', "factory = ${v.ner}"), toys.FREEZE_NER)
    base.write_text(f'{base.read_text()}\n[v]\nner = "ner"\n')
    made = configure_hashed(base, scorer=True)
    assert made.warnings == [
        "[components.ner] keeps its model: it is among [training] frozen_components."
    ]
    ner = made.config["components"]["ner"]
    assert ner["model"] == load_config(base)["components"]["ner"]["model"]
    assert "[components.ner.scorer] @scorers" in get_changed(made)


@pytest.mark.parametrize(
    ("corpora", "train"),
    [
        ('[corpora]\n\n[corpora.train]\npath = "t.spacy"\n', "${corpora.train.path}"),
        # a section that is a variable
        ('[corpora]\ntrain = ${vars}\n\n[vars]\npath = "t.spacy"\n', "t.spacy"),
        # or none
        ("[corpora]\ntrain = 3\n", None),
        ("", None),
    ],
)
def test_the_scorer_finds_the_corpus_in_handwritten_configs(base, corpora, train):
    text = toys.CNN.replace("[paths]\ntrain = null\ndev = null\n", "")
    base.write_text(f"{text}\n{corpora}")
    if train is None:
        with pytest.raises(ValueError, match="--scorer needs the training corpus"):
            configure_hashed(base, scorer=True)
        train = str(toys.write_corpus(base.with_name("train.spacy")))
        made = configure_hashed(base, scorer=True, train=train)
    else:
        made = configure_hashed(base, scorer=True)
    assert made.config["components"]["ner"]["scorer"]["train"] == train


def test_without_entities_there_is_nothing_to_score(tmp_path):
    base = toys.write_base(tmp_path / "base.cfg", ["tagger"])
    with pytest.raises(ValueError, match=r"no component.*there are: tok2vec, tagger"):
        configure_hashed(base, scorer=True)
    toys.edit_base(base, ('factory = "tagger"', 'source = "en_other"'))
    with pytest.raises(ValueError, match="'tagger' is left: it is taken from 'en_"):
        configure_hashed(base, scorer=True)


# Vectors


def test_vectors_that_are_asked_for_but_not_named_are_warned_of(base):
    lines = [f"include_static_vectors = {value}" for value in ("false", "true")]
    toys.edit_base(base, tuple(lines))
    made = configure_hashed(base)
    assert get_embed(made)["include_static_vectors"] is True
    (warning,) = made.warnings
    assert warning.startswith(f"[{EMBED}] include_static_vectors is true, but")
    toys.edit_base(base, ("vectors = ${paths.vectors}\n", ""))
    assert configure_hashed(base).warnings == made.warnings
    toys.edit_base(base, ("vectors = null", 'vectors = "en_vectors"'))
    assert configure_hashed(base).warnings == []


# Texts of configs


def test_a_layout_that_can_not_be_edited_is_refused_by_the_file_s_name(base):
    base.write_text("\n".join(f"  {line}" for line in base.read_text().split("\n")))
    with pytest.raises(ValueError, match=r"base.cfg' can't be changed: it is laid out"):
        configure_hashed(base)


def test_a_component_that_is_written_elsewhere_stays(base):
    config = load_config(base)
    config["mine"] = {"ner": config["components"]["ner"]}
    config["components"]["ner"] = "${mine.ner}"
    config.to_disk(base, interpolate=False)
    made = configure_hashed(base)
    assert made.config["components"]["ner"] == "${mine.ner}"
    stays = "[components.ner] keeps its model: it is a variable for another section"
    assert made.warnings[0].startswith(stays)
    with pytest.raises(ValueError, match=r"--scorer scores entities.*'ner' is left"):
        configure_hashed(base, scorer=True)
