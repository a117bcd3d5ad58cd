"""What is put into a config, and where."""

import json
from functools import partial

import pytest
from spacy.tokens import Doc, DocBin
from spacy.util import dot_to_object, load_config
from spacy.vocab import Vocab

from spacy_hashembeds.analysis.analyze import analyze
from spacy_hashembeds.configuration.configure import configure
from tests.configs import CONFIGS

from . import toy_configs as toys

EMBED = "components.tok2vec.model.embed"
COUNTING = "spacy-hashembeds.count_symbols.v1"
NGRAMS = "spacy-hashembeds.count_character_ngrams.v1"
HASHER = "spacy-hashembeds.LSHHasher.v1"
PROJ = "spacy-hashembeds.ProjCompressor.v1"
BLAS = "spacy-hashembeds.use_fastest_blas.v1"


configure_hashed = partial(configure, embedder="multi_fewer_hash_embed")


@pytest.fixture
def base(tmp_path):
    """The config of `spacy init config` for NER, to change."""
    return toys.write_base(tmp_path / "base.cfg", ["ner"])


def write_words(path, words):
    DocBin(docs=[Doc(Vocab(), words=words)]).to_disk(path)
    return path


def get_changed(made) -> set[str]:
    return {change.place for change in made.changes}


# What `spacy init config` writes


@pytest.mark.parametrize("embedder", toys.NAMES)
@pytest.mark.parametrize("optimize", ["efficiency", "accuracy"])
@pytest.mark.parametrize("pipeline", toys.PIPELINES, ids="+".join)
def test_all_that_spacy_writes_builds_a_pipeline(
    tmp_path, pipeline, optimize, embedder
):
    base = toys.write_base(tmp_path / "base.cfg", pipeline, optimize)
    if "textcat" in pipeline[0] and optimize == "efficiency":
        with pytest.raises(ValueError, match=r"has none.*spacy.TextCatBOW"):
            configure(base, embedder=embedder)
        return
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
    again = configure(write(base, made), embedder=embedder, scorer=True)
    assert (again.text, again.changes) == (made.text, [])


def write(path, made):
    path.write_text(made.text)
    return path


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


def test_without_a_corpus_the_defaults_stay_and_say_how_to_choose(base):
    embed = dot_to_object(configure_hashed(base).config, EMBED)
    assert embed["num_hashes"] == 4
    assert embed["rows"] == [5000, 1000, 2500, 2500]
    assert embed["seed"] == 9
    assert "The default: --train would have it chosen" in configure_hashed(base).text


# Advice


def test_settings_are_what_analyze_advises(tiny_corpus, base):
    train = tiny_corpus / "train.spacy"
    few = "rows = [5000, 20, 2500, 2500]"
    toys.edit_base(base, ("rows = [5000, 1000, 2500, 2500]", few))
    advice = analyze(train, config=base)["advice"][0]
    hashed = configure_hashed(base, train=train).config
    embed = dot_to_object(hashed, EMBED)
    assert embed["num_hashes"] == advice["hashing"]["num_hashes"]
    least = advice["hashing"]["rows"]
    assert least[1] > 20
    assert embed["rows"] == [5000, least[1], 2500, 2500]
    assert hashed["paths"]["train"] == str(train)
    looked_up = configure(base, train=train, embedder="multi_embed").config
    callback = looked_up["initialize"]["before_init"]
    assert callback["min_freq"] == advice["lookup"]["min_freq"]
    assert "rows" not in dot_to_object(looked_up, EMBED)


def test_a_hybrid_has_rows_for_symbols_and_for_others(tiny_corpus, base):
    train = tiny_corpus / "train.spacy"
    few = "rows = [5000, 20, 2500, 2500]"
    toys.edit_base(base, ("rows = [5000, 1000, 2500, 2500]", few))
    advice = analyze(train, config=base)["advice"][0]
    made = configure(base, train=train, embedder="multi_hybrid_embed")
    embed = dot_to_object(made.config, EMBED)
    assert embed["@architectures"] == toys.HYBRID
    assert embed["num_hashes"] == advice["hashing"]["num_hashes"]
    n_prefixes = advice["lookup"]["rows"][1] + advice["hashing"]["rows"][1]
    assert embed["rows"] == [5000, n_prefixes, 2500, 2500]
    assert embed["seed"] == 9
    assert "Raised to have room for the frequent symbols" in " ".join(made.text.split())
    callback = made.config["initialize"]["before_init"]
    assert callback["min_freq"] == advice["lookup"]["min_freq"]
    again = configure(write(base, made), embedder="multi_hybrid_embed").config
    assert dot_to_object(again, EMBED) == embed


