"""Embedders whose weights training starts from."""

from pathlib import Path

import numpy as np
import pytest
from spacy.language import DEFAULT_CONFIG_PATH, DEFAULT_CONFIG_PRETRAIN_PATH, Language
from spacy.training.initialize import init_nlp
from spacy.util import dot_to_object, load_config, load_config_from_str
from thinc.api import Config

from spacy_hashembeds.tools.config.configure import configure

from . import toy_configs as toys
from .toy_configs import EMBED, configure_hashed, get_embed

SPACY = {"num_hashes": 4, "seed": 8}

#: No attribute of these words tells more than LOWER.
ATTRS = (toys.ATTRS, '"LOWER", "NORM", "SHAPE", "LANG"')
#: More would be advised.
FEW_ROWS = ("rows = [5000, 1000", "rows = [20, 1000")
PRETRAINED = 'init_tok2vec = "weights.bin"'


@pytest.fixture
def base(base):
    """A config that starts from weights."""
    return toys.edit_base(base, ("init_tok2vec = ${paths.init_tok2vec}", PRETRAINED))


@pytest.fixture
def train(tiny_corpus):
    return tiny_corpus / "train.spacy"


def add_pretraining(base: Path, component: str = "tok2vec") -> None:
    config = Config()
    for path in (DEFAULT_CONFIG_PATH, DEFAULT_CONFIG_PRETRAIN_PATH, base):
        config = config.merge(load_config(path))
    config["pretraining"]["component"] = component
    config.to_disk(base)


def start(config: Config, train: Path) -> Language:
    """Make a pipeline and its weights, as `spacy train` does at first."""
    config["paths"] |= {"train": str(train), "dev": str(train), "raw_text": "x.jsonl"}
    return init_nlp(config)


def embed_words(nlp: Language) -> np.ndarray:
    (vectors,) = nlp.get_pipe("tok2vec").model.predict(
        [nlp.make_doc(" ".join(toys.WORDS))]
    )
    return vectors


@pytest.mark.parametrize("kind", ["MultiHashEmbed", "HashEmbedCNN"])
def test_weights_give_the_numbers_that_they_gave_in_spacy(tmp_path, train, kind):
    base = tmp_path / "base.cfg"
    if kind == "HashEmbedCNN":
        base.write_text(toys.CNN.replace("embed_size = 200", "embed_size = 20"))
    else:
        toys.edit_base(toys.write_base(base, ["ner"]), FEW_ROWS)
    add_pretraining(base)
    old = start(load_config(base), train)
    weights = tmp_path / "weights.bin"
    weights.write_bytes(old.get_pipe("tok2vec").model.to_bytes())
    toys.edit_base(base, ("init_tok2vec = null", f'init_tok2vec = "{weights}"'))
    made = configure_hashed(base, train=train)
    assert get_embed(made)["@architectures"] == toys.HASH
    new = start(load_config_from_str(made.text), train)
    np.testing.assert_allclose(embed_words(new), embed_words(old), rtol=1e-5, atol=1e-5)


def test_settings_of_the_weights_stay_whatever_a_corpus_advises(base, train):
    toys.edit_base(base, ATTRS, FEW_ROWS)
    made = configure_hashed(base, train=train)
    old = dot_to_object(load_config(base), EMBED)
    assert get_embed(made) == {**old, "@architectures": toys.HASH, **SPACY}
    (warning,) = made.warnings
    assert "init_tok2vec" in warning
    assert "'weights.bin'" in warning
    again = configure_hashed(toys.write_made(base, made), train=train)
    assert (again.text, again.changes) == (made.text, [])


@pytest.mark.parametrize("has_key", [True, False])
def test_weights_may_be_named_in_paths(base, has_key):
    line = "init_tok2vec = ${paths.init_tok2vec}\n" if has_key else ""
    toys.edit_base(base, (f"{PRETRAINED}\n", line))
    assert get_embed(configure_hashed(base))["seed"] == 9
    toys.edit_base(base, ("init_tok2vec = null", PRETRAINED))
    assert get_embed(configure_hashed(base))["seed"] == 8


@pytest.mark.parametrize(
    ("name", "arguments", "embedder"),
    [
        ("spacy.MultiHashEmbed.v2", 'attrs = ["NORM"]\nrows = [50]', "multi_embed"),
        (
            "spacy.CharacterEmbed.v2",
            'rows = 50\nnM = 8\nnC = 4\nfeature = "NORM"',
            "multi_fewer_hash_embed",
        ),
        (toys.LOOKUP, 'attrs = ["NORM"]', "multi_fewer_hash_embed"),
    ],
)
def test_an_embedder_that_the_weights_do_not_fit_is_refused(
    base, name, arguments, embedder
):
    settings = f'@architectures = "{name}"\nwidth = 96\n{arguments}'
    block = f"[{EMBED}]\n{settings}\ninclude_static_vectors = false"
    (old,) = (s for s in base.read_text().split("\n\n") if s.startswith(f"[{EMBED}]"))
    toys.edit_base(base, (old, block))
    with pytest.raises(ValueError, match=rf"init_tok2vec .*weights.bin.*{name}"):
        configure(base, embedder=embedder)


def test_weighted_tables_keep_their_hashing(base, train):
    toys.edit_base(
        base,
        ATTRS,
        ("spacy.MultiHashEmbed.v2", toys.WEIGHTED),
        ("rows = [5000, 1000", "num_hashes = 3\nseed = 8\nrows = [20, 1000"),
    )
    made = configure(base, embedder="multi_weighted_hash_embed", train=train)
    assert get_embed(made) == dot_to_object(load_config(base), EMBED)
    assert ["init_tok2vec" in warning for warning in made.warnings] == [True]


def test_embedders_of_other_components_are_free(base):
    add_pretraining(base, "ner")
    made = configure(base, embedder="multi_embed")
    assert get_embed(made)["@architectures"] == toys.LOOKUP
    assert made.warnings == []
