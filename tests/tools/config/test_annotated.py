"""Attributes that components set are never dropped."""

from pathlib import Path

import pytest

from spacy_hashembeds.tools.analyze.analyze import analyze
from spacy_hashembeds.tools.config.configure import configure

from . import toy_configs as toys

PIPELINE = '["ruler", "tok2vec", "ner"]'
RULER = '[components]\n[components.ruler]\nfactory = "attribute_ruler"\n'


@pytest.fixture
def base(base, tmp_path, monkeypatch) -> Path:
    """A pipeline in which a component may set the TAG that the embedder reads."""
    monkeypatch.chdir(tmp_path)
    return toys.edit_base(
        base,
        ('["tok2vec", "ner"]', PIPELINE),
        ("[components]\n", RULER),
        (toys.ATTRS, '"NORM", "TAG"'),
        (toys.ROWS, "rows = [5000, 100]"),
        ("annotating_components = []", 'annotating_components = ["ruler"]'),
    )


@pytest.mark.parametrize("embedder", [None, *toys.NAMES])
def test_what_a_component_ahead_may_set_stays(base, twins, embedder):
    made = configure(base, embedder=embedder, train=twins)
    assert toys.get_embed(made)["attrs"] == ["NORM", "TAG"]
    assert analyze(twins, config=base)["advice"][0]["attrs"] == ["NORM", "TAG"]
    toys.edit_base(base, (PIPELINE, '["tok2vec", "ner"]'))
    made = configure(base, embedder=embedder, train=twins)
    assert toys.get_embed(made)["attrs"] == ["NORM"]
    assert analyze(twins, config=base)["advice"][0]["attrs"] == ["NORM"]


def test_what_is_no_text_or_not_in_raw_texts_is_refused(base):
    toys.edit_base(base, ('"NORM", "TAG"', '"NORM", "ENT_IOB"'))
    with pytest.raises(ValueError, match="embeds ENT_IOB"):
        configure(base, embedder="hash_former_embed")
    Path("raw.txt").write_text("a b c")
    with pytest.raises(ValueError, match=r"embeds ENT_IOB.*--raw"):
        configure(base, embedder="multi_embed", raw="raw.txt")
    configure(base, embedder="multi_fewer_hash_embed", raw="raw.txt")