def test_a_hybrid_has_two_hashes_by_default_and_keeps_others(base):
    made = configure(base, embedder="multi_hybrid_embed")
    embed = dot_to_object(made.config, EMBED)
    assert (embed["num_hashes"], embed["rows"]) == (2, [5000, 1000, 2500, 2500])
    write(base, configure_hashed(base))
    toys.edit_base(base, ("num_hashes = 4", "num_hashes = 3"))
    made = configure(base, embedder="multi_hybrid_embed")
    assert dot_to_object(made.config, EMBED)["num_hashes"] == 3
    toys.build(made)


def test_weights_are_those_of_the_frequent_symbols(tiny_corpus, base):
    train = tiny_corpus / "train.spacy"
    few = "rows = [5000, 20, 2500, 2500]"
    toys.edit_base(base, ("rows = [5000, 1000, 2500, 2500]", few))
    chosen = analyze(train, config=base)["advice"][0]["lookup"]
    made = configure(base, train=train, embedder="multi_weighted_hash_embed")
    embed = dot_to_object(made.config, EMBED)
    assert embed["@architectures"] == toys.WEIGHTED
    # two hashes and weights tell values apart in few rows too
    assert (embed["num_hashes"], embed["seed"]) == (2, 9)
    assert embed["rows"] == [5000, 20, 2500, 2500]
    assert made.config["initialize"]["before_init"]["min_freq"] == chosen["min_freq"]
    n_weights = 2 * sum(chosen["rows"])
    said = " ".join(change.why for change in made.changes)
    assert f"have some {n_weights:,} parameters" in said
    toys.edit_base(write(base, made), ("num_hashes = 2", "num_hashes = 7"))
    again = configure(base, train=train, embedder="multi_weighted_hash_embed")
    assert dot_to_object(again.config, EMBED) == {**embed, "num_hashes": 7}
    # more than other embedders have
    hashed = dot_to_object(configure_hashed(base).config, EMBED)
    assert (hashed["@architectures"], hashed["num_hashes"]) == (toys.HASH, 4)


def test_rows_of_weights_that_are_hashed_need_no_symbols(base, tmp_path):
    rows = "rows = [5000, 1000, 2500, 2500]"
    toys.edit_base(
        base,
        ("spacy.MultiHashEmbed.v2", toys.WEIGHTED),
        (rows, f"{rows}\nimportance_rows = [70000, 1000, 50000, 20000]"),
        ('"NORM", "PREFIX", "SUFFIX"', '"LOWER", "NORM", "SUFFIX"'),
    )
    words = [f"{word}{i}" for i in range(100) for word in ("one", "Two")]
    train = write_words(tmp_path / "train.spacy", words)
    made = configure(base, train=train, embedder="multi_weighted_hash_embed")
    assert made.config["initialize"]["before_init"] is None
    embed = dot_to_object(made.config, EMBED)
    assert embed["attrs"] == ["LOWER", "SHAPE"]
    assert embed["rows"] == [5000, 2500]
    assert embed["importance_rows"] == [70000, 20000]
    toys.build(made)


def test_attributes_that_say_nothing_are_left_out_with_their_rows(base, tmp_path):
    toys.edit_base(
        base,
        ('"NORM", "PREFIX", "SUFFIX", "SHAPE"', '"LOWER", "NORM", "SHAPE", "LANG"'),
        ("[5000, 1000, 2500, 2500]", "[1, 2, 3000, 4]"),
    )
    words = [f"{word}{i}" for i in range(100) for word in ("one", "Two")]
    train = write_words(tmp_path / "train.spacy", words)
    made = configure_hashed(base, train=train)
    embed = dot_to_object(made.config, EMBED)
    assert embed["attrs"] == ["LOWER", "SHAPE"]
    assert embed["rows"][1] == 3000
    assert embed["rows"][0] > 1
    said = " ".join(change.why for change in made.changes)
    assert "NORM is left out: in the training corpus it tells the same" in said
    assert "LANG is left out: in the training corpus all words have one value" in said
    assert "Raised to the lower limit" in said
    toys.build(made)


