"""Fixtures shared by all tests."""

import importlib.util
import multiprocessing
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings
from spacy.lang.en import English
from spacy.lang.en.tokenizer_exceptions import TOKENIZER_EXCEPTIONS
from spacy.lang.tokenizer_exceptions import BASE_EXCEPTIONS
from spacy.tokens import Doc, DocBin
from spacy.training import biluo_tags_to_spans, iob_to_biluo
from spacy.util import load_config
from spacy.vocab import Vocab

from lab.corpora.datasets import prepare_dataset
from lab.corpora.demo import make_demo_corpus
from lab.trials.run_trial import run_trial
from lab.trials.trial import Trial
from spacy_hashembeds.acceleration.timing import measure_speeds
from spacy_hashembeds.kernels import compiled
from tests.configs import CONFIGS

from .kernels.paths import KERNELS
from .left_out import NO_CORPORA

# The same examples in every run: a failure can be repeated, and floats don't surprise.
settings.register_profile("repeatable", derandomize=True, deadline=None)
# More of them, and others each time: what `make fuzz` takes.
settings.register_profile("weekly", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile("repeatable")

ROOT = Path(__file__).parent.parent

# A trial that takes seconds, yet finds some of the entities.
SMALL_TRIAL: dict[str, Any] = {
    "components.tok2vec.model.encode.width": 32,
    "components.tok2vec.model.encode.depth": 1,
    "components.tok2vec.model.embed.rows": [500, 100, 200, 50],
    "training.max_steps": 40,
    "training.eval_frequency": 20,
    "training.optimizer.learn_rate": 0.01,
}


@pytest.fixture(scope="session", autouse=True)
def one_round() -> None:
    """Time pipelines once: more rounds steady a median, which no test looks at."""
    measure_speeds.__kwdefaults__["rounds"] = 1


@pytest.fixture(scope="session", autouse=True)
def no_contractions() -> None:
    """Have English without contractions: a pipeline is made in a fifth of the time."""
    English.Defaults.tokenizer_exceptions = BASE_EXCEPTIONS


@contextmanager
def with_contractions() -> Iterator[None]:
    """Have English as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(English.Defaults, "tokenizer_exceptions", TOKENIZER_EXCEPTIONS)
        yield


@pytest.fixture
def contractions() -> Iterator[None]:
    """Have English as it is, for tests of tokens."""
    with with_contractions():
        yield


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The real corpora: `SPACY_HASHEMBEDS_DATA`, else a folder beside the checkout."""
    path = Path(os.environ.get("SPACY_HASHEMBEDS_DATA", ROOT.parent / "shared/data"))
    if not path.is_dir():
        pytest.skip(NO_CORPORA)
    return path


@pytest.fixture(scope="session")
def prepare_real(data_dir, tmp_path_factory) -> Callable[[str], Path]:
    """Prepare a real corpus, once for all tests, and give its folder, to read only."""

    @cache
    def prepare(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        with with_contractions():
            prepare_dataset(name, data_dir, folder)
        return folder

    return prepare


@pytest.fixture(scope="session")
def tiny_corpus(tmp_path_factory) -> Path:
    """A folder with train.spacy, dev.spacy and test.spacy, cut from the demo corpus."""
    folder = tmp_path_factory.mktemp("tiny")
    sizes = {"train": 80, "dev": 20, "test": 40}
    vocab = Vocab()
    for split, sentences in make_demo_corpus().items():
        docs = []
        for words, tags in islice(sentences, sizes[split]):
            doc = Doc(vocab, words=words)
            doc.ents = biluo_tags_to_spans(doc, iob_to_biluo(tags))
            docs.append(doc)
        DocBin(docs=docs).to_disk(folder / f"{split}.spacy")
    return folder


@pytest.fixture(scope="session")
def trained_root(tiny_corpus, tmp_path_factory) -> Path:
    """A project in which one small trial was run, to read only."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(CONFIGS, root / "configs")
    shutil.copytree(tiny_corpus, root / "corpus" / "demo")
    run_trial(make_trial(root))
    return root


@pytest.fixture
def project(trained_root, tmp_path) -> Path:
    """A copy of that project, to change."""
    return shutil.copytree(trained_root, tmp_path / "project")


@pytest.fixture
def forked() -> Iterator[None]:
    """Have processes forked, which no longer is the default everywhere."""
    before = multiprocessing.get_start_method()
    multiprocessing.set_start_method("fork", force=True)
    yield
    multiprocessing.set_start_method(before, force=True)


@pytest.fixture
def full_device(tmp_path_factory) -> Path:
    """A device without space; for root not /dev/full, which a slip would replace."""
    if os.geteuid() != 0:
        return Path("/dev/full")
    path = tmp_path_factory.mktemp("devices") / "full"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
    except PermissionError:
        pytest.skip("root may not make devices here")
    return path


def load_script(path: Path) -> ModuleType:
    """Load a script that is in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_configs(component: str) -> list[Path]:
    """Find the configs that come with us whose pipelines have a component.

    Those that need PyTorch, or are of GLUE, are not among them.
    """
    return [
        path
        for path in sorted(CONFIGS.glob("*.cfg"))
        if component in load_config(path, interpolate=False)["nlp"]["pipeline"]
        and path not in TORCH_CONFIGS + GLUE_CONFIGS
    ]


#: Those with LSTMs.
TORCH_CONFIGS = sorted(CONFIGS.glob("bilstm_*.cfg"))

#: Those with a Transformer, scored by GLUE's metrics: see test_glue_pipelines.py.
GLUE_CONFIGS = sorted(CONFIGS.glob("glue_*.cfg"))


def make_trial(root: Path, **settings: Any) -> Trial:
    """The trial that was run in a project, or one that differs from it."""
    return Trial(
        **{
            "dataset": "demo",
            "embedder": "multi_fewer_hash_embed",
            "overrides": SMALL_TRIAL,
            "root": root,
            **settings,
        }
    )


@pytest.fixture
def instructions(monkeypatch) -> Iterator[None]:
    """Have instructions for all precisions: slow ones where the processor has none."""
    if KERNELS is None:
        pytest.skip("there are no compiled kernels here")
    found = [(name, of, True) for name, of, _ in KERNELS.INSTRUCTION_SETS]
    monkeypatch.setattr(KERNELS, "INSTRUCTION_SETS", found)
    with compiled.using(KERNELS):
        yield


@pytest.fixture
def no_instructions(monkeypatch) -> None:
    """Have a processor that has instructions for no precision."""
    if KERNELS is not None:
        monkeypatch.setattr(KERNELS, "INSTRUCTION_SETS", [])
