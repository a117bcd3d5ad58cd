"""Fixtures shared by all tests."""

import importlib.util
import multiprocessing
import os
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest
import spacy
from catalogue import Registry
from hypothesis import settings
from spacy.lang.en import English
from spacy.lang.en.tokenizer_exceptions import TOKENIZER_EXCEPTIONS
from spacy.lang.tokenizer_exceptions import BASE_EXCEPTIONS
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import load_config
from spacy.vocab import Vocab

from spacy_hashembeds.acceleration.timing import measure_speeds
from spacy_hashembeds.kernels import compiled
from tests.configs import CONFIGS

from .kernels.paths import KERNELS
from .left_out import NO_CORPORA
from .toy_embedders import make_docs, make_vocab
from .toy_ner import make_doc

# The same examples in every run, to repeat failures.
settings.register_profile("repeatable", derandomize=True, deadline=None)
# More examples, different in each run, for `make fuzz`.
settings.register_profile("weekly", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile("repeatable")

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session", autouse=True)
def quick() -> None:
    """Speed up tests, and restore signal handlers."""
    # no test needs the median of several rounds
    measure_speeds.__kwdefaults__["rounds"] = 1
    # cache entry points: pipelines load in 2/3 of the time
    Registry._get_entry_points = cache(Registry._get_entry_points)
    # without contractions, English pipelines are made in a fifth of the time
    English.Defaults.tokenizer_exceptions = BASE_EXCEPTIONS
    # the parent process, such as `nohup`, may ignore signals
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@contextmanager
def with_contractions() -> Iterator[None]:
    """Restore the tokenizer exceptions of English."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(English.Defaults, "tokenizer_exceptions", TOKENIZER_EXCEPTIONS)
        yield


@pytest.fixture
def contractions() -> Iterator[None]:
    """Restore the tokenizer exceptions of English, for tests of tokens."""
    with with_contractions():
        yield


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The real corpora: `SPACY_HASHEMBEDS_DATA`, or a folder beside the checkout."""
    path = Path(os.environ.get("SPACY_HASHEMBEDS_DATA", ROOT.parent / "shared/data"))
    if not path.is_dir():
        pytest.skip(NO_CORPORA)
    return path


@pytest.fixture(scope="session")
def tiny_corpus(tmp_path_factory) -> Path:
    """A folder with train.spacy, dev.spacy and test.spacy, a part of the lab's demo."""
    folder = tmp_path_factory.mktemp("tiny")
    vocab = Vocab()
    for path in (ROOT / "tests" / "tiny_corpus").iterdir():
        lines = path.read_text(encoding="utf8").splitlines()
        docs = [make_doc(line, spaces=False, vocab=vocab) for line in lines]
        for token in chain.from_iterable(docs):
            token.is_sent_start = token.i == 0  # each line is a sentence
        DocBin(docs=docs).to_disk(folder / f"{path.stem}.spacy")
    return folder


@pytest.fixture
def start_method() -> Iterator[Callable[[str], None]]:
    """A function that sets the start method of processes."""
    before = multiprocessing.get_start_method()
    yield partial(multiprocessing.set_start_method, force=True)
    multiprocessing.set_start_method(before, force=True)


@pytest.fixture
def forked(start_method) -> None:
    """Fork processes, which is no longer the default on all platforms."""
    start_method("fork")


@pytest.fixture(scope="module")
def vocab() -> Vocab:
    return make_vocab()


@pytest.fixture
def docs(vocab) -> list[Doc]:
    return make_docs(vocab)


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("en")


@pytest.fixture
def full_device(tmp_path_factory) -> Path:
    """A device without space. For root, errors could replace /dev/full itself."""
    if os.geteuid() != 0:
        return Path("/dev/full")
    path = tmp_path_factory.mktemp("devices") / "full"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
    except PermissionError:
        pytest.skip("root may not make devices here")
    return path


def load_script(path: Path) -> ModuleType:
    """Load a script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_configs(component: str) -> list[Path]:
    """Find our configs of pipelines with a component that need no PyTorch or lab."""
    return [
        path
        for path in sorted(CONFIGS.glob("*.cfg"))
        if component in load_config(path, interpolate=False)["nlp"]["pipeline"]
        and path not in TORCH_CONFIGS + GLUE_CONFIGS
    ]


#: Configs with LSTMs.
TORCH_CONFIGS = sorted(CONFIGS.glob("bilstm_*.cfg"))

#: Configs with a Transformer, scored by `lab/glue.py`.
GLUE_CONFIGS = sorted(CONFIGS.glob("glue_*.cfg"))


@pytest.fixture
def instructions(monkeypatch) -> Iterator[None]:
    """Enable all precisions, by slow emulation if the processor lacks instructions."""
    if KERNELS is None:
        pytest.skip("there are no compiled kernels here")
    found = [(name, of, True) for name, of, _ in KERNELS.INSTRUCTION_SETS]
    monkeypatch.setattr(KERNELS, "INSTRUCTION_SETS", found)
    with compiled.using(KERNELS):
        yield


@pytest.fixture
def no_instructions(monkeypatch) -> None:
    """Simulate a processor without instructions for lower precisions."""
    if KERNELS is not None:
        monkeypatch.setattr(KERNELS, "INSTRUCTION_SETS", [])