@pytest.mark.usefixtures("contractions")
def test_tokens_are_those_of_the_config_s_language(tmp_path, base):
    doc = Doc(Vocab(), words=["don't"] * 1, spaces=[False])
    many = Doc(Vocab(), words=[f"w{i}" for i in range(98)], spaces=[True] * 98)
    DocBin(docs=[doc, many]).to_disk(tmp_path / "train.spacy")
    # 98 words, and "do" and "n't" in English, but "don't" in no language
    made = configure_hashed(base, train=tmp_path / "train.spacy")
    assert "too small" not in made.text
    toys.edit_base(base, ('lang = "en"', 'lang = "xx"'))
    made = configure_hashed(base, train=tmp_path / "train.spacy")
    assert "The default: the training corpus is too small to choose by" in made.text


@pytest.mark.parametrize("embedder", sorted(toys.NAMES.keys() - {"hash_former_embed"}))
def test_too_small_a_corpus_leaves_the_defaults(base, tmp_path, embedder):
    train = write_words(tmp_path / "train.spacy", ["a", "b", "c"])
    made = configure(base, train=train, embedder=embedder)
    assert "The default: the training corpus is too small to choose by" in made.text


@pytest.mark.parametrize("embedder", [None, "multi_fewer_hash_embed"])
def test_a_corpus_without_entities_is_warned_of(base, tmp_path, tiny_corpus, embedder):
    train = write_words(tmp_path / "train.spacy", ["a", "b", "c"])
    warning = f"The training corpus '{train}' has no entities (doc.ents), so that 'ner'"
    found = configure(base, train=train, embedder=embedder).warnings
    assert [text[: len(warning)] for text in found] == [warning]
    train = tiny_corpus / "train.spacy"
    assert not configure(base, train=train, embedder=embedder).warnings
    toys.write_base(base, ["tagger"])
    assert not configure(base, train=tmp_path / "train.spacy").warnings


@pytest.mark.parametrize(
    ("words", "error"),
    [([], "not a token in the corpus"), (None, "There is no file or folder")],
)
def test_a_corpus_that_is_empty_or_missing_is_refused(base, tmp_path, words, error):
    train = tmp_path / "train.spacy"
    if words is not None:
        DocBin(docs=[]).to_disk(train)
    with pytest.raises((ValueError, OSError), match=error):
        configure_hashed(base, train=train)


def test_a_folder_of_several_splits_is_refused(base, tiny_corpus):
    with pytest.raises(ValueError, match="should hold the files of one corpus"):
        configure_hashed(base, train=tiny_corpus)


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


# Counting symbols


@pytest.mark.parametrize("line", ["before_init = null\n", ""])
def test_symbols_are_counted_where_nothing_was_to_be_done(base, line):
    toys.edit_base(base, ("before_init = null\n", line))
    made = configure(base, embedder="multi_embed")
    assert made.config["initialize"]["before_init"] == {
        "@callbacks": COUNTING,
        "corpus": "${training.train_corpus}",
        "min_freq": 2,
    }
    assert "before_init = null" not in made.text


@pytest.mark.parametrize("there", ["null", f'{{"@callbacks":"{NGRAMS}"}}'])
@pytest.mark.parametrize("corpus", [None, ["a", "b", "c"]])
@pytest.mark.parametrize(
    ("embedder", "min_freq"), [("multi_embed", 2), ("multi_hybrid_embed", 10)]
)
def test_each_embedder_has_one_min_freq_by_default(
    base, tmp_path, there, corpus, embedder, min_freq
):
    """Without a corpus, or with one that is too small to choose by."""
    toys.edit_base(base, ("before_init = null", f"before_init = {there}"))
    train = write_words(tmp_path / "train.spacy", corpus) if corpus else None
    made = configure(base, train=train, embedder=embedder)
    assert made.config["initialize"]["before_init"]["min_freq"] == min_freq


