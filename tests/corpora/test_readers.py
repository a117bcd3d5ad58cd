from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Corpus, Example
from spacy.training.converters import conll_ner_to_docs
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import registry
from thinc.api import Config

from lab.corpora.datasets import prepare_files
from spacy_hashembeds.corpora.readers import (
    create_anem_reader,
    create_archaeology_reader,
    create_conll2002_reader,
    create_iob_reader,
    create_wnut17_reader,
)

NAMES = ("WNUT17", "CoNLL2002", "AnEM", "Archaeology", "OntoNotes", "IOB")

TEXT = "Zoë B-PER\nslept O\nin O\nNew B-LOC\nYork I-LOC\n\nYes O\n"


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("en")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.iob"
    path.write_text(TEXT, encoding="utf-8")
    return path


def read_ents(example: Example) -> list[tuple[str, str]]:
    return [(ent.text, ent.label_) for ent in example.reference.ents]


def test_examples_have_gold_tokens_and_nothing_predicted(file: Path, nlp: Language):
    first, second = create_iob_reader(path=file)(nlp)
    assert read_ents(first) == [("Zoë", "PER"), ("New York", "LOC")]
    assert read_ents(second) == []
    assert first.reference.has_unknown_spaces
    assert [t.text for t in first.predicted] == ["Zoë", "slept", "in", "New", "York"]
    assert first.predicted.vocab is nlp.vocab
    assert not first.predicted.ents
    assert not first.predicted.has_annotation("SENT_START")
    # Tokens outside of entities are known to be so, also where there is no entity.
    assert [t.ent_iob_ for t in first.reference] == ["B", "O", "O", "B", "I"]
    assert [t.ent_iob_ for t in second.reference] == ["O"]


def test_examples_are_those_of_the_prepared_corpus(file: Path, nlp: Language):
    paths = prepare_files(train=file, dev=file, lang="en", output=file.parent / "out")
    expected = list(Corpus(paths["train"])(nlp))
    found = list(create_iob_reader(path=file)(nlp))
    assert [eg.to_dict() for eg in found] == [eg.to_dict() for eg in expected]
    assert [eg.predicted.text for eg in found] == [eg.predicted.text for eg in expected]


def test_a_document_keeps_where_its_sentences_begin(tmp_path: Path, nlp: Language):
    path = tmp_path / "ned.train"
    path.write_text(
        "-DOCSTART- -DOCSTART- O\nDe Art O\nRode Adj B-ORG\n\nZee N I-ORG\nin Prep O\n"
        "-DOCSTART- -DOCSTART- O\nRome N B-LOC\n"
    )
    first, second = create_conll2002_reader(path=path, group="document")(nlp)
    assert [sent.text.split() for sent in first.reference.sents] == [
        ["De", "Rode"],
        ["Zee", "in"],
    ]
    assert read_ents(first) == [("Rode", "ORG"), ("Zee", "ORG")]
    assert read_ents(second) == [("Rome", "LOC")]


def test_a_limit_ends_the_reading_before_an_error(file: Path, nlp: Language):
    file.write_text(TEXT + "\nno-tag\n", encoding="utf-8")
    assert len(list(create_iob_reader(path=file, limit=2)(nlp))) == 2
    with pytest.raises(ValueError, match=r"corpus\.iob:9: "):
        list(create_iob_reader(path=file, limit=3)(nlp))


def test_a_reader_can_be_read_again(file: Path, nlp: Language):
    reader = create_iob_reader(path=file)
    assert [len(list(reader(nlp))) for _ in range(2)] == [2, 2]


def test_own_columns(tmp_path: Path, nlp: Language):
    path = tmp_path / "own.tsv"
    text = "-DOCSTART-\n# a = b\nS-PER\tZoë Ann\n\nO\tslept\n"
    path.write_bytes(text.encode("latin-1"))
    reader = create_iob_reader(
        path=path,
        separator="\t",
        word_column=1,
        tag_column=0,
        encoding="latin-1",
        group="document",
    )
    (example,) = reader(nlp)
    assert read_ents(example) == [("Zoë Ann", "PER")]
    assert len(example.reference) == 2


@pytest.mark.parametrize("name", NAMES)
def test_readers_check_their_path_when_made(name: str, tmp_path: Path):
    create = registry.readers.get(f"spacy-hashembeds.{name}Corpus.v1")
    with pytest.raises(ValueError, match=r"'path' should .* is None.*\.cfg"):
        create(path=None)
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*gone"):
        create(path=tmp_path / "gone")


def test_a_folder_is_no_file(tmp_path: Path):
    with pytest.raises(
        ValueError, match=r"'path' should be a file, but .* is a folder"
    ):
        create_wnut17_reader(path=tmp_path)


def test_a_group_that_cannot_be(file: Path):
    with pytest.raises(ValueError, match="'group' should be one of"):
        create_conll2002_reader(path=file, group="page")


CONFIG = """
[paths]
train = null

[corpora]

[corpora.train]
@readers = "spacy-hashembeds.IOBCorpus.v1"
path = ${paths.train}

[corpora.dev]
@readers = "spacy-hashembeds.IOBCorpus.v1"
path = ${paths.train}
limit = 1

[nlp]
lang = "en"
pipeline = ["ner"]

[components]

[components.ner]
factory = "ner"

[components.ner.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "ner"
extra_state_tokens = false
hidden_width = 16
maxout_pieces = 2
use_upper = true

[components.ner.model.tok2vec]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 16
depth = 1
embed_size = 100
window_size = 1
maxout_pieces = 2
subword_features = true

[training]
max_steps = 40
eval_frequency = 20
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"

[training.optimizer]
@optimizers = "Adam.v1"
learn_rate = 0.02

[training.logger]
@loggers = "spacy.ConsoleLogger.v3"
console_output = false

[training.score_weights]
ents_f = 1.0
"""


def test_a_pipeline_trains_from_the_file_itself(file: Path):
    overrides = {"paths.train": str(file)}
    config = Config().from_str(CONFIG, overrides=overrides)
    default = Language.default_config.merge(config)
    nlp = init_nlp(default)
    assert set(nlp.get_pipe("ner").labels) == {"LOC", "PER"}
    nlp, _ = train(nlp)
    doc = nlp("Zoë slept in New York")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("Zoë", "PER"),
        ("New York", "LOC"),
    ]


@pytest.mark.parametrize(
    ("create", "name"),
    [
        (create_wnut17_reader, "wnut17/emerging.dev.conll"),
        (create_conll2002_reader, "conll2002/esp.testb"),
        (create_anem_reader, "anem/AnEM.test"),
        (create_archaeology_reader, "archaeo/1.bio"),
    ],
)
def test_real_files_are_read_as_spacy_converts_them(
    create, name: str, data_dir: Path, nlp: Language
):
    text = (data_dir / name).read_text(encoding="utf-8")
    converted = conll_ner_to_docs(text, n_sents=1, no_print=True)
    expected = DocBin(attrs=["ENT_IOB", "ENT_TYPE", "SENT_START"], docs=converted)
    docs = (example.reference for example in create(path=data_dir / name)(nlp))
    found = DocBin(attrs=["ENT_IOB", "ENT_TYPE", "SENT_START"], docs=docs)
    assert len(found) == len(expected)
    assert [a.tolist() for a in found.tokens] == [a.tolist() for a in expected.tokens]
