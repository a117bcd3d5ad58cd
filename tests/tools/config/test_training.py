"""Configs with our functions in them train, save and load as `spacy train` has it."""

from io import StringIO

import numpy as np
import pytest
import spacy
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config

from spacy_hashembeds.tools.config.configure import configure

from . import toy_configs as toys

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("pipeline", "optimize", "embedder"),
    [
        (["tagger", "parser", "ner"], "efficiency", "multi_fewer_hash_embed"),
        (["ner", "textcat"], "accuracy", "multi_embed"),
        (
            ["spancat", "morphologizer", "textcat_multilabel"],
            "accuracy",
            "hash_former_embed",
        ),
    ],
)
def test_it_trains(tmp_path, corpus, pipeline, optimize, embedder):
    base = toys.write_base(tmp_path / "base.cfg", *pipeline, optimize=optimize)
    made = configure(base, embedder=embedder, train=corpus, scorer="ner" in pipeline)
    overrides = {**toys.SMALL, "paths.train": str(corpus), "paths.dev": str(corpus)}
    if optimize == "accuracy":
        overrides["paths.vectors"] = str(toys.write_vectors(tmp_path / "vectors"))
    loaded = load_config(toys.write_made(tmp_path / "new.cfg", made), overrides)
    log = StringIO()
    nlp, _ = train(init_nlp(loaded), tmp_path, stdout=log, stderr=StringIO())
    saved = spacy.load(tmp_path / "model-last")
    doc = nlp.make_doc(" ".join(toys.WORDS))
    before, after = (
        each.get_pipe("tok2vec").model.predict([doc])[0] for each in (nlp, saved)
    )
    np.testing.assert_allclose(before, after, rtol=1e-5, atol=1e-6)
    assert saved.pipe_names == ["tok2vec", *pipeline]
    embed = saved.config["components"]["tok2vec"]["model"]["embed"]
    assert embed["@architectures"] == toys.NAMES[embedder]
    assert embed["include_static_vectors"] == (optimize == "accuracy")
    assert ("ENTS_UNSEEN_F" in log.getvalue().upper()) == ("ner" in pipeline)