def test_a_callback_of_ours_without_min_freq_stays_so(base):
    inline = f'{{"@callbacks": "{COUNTING}", "corpus": "corpora.train"}}'
    toys.edit_base(base, ("before_init = null", f"before_init = {inline}"))
    made = configure(base, embedder="multi_embed")
    assert "min_freq" not in made.config["initialize"]["before_init"]


def test_our_callback_keeps_what_it_has_but_for_advice(tiny_corpus, base):
    inline = f'{{"@callbacks": "{COUNTING}", "min_freq": 7, "limit": 5}}'
    toys.edit_base(base, ("before_init = null", f"before_init = {inline}"))
    made = configure(base, embedder="multi_embed").config["initialize"]["before_init"]
    assert made["min_freq"] == 7
    train = tiny_corpus / "train.spacy"
    made = configure(base, embedder="multi_embed", train=train)
    callback = made.config["initialize"]["before_init"]
    assert (callback["min_freq"], callback["limit"]) == (2, 5)
    assert load_config(write(base, made)) == made.config


def test_another_callback_is_refused_with_the_way_around(base):
    callback = '{"@callbacks": "mine.v1"}'
    toys.edit_base(base, ("before_init = null", f"before_init = {callback}"))
    with pytest.raises(ValueError, match=r"mine\.v1' stands there.*tables"):
        configure(base, embedder="multi_embed")
    made = configure_hashed(base)
    assert made.config["initialize"]["before_init"] == {"@callbacks": "mine.v1"}


def test_the_callback_of_the_reports_lookup_tables_gives_way(base):
    callback = {"@callbacks": "set_attr", "path": "a.tables", "component": "tok2vec"}
    callback |= {"layer": "multiembed", "attr": "tables"}
    inline = f"before_init = {json.dumps(callback)}"
    toys.edit_base(base, ("before_init = null", inline))
    made = configure(base, embedder="multi_embed")
    assert made.config["initialize"]["before_init"]["@callbacks"] == COUNTING
    assert "set_attr" not in made.config["initialize"]["before_init"].values()
    assert "needs the file that set_attr read here" in made.text.replace("\n# ", " ")
    toys.edit_base(base, ('"attr": "tables"', '"attr": "rows"'))
    with pytest.raises(ValueError, match="'set_attr' stands there"):
        configure(base, embedder="multi_embed")


def test_a_file_of_symbols_needs_no_callback(base):
    write(base, configure(base, embedder="multi_embed"))
    toys.edit_base(
        base,
        (f'@callbacks = "{COUNTING}"', '@callbacks = "mine.v1"'),
        (toys.LOOKUP + '"', toys.LOOKUP + '"\ntables = "tables.npz"'),
    )
    made = configure(base, embedder="multi_embed")
    assert dot_to_object(made.config, EMBED)["tables"] == "tables.npz"
    assert made.config["initialize"]["before_init"]["@callbacks"] == "mine.v1"


def test_our_callback_goes_with_the_last_embedder_that_needs_it(base):
    write(base, configure(base, embedder="multi_embed"))
    made = configure_hashed(base)
    assert made.config["initialize"]["before_init"] is None
    embed = dot_to_object(made.config, EMBED)
    assert embed["@architectures"] == toys.HASH
    assert embed["rows"] == [5000, 1000, 2500, 2500]
    toys.build(made)


def test_a_handwritten_config_names_the_corpus_itself(tmp_path):
    base = tmp_path / "base.cfg"
    base.write_text(toys.CNN)
    made = configure(base, embedder="multi_embed")
    assert made.config["initialize"]["before_init"]["corpus"] == "corpora.train"


def test_callbacks_and_tables_may_be_variables(base):
    base.write_text(f"{base.read_text()}\n[vars]\nnone = null\n")
    toys.edit_base(
        base,
        ("before_init = null", "before_init = ${vars.none}"),
        ("after_pipeline_creation = null", "after_pipeline_creation = ${vars.none}"),
        ("train = null", "train = ${vars.none}"),
        ('"spacy.MultiHashEmbed.v2"', f'"{toys.LOOKUP}"\ntables = ${{vars.none}}'),
        ("rows = [5000, 1000, 2500, 2500]\n", ""),
    )
    made = configure(base, embedder="multi_embed")
    assert made.warnings == []
    assert made.config["initialize"]["before_init"]["@callbacks"] == COUNTING
    assert made.config["nlp"]["after_pipeline_creation"] == {"@callbacks": BLAS}
    toys.build(made)


