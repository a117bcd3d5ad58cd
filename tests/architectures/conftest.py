"""Pipelines of the report's own project, made with its code restated."""

import re
from collections import Counter
from pathlib import Path

import catalogue
import numpy
import pytest
import spacy
import srsly
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.util import import_file, load_config
from spacy.vocab import Vocab
from thinc.api import Config

from tests.configs import CONFIGS

from ..conftest import ROOT

MULTI_EMBED, MULTI_FEWER = "spacy.MultiEmbed.v1", "spacy.MultiFewerHashEmbed.v1"
NAMES = [MULTI_EMBED, MULTI_FEWER]
ATTRS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
PROJECT = Path(__file__).with_name("report_project.py")


def read_blocks(language: str) -> list[str]:
    """The code blocks of the page about the project in one language."""
    page = (ROOT / "docs/report-project.md").read_text(encoding="utf8")
    return re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.M | re.S)


#: What the project's configs have, where the page changes nothing but the name.
HASHING = f"""
[components.tok2vec.model.embed]
@architectures = "{MULTI_FEWER}"
num_hashes = 1
width = ${{components.tok2vec.model.encode.width}}
attrs = ["NORM","PREFIX","SUFFIX","SHAPE"]
rows = [5000,2500,2500,2500]
include_static_vectors = true
"""


def read_changes(name: str) -> tuple[Config, Config]:
    """What the page changes in a config of the project, before and after."""
    parents = "components", "components.tok2vec", "components.tok2vec.model"
    sections = "".join(f"[{section}]\n" for section in (*parents, "initialize"))
    blocks = {
        MULTI_FEWER: [HASHING, HASHING.replace('"spacy.', '"spacy-hashembeds.')],
        MULTI_EMBED: read_blocks("ini"),
    }
    before, after = (
        Config().from_str(sections + block, interpolate=False) for block in blocks[name]
    )
    return before, after


def read_docs(path: Path, vocab: Vocab | None = None) -> list[Doc]:
    vocab = spacy.blank("en").vocab if vocab is None else vocab
    return list(DocBin().from_disk(path).get_docs(vocab))


def forget_later(monkeypatch) -> None:
    """Have what will be registered under the names gone afterwards."""
    keys = [("spacy", "architectures", name) for name in NAMES]
    for key in [*keys, ("spacy", "callbacks", "set_attr")]:
        monkeypatch.setitem(catalogue.REGISTRY, key, None)
        del catalogue.REGISTRY[key]


@pytest.fixture
def registering(monkeypatch):
    """What the test registers is gone after it."""
    forget_later(monkeypatch)


@pytest.fixture(scope="session")
def vectors(tiny_corpus, tmp_path_factory) -> Path:
    nlp = spacy.blank("en")
    nlp.vocab.reset_vectors(width=4)
    state = numpy.random.default_rng(0)
    for doc in read_docs(tiny_corpus / "train.spacy"):
        nlp.vocab.set_vector(doc[0].text, state.normal(size=4).astype("f"))
    path = tmp_path_factory.mktemp("vectors")
    nlp.to_disk(path)
    return path


@pytest.fixture(scope="session")
def tables(tiny_corpus, tmp_path_factory) -> Path:
    """The project's tables: rows from 1, the most frequent symbols first."""
    docs = read_docs(tiny_corpus / "train.spacy")
    counts = {
        attr: Counter(value for doc in docs for value in doc.to_array(attr).tolist())
        for attr in ATTRS
    }
    rows = {}
    for attr, counter in counts.items():
        kept = [symbol for symbol, n in counter.most_common() if n >= 2]
        rows[attr] = {symbol: row for row, symbol in enumerate(kept, start=1)}
    folder = tmp_path_factory.mktemp("tables")
    srsly.write_msgpack(folder / "train.tables", rows)
    srsly.write_msgpack(folder / "train.counts", counts)
    return folder / "train.tables"


@pytest.fixture(scope="session")
def paths(tiny_corpus, tables, vectors) -> dict[str, str]:
    """What stands in [paths]."""
    corpora = {name: tiny_corpus / f"{name}.spacy" for name in ("train", "dev")}
    paths = {**corpora, "tables": tables, "vectors": vectors}
    return {name: str(path) for name, path in paths.items()}


def write_config(path: Path, change: Config, paths: dict[str, str]) -> Path:
    """Write a config of the project, but for size: with what the page changes."""
    config = load_config(CONFIGS / "multi_embed.cfg", interpolate=False)
    config["paths"] = paths
    tok2vec = config["components"]["tok2vec"]["model"]
    tok2vec["embed"] = change["components"]["tok2vec"]["model"]["embed"]
    tok2vec["encode"] |= {"width": 16, "depth": 1}
    tok2vec["encode"]["@architectures"] = "spacy.MaxoutWindowEncoder.v2"
    config["nlp"]["after_pipeline_creation"] = None
    config["training"] |= {"max_steps": 4, "eval_frequency": 2}
    config["initialize"]["before_init"] = change["initialize"].get("before_init")
    config.to_disk(path)
    return path


def read_features(nlp: Language, corpus: Path) -> NDArray:
    docs = read_docs(corpus / "test.spacy", nlp.vocab)
    return numpy.vstack(nlp.get_pipe("tok2vec").model.predict(docs))


@pytest.fixture(scope="session", params=NAMES)
def saved(request, paths, tiny_corpus, tmp_path_factory) -> tuple[str, Path, NDArray]:
    """A pipeline by the project's config and code, saved, and what it predicts."""
    folder = tmp_path_factory.mktemp("saved")
    before, _ = read_changes(request.param)
    config = write_config(folder / "config.cfg", before, paths)
    with pytest.MonkeyPatch.context() as monkeypatch:
        forget_later(monkeypatch)
        import_file("report_project", PROJECT)
        nlp = init_nlp(load_config(config, interpolate=True))
    nlp.to_disk(folder / "nlp")
    return request.param, folder / "nlp", read_features(nlp, tiny_corpus)