def test_our_callback_in_another_section_is_ours(base):
    block = f'[vars]\n\n[vars.mine]\n@callbacks = "{COUNTING}"\nmin_freq = 7\n'
    base.write_text(f"{base.read_text()}\n{block}")
    toys.edit_base(base, ("before_init = null", "before_init = ${vars.mine}"))
    made = configure(base, embedder="multi_embed")
    assert made.config["initialize"]["before_init"]["min_freq"] == 7
    assert configure_hashed(base).config["initialize"]["before_init"] is None


# Codes in the place of rows


@pytest.mark.parametrize("line", ["before_init = null\n", ""])
def test_ngrams_are_counted_for_hashers(base, line):
    toys.edit_base(base, ("before_init = null\n", line))
    made = configure(base, embedder="hash_former_embed")
    assert made.config["initialize"]["before_init"] == {
        "@callbacks": NGRAMS,
        "corpus": "${training.train_corpus}",
    }
    embed = dot_to_object(made.config.interpolate(), EMBED)
    assert list(embed["hashers"]) == list(embed["compressors"]) == embed["attrs"]
    for attr in embed["attrs"]:
        assert embed["hashers"][attr] == {"@architectures": HASHER}
        assert embed["compressors"][attr] == {"@architectures": PROJ}
    # what holds for all is written once
    assert made.text.count(f'"{HASHER}"') == made.text.count(f'"{PROJ}"') == 1
    for section in (f"{EMBED}.hashers", f"{EMBED}.compressors"):
        why = made.text.partition(f"\n[{section}]")[0].rpartition("\n\n")[2]
        assert why.startswith("# spacy-hashembeds: 128")
    toys.build(made)


def test_attributes_that_are_no_text_are_left_out_with_a_reason(base):
    attrs = '"IS_TITLE", "LOWER", "LENGTH", "SHAPE", "LOWER"'
    toys.edit_base(
        base,
        ('"NORM", "PREFIX", "SUFFIX", "SHAPE"', attrs),
        ("[5000, 1000, 2500, 2500]", "[1, 2, 3, 4, 5]"),
    )
    made = configure(base, embedder="hash_former_embed")
    embed = dot_to_object(made.config, EMBED)
    assert embed["attrs"] == ["LOWER", "SHAPE"]
    assert list(embed["hashers"]) == ["LOWER", "SHAPE"]
    said = " ".join(change.why for change in made.changes)
    for attr in ("IS_TITLE", "LENGTH"):
        assert f"{attr} is left out: it is no text to hash." in said
    assert "LOWER is left out" not in said
    toys.build(made)


@pytest.mark.parametrize("has_corpus", [False, True])
def test_an_embedder_without_text_is_refused(base, tmp_path, has_corpus):
    toys.edit_base(
        base,
        ('"NORM", "PREFIX", "SUFFIX", "SHAPE"', '"IS_TITLE"'),
        ("[5000, 1000, 2500, 2500]", "[1]"),
    )
    train = write_words(tmp_path / "train.spacy", ["a"]) if has_corpus else None
    with pytest.raises(ValueError, match=rf"\[{EMBED}\] should embed some text.*IS_T"):
        configure(base, embedder="hash_former_embed", train=train)


def test_attributes_are_advised_for_codes_too(base, tmp_path):
    attrs = '"LOWER", "NORM", "SHAPE", "IS_TITLE"'
    toys.edit_base(base, ('"NORM", "PREFIX", "SUFFIX", "SHAPE"', attrs))
    words = [f"{word}{i}" for i in range(100) for word in ("one", "Two")]
    train = write_words(tmp_path / "train.spacy", words)
    made = configure(base, train=train, embedder="hash_former_embed")
    embed = dot_to_object(made.config, EMBED)
    assert embed["attrs"] == list(embed["hashers"]) == ["LOWER", "SHAPE"]
    said = " ".join(change.why for change in made.changes)
    assert "NORM is left out: in the training corpus it tells the same" in said
    assert "IS_TITLE is left out: it is no text" in said
    # and as much once it is there, where attributes are variables of each other
    assert configure(write(base, made), train=train, embedder="hash_former_embed")
    toys.edit_base(base, ('attrs = ["LOWER", "SHAPE"]', 'attrs = ["SHAPE"]'))
    with pytest.raises(ValueError, match="'hashers' should have a block for each"):
        configure(base, train=train, embedder="hash_former_embed")


def test_hashers_go_with_their_attributes(base, tmp_path):
    made = configure(base, embedder="hash_former_embed")
    attrs = '["NORM", "LOWER", "SHAPE", "PREFIX"]'
    toys.edit_base(
        write(base, made),
        ('["NORM", "PREFIX", "SUFFIX", "SHAPE"]', attrs),
        ("\nSUFFIX = ", "\nLOWER = "),
        (HASHER + '"', HASHER + '"\nnum_bits = 64'),
    )
    words = [f"{word}{i}" for i in range(100) for word in ("one", "Two")]
    train = write_words(tmp_path / "train.spacy", words)
    made = configure(base, train=train, embedder="hash_former_embed")
    embed = dot_to_object(made.config, EMBED)
    assert "LOWER" not in embed["attrs"]
    assert list(embed["hashers"]) == list(embed["compressors"]) == embed["attrs"]
    for block in embed["hashers"].values():
        assert block == {"@architectures": HASHER, "num_bits": 64}
    toys.build(made)


def test_another_callback_lets_any_ngram_count_and_says_so(base):
    callback = 'before_init = {"@callbacks": "mine.v1"}'
    toys.edit_base(base, ("before_init = null", callback))
    made = configure(base, embedder="hash_former_embed")
    assert callback in made.text
    embed = dot_to_object(made.config, EMBED)
    assert embed["hashers"]["NORM"] == {"@architectures": HASHER, "max_ngrams": None}
    assert embed["hashers"]["SHAPE"] == f"${{{EMBED}.hashers.NORM}}"
    said = " ".join(change.why for change in made.changes)
    assert said.count("Any n-gram counts, not only those of the training corpus") == 1
    assert "\n# spacy-hashembeds: Any n-gram counts" in made.text
    again = configure(write(base, made), embedder="hash_former_embed")
    assert (again.text, again.changes) == (made.text, [])
    toys.build(made)


def test_hashers_that_were_there_keep_their_ngrams(base):
    """A callback of somebody's own may count them."""
    write(base, configure(base, embedder="hash_former_embed"))
    toys.edit_base(base, (f'"{NGRAMS}"', '"mine.v1"'))
    made = configure(base, embedder="hash_former_embed")
    assert (made.text, made.changes) == (base.read_text(), [])


@pytest.mark.parametrize("embedder", sorted(toys.NAMES.keys() - {"hash_former_embed"}))
def test_codes_and_rows_take_each_other_s_place(base, embedder):
    line = f'before_init = {{"@callbacks": "{NGRAMS}", "limit": 7}}'
    toys.edit_base(base, ("before_init = null", line))
    rows = configure(base, embedder=embedder)
    write(base, rows)
    pieces = "maxout_pieces = 2\nattrs = "
    rows = configure(toys.edit_base(base, ("attrs = ", pieces)), embedder=embedder)
    codes = configure(write(base, rows), embedder="hash_former_embed")
    assert dot_to_object(codes.config, EMBED)["maxout_pieces"] == 2
    limit = {} if embedder == "multi_fewer_hash_embed" else {"limit": 7}
    corpus = {"corpus": "${training.train_corpus}", **limit}
    counting = codes.config["initialize"]["before_init"]
    assert counting == {"@callbacks": NGRAMS, **corpus}
    toys.build(codes)
    again = configure(write(base, codes), embedder=embedder)
    assert "hashers" not in again.text
    embed = dot_to_object(again.config, EMBED)
    old = dot_to_object(rows.config, EMBED)
    assert embed == old
    counting = again.config["initialize"]["before_init"]
    min_freq = 2 if embedder == "multi_embed" else 10
    symbols = {"@callbacks": COUNTING, "min_freq": min_freq, **corpus}
    assert counting == (symbols if limit else None)
    toys.build(again)


def test_what_mixes_nothing_is_given_what_mixes(base):
    made = configure(base, embedder="hash_former_embed")
    toys.edit_base(
        write(base, made),
        ('attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]', 'attrs = ["NORM"]'),
        (
            "include_static_vectors = ",
            "maxout_pieces = null\ninclude_static_vectors = ",
        ),
    )
    lines = [n for n in base.read_text().split("\n") if "${" not in n or "width" in n]
    base.write_text("\n".join(lines))
    kept = configure(base, embedder="hash_former_embed")
    assert dot_to_object(kept.config, EMBED)["maxout_pieces"] is None
    made = configure_hashed(base)
    assert "maxout_pieces" not in dot_to_object(made.config, EMBED)
    toys.build(made)


def test_ngrams_that_need_no_counting_need_no_callback(base):
    made = configure(base, embedder="hash_former_embed")
    toys.edit_base(write(base, made), (HASHER + '"', HASHER + '"\nmax_ngrams = null'))
    made = configure(base, embedder="hash_former_embed")
    assert made.config["initialize"]["before_init"] is None
    assert "No embedder needs n-grams now." in made.text
    toys.build(made)


# BLAS


def test_another_callback_stays_with_a_warning(base):
    mine = '{"@callbacks": "mine.v1"}'
    line = "after_pipeline_creation = "
    toys.edit_base(base, (f"{line}null", f"{line}{mine}"))
    made = configure_hashed(base)
    assert made.config["nlp"]["after_pipeline_creation"] == {"@callbacks": "mine.v1"}
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


def test_weights_that_were_chosen_already_stay(base):
    weights = "[training.score_weights]\nents_unseen_f = 1.0\n"
    toys.edit_base(base, ("[training.score_weights]\n", weights))
    made = configure_hashed(base, scorer=True)
    assert made.config["training"]["score_weights"]["ents_f"] == 1.0


@pytest.mark.parametrize("weight", ["null", "0.0"])
def test_a_score_without_weight_gives_none(base, weight):
    toys.edit_base(
        base, ("ents_f = 1.0", f"ents_f = {weight}"), ("ents_p = 0.0", "ents_p = 1.0")
    )
    made = configure_hashed(base, scorer=True)
    # a score that was hidden stays so
    assert f"ents_f = {weight}\n" in made.text
    weights = made.config["training"]["score_weights"]
    assert (weights["ents_seen_f"], weights["ents_unseen_f"]) == (0.0, 0.0)
    toys.build(made)


def test_weights_may_be_variables(base):
    weights = "\n[vars]\nhalf = 0.5\n"
    base.write_text(base.read_text() + weights)
    toys.edit_base(
        base,
        ("ents_f = 1.0", "ents_f = ${vars.half}"),
        ("ents_p = 0.0", "ents_p = ${vars.half}"),
    )
    made = configure_hashed(base, scorer=True)
    assert made.config["training"]["score_weights"] == {
        "ents_f": 0.25,
        "ents_p": "${vars.half}",
        "ents_r": 0.0,
        "ents_per_type": None,
        "ents_seen_f": 0.0,
        "ents_unseen_f": 0.25,
    }
    toys.build(made)


def test_all_weights_may_be_one_variable(base):
    toys.edit_base(
        base,
        ("[training.score_weights]", "[vars]\n\n[vars.weights]"),
        ("[training]\n", "[training]\nscore_weights = ${vars.weights}\n"),
    )
    made = configure_hashed(base, scorer=True)
    weights = made.config["training"]["score_weights"]
    assert (weights["ents_f"], weights["ents_unseen_f"]) == (0.5, 0.5)
    assert made.config["vars"]["weights"]["ents_f"] == 1.0
    toys.build(made)


def test_a_weight_that_is_no_number_is_refused(base):
    toys.edit_base(base, ("ents_f = 1.0", 'ents_f = "high"'))
    with pytest.raises(ValueError, match=r"a number as 'ents_f' in.*but has 'high'"):
        configure_hashed(base, scorer=True)


def test_a_frozen_component_is_scored_with_the_model_that_it_has(base):
    toys.edit_base(base, ("frozen_components = []", 'frozen_components = ["ner"]'))
    made = configure_hashed(base, scorer=True)
    assert made.warnings == [
        "[components.ner] keeps its model: it is among [training] frozen_components."
    ]
    ner = made.config["components"]["ner"]
    assert ner["model"] == load_config(base)["components"]["ner"]["model"]
    assert "[components.ner.scorer] @scorers" in get_changed(made)


def test_a_factory_that_is_a_variable_is_scored(base):
    toys.edit_base(base, ('factory = "ner"', "factory = ${vars.ner}"))
    base.write_text(f'{base.read_text()}\n[vars]\nner = "ner"\n')
    made = configure_hashed(base, scorer=True)
    assert made.config["components"]["ner"]["factory"] == "${vars.ner}"
    assert "[components.ner.scorer] @scorers" in get_changed(made)


def test_the_scorer_finds_the_corpus_in_handwritten_configs(tmp_path):
    base = tmp_path / "base.cfg"
    text = toys.CNN.replace("[paths]\ntrain = null\ndev = null\n", "")
    base.write_text(f'{text}\n[corpora]\n\n[corpora.train]\npath = "t.spacy"\n')
    scorer = configure_hashed(base, scorer=True).config["components"]["ner"]["scorer"]
    assert scorer["train"] == "${corpora.train.path}"
    base.write_text(text)
    with pytest.raises(ValueError, match="--scorer needs the training corpus"):
        configure_hashed(base, scorer=True)
    train = toys.write_corpus(tmp_path / "train.spacy")
    made = configure_hashed(base, scorer=True, train=train)
    assert made.config["components"]["ner"]["scorer"]["train"] == str(train)


def test_the_scorer_finds_the_corpus_in_a_section_that_is_a_variable(tmp_path):
    base = tmp_path / "base.cfg"
    text = toys.CNN.replace("[paths]\ntrain = null\ndev = null\n", "")
    corpora = "[corpora]\ntrain = ${vars.corpus}\n\n[vars]\n\n[vars.corpus]\n"
    base.write_text(f'{text}\n{corpora}path = "t.spacy"\n')
    scorer = configure_hashed(base, scorer=True).config["components"]["ner"]["scorer"]
    assert scorer["train"] == "t.spacy"


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
    assert dot_to_object(made.config, EMBED)["include_static_vectors"] is True
    (warning,) = made.warnings
    assert warning.startswith(f"[{EMBED}] include_static_vectors is true, but")
    toys.edit_base(base, ("vectors = ${paths.vectors}\n", ""))
    assert configure_hashed(base).warnings == made.warnings
    toys.edit_base(base, ("vectors = null", 'vectors = "en_vectors"'))
    assert configure_hashed(base).warnings == []


def test_our_own_configs_are_changed_into_each_other(tmp_path):
    base = CONFIGS / "multi_embed.cfg"
    made = configure_hashed(base)
    assert get_changed(made) >= {f"[{EMBED}] @architectures"}
    assert "# The report's training section" in made.text
    toys.build(made)


def test_a_layout_that_can_not_be_edited_is_refused_by_the_file_s_name(base):
    base.write_text("\n".join(f"  {line}" for line in base.read_text().split("\n")))
    with pytest.raises(ValueError, match=r"base.cfg' can't be changed: it is laid out"):
        configure_hashed(base)


@pytest.mark.parametrize(
    "value", ['["A\u2028B"]', '"x\x85y"', '"x\x0b  y"', '"\x1c y"']
)
def test_values_may_hold_whatever_spacy_reads(base, value):
    toys.edit_base(base, ("seed = ${system.seed}", f"seed = 0\nmine = {value}"))
    toys.edit_base(base, ("[nlp]", "# page\x0c[initialize.foo]\n[nlp]"))
    assert f"\nmine = {value}\n" in configure_hashed(base).text


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


def test_the_name_of_our_callback_alone_is_made_a_callback(base):
    toys.edit_base(base, ("before_init = null", f'before_init = "{COUNTING}"'))
    before_init = configure(base, embedder="multi_embed").config["initialize"]
    assert before_init["before_init"]["@callbacks"] == COUNTING


def test_a_corpus_that_is_no_section_is_no_path(base):
    config = load_config(base)
    config["corpora"] = {"train": 3}
    del config["paths"]["train"]
    config.to_disk(base, interpolate=False)
    with pytest.raises(ValueError, match="--scorer needs the training corpus"):
        configure_hashed(base, scorer=True)
