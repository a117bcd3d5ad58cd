"""A linear-chain conditional random field (CRF) of CRFsuite as a component and a trial.

Features are strings such as `0:suffix3=ing`: a place relative to the token, a property
of the token there, and its value.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from importlib import import_module
from importlib.metadata import version
from itertools import product
from math import ceil
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import spacy
import srsly
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import biluo_tags_to_spans, iob_to_biluo
from spacy.vocab import Vocab

from spacy_hashembeds.components.decoding import BIASES, choose_bias
from spacy_hashembeds.tools.evaluate.entities import EntityRun
from spacy_hashembeds.tools.evaluate.sources import predict_examples
from spacy_hashembeds.training.docbin import read_docs

from .trials.run_trial import measure_model, record_trial
from .trials.trial import Trial, get_overrides, identify_inputs

#: The name of the component.
NAME = "crf"

#: The files of the weights and of the bias, in the folder of the component.
_FILE, _CFG = "model.crfsuite", "cfg"

#: Maximum length of prefixes and suffixes.
AFFIXES = 4

#: The word before the first token and after the last.
EDGE = "<edge>"

#: Places of neighbors, relative to the token.
_PLACES = (-2, -1, 0, 1, 2)

#: Values of `c1` and `c2` to choose from.
PENALTIES = {"c1": (0.0, 0.05, 0.2), "c2": (0.01, 0.1)}

#: Maximum number of iterations of L-BFGS. Fewer iterations for choosing penalties would
#: favor `c1 = 0`, with which L-BFGS converges faster.
ITERATIONS = 100

#: Maximum number of training tokens for choosing penalties.
CHOICE_TOKENS = 65_000


def list_features(words: Sequence[str]) -> list[list[str]]:
    """List the features of each token of a text."""
    edges = [describe_word(EDGE)] * 2
    padded = [*edges, *map(describe_word, words), *edges]
    return [_list_token(padded[i : i + len(_PLACES)]) for i in range(len(words))]


@lru_cache(maxsize=2**17)
def describe_word(word: str) -> tuple[str, str, str, str, list[str]]:
    """Return a word in lower case, its shape, short shape, suffix, and own features.

    In shapes, X is upper case, x are other letters, and d digits. Short shapes have
    each run of equal characters once.
    """
    shape = "".join(
        ("X" if c.isupper() else "x") if c.isalpha() else "d" if c.isdigit() else c
        for c in word
    )
    short = re.sub(r"(.)\1+", r"\1", shape)
    own = ["bias", f"0:word={word}", f"0:shape={shape}", f"0:short={short}"]
    for n in range(1, min(AFFIXES, len(word)) + 1):
        own += [f"0:prefix{n}={word[:n]}", f"0:suffix{n}={word[-n:]}"]
    flags = {
        "digits": word.isdigit(),
        "has_digit": any(c.isdigit() for c in word),
        "title": word.istitle(),
        "upper": word.isupper(),
        "inner_upper": any(c.isupper() for c in word[1:]),
        "punctuation": not any(c.isalnum() for c in word),
        "hyphen": "-" in word,
    }
    own += [f"0:{flag}" for flag, is_set in flags.items() if is_set]
    return word.lower(), shape, short, word.lower()[-3:], own


def _list_token(window: Sequence[tuple]) -> list[str]:
    """List the features of the token in the middle of a window."""
    lower, shapes, shorts, suffixes, owns = zip(*window, strict=True)
    before, own, after = shorts[1:4]
    return [
        *owns[2],
        *(f"{place}:lower={lower[place + 2]}" for place in _PLACES),
        *(f"{place}:short={shorts[place + 2]}" for place in _PLACES if place),
        *(f"{place}:shape={shapes[place + 2]}" for place in (-1, 1)),
        *(f"{place}:suffix3={suffixes[place + 2]}" for place in (-1, 1)),
        # bigrams of neighboring words
        *(f"{i},{i + 1}:lower={'|'.join(lower[i + 2 : i + 4])}" for i in _PLACES[:-1]),
        # conjunctions of shapes, words and suffixes
        f"-1,0:short={before}|{own}",
        f"0,1:short={own}|{after}",
        f"-1..1:short={before}|{own}|{after}",
        f"-1:lower,0:short={lower[1]}|{own}",
        f"0:short,1:lower={own}|{lower[3]}",
        f"0:suffix3,short={suffixes[2]}|{own}",
    ]


class CRF:
    """A CRF trained by CRFsuite, which sets the entities of the most likely BIO tags.

    A nonzero `outside_bias` is subtracted from the log-probability of O, as in
    `token_ner`. Tags then have the largest product of marginal probabilities.
    """

    def __init__(self) -> None:
        self.outside_bias = 0.0
        self._weights = b""
        self._tagger: Any = None

    def __call__(self, doc: Doc) -> Doc:
        """Set the entities of a Doc."""
        features = list_features([token.text for token in doc])
        if self.outside_bias and features:
            self._tagger.set(features)
            labels = self._tagger.labels()
            marginal, places = self._tagger.marginal, range(len(features))
            scores = np.array([[marginal(x, i) for x in labels] for i in places])
            scores = np.log(np.maximum(scores, np.finfo("f").tiny))
            scores[:, labels.index("O")] -= self.outside_bias
            tags = decode(scores, labels)
        else:
            tags = self._tagger.tag(features)
        doc.ents = biluo_tags_to_spans(doc, iob_to_biluo(tags))
        return doc

    def load(self, weights: bytes) -> None:
        """Load the bytes of a file of CRFsuite."""
        describe_word.cache_clear()  # for equal conditions of timings
        self._weights, self._tagger = weights, import_module("pycrfsuite").Tagger()
        self._tagger.open_inmemory(weights)

    def count_weights(self) -> int:
        """Count the nonzero weights, of features by tag and of transitions."""
        info = self._tagger.info()
        return len(info.state_features) + len(info.transitions)

    def to_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the weights to a folder."""
        Path(path).mkdir(parents=True, exist_ok=True)
        Path(path, _FILE).write_bytes(self._weights)
        srsly.write_json(Path(path, _CFG), {"outside_bias": self.outside_bias})

    def from_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> "CRF":
        """Load the weights from a folder."""
        self.load(Path(path, _FILE).read_bytes())
        self.outside_bias = srsly.read_json(Path(path, _CFG))["outside_bias"]
        return self


def decode(scores: NDArray, labels: Sequence[str]) -> list[str]:
    """Find the legal BIO tags with the largest sum of scores.

    *Shape:* `(n, labels)`, with n > 0. I must follow B or I of its type.
    """
    is_legal = [
        [y[0] != "I" or (x[0] != "O" and x[2:] == y[2:]) for y in labels]
        for x in labels
    ]
    steps = np.where(is_legal, 0.0, -np.inf)
    best = np.where([y[0] == "I" for y in labels], -np.inf, scores[0])
    before = []
    for of_token in scores[1:]:
        reached = best[:, None] + steps
        before.append(reached.argmax(axis=0))
        best = reached.max(axis=0) + of_token
    tags = [int(best.argmax())]
    for places in reversed(before):
        tags.append(int(places[tags[-1]]))
    return [labels[tag] for tag in reversed(tags)]


@Language.factory(NAME, assigns=["doc.ents"])
def make_crf(nlp: Language, name: str) -> CRF:
    """Make an untrained CRF."""
    return CRF()


def make_pipeline(lang: str, weights: bytes) -> Language:
    """Make a pipeline of a tokenizer and a trained CRF."""
    nlp = spacy.blank(lang)
    crf: Any = nlp.add_pipe(NAME)
    crf.load(weights)
    return nlp


def make_trainer(docs: Iterable[Doc]) -> Any:
    """Make a trainer of CRFsuite. Docs with unannotated tokens are left out."""
    trainer = import_module("pycrfsuite").Trainer(algorithm="lbfgs", verbose=False)
    # give weights to transitions that training data lack
    trainer.set("feature.possible_transitions", True)
    for doc in docs:
        if len(doc) and all(token.ent_iob_ for token in doc):
            tags = [f"{t.ent_iob_}-{t.ent_type_}".removesuffix("-") for t in doc]
            trainer.append(list_features([token.text for token in doc]), tags)
    return trainer


def train(trainer: Any, path: Path, *, c1: float, c2: float, iterations: int) -> bytes:
    """Train a CRF with L1 and L2 penalties, and return its weights."""
    trainer.set_params({"c1": c1, "c2": c2, "max_iterations": iterations})
    trainer.train(str(path))
    return path.read_bytes()


def run_baseline(
    trial: Trial, *, force: bool = False, on_output: Callable[[str], None]
) -> tuple[dict[str, Any], bool]:
    """Train, evaluate and record a CRF by `record_trial`."""
    return record_trial(
        trial,
        partial(_identify, trial),
        partial(get_overrides, trial),  # raises an error without a language
        lambda lock: _train_and_measure(trial, on_output),
        force=force,
        on_output=on_output,
    )


def _identify(trial: Trial) -> dict[str, Any]:
    identity = identify_inputs(trial)
    identity["versions"]["python-crfsuite"] = version("python-crfsuite")
    settings = {"iterations": ITERATIONS, "choice_tokens": CHOICE_TOKENS}
    values = {**PENALTIES, "outside_bias": BIASES}
    lists = {name: list(of) for name, of in values.items()}
    return {**identity, "settings": {**settings, **lists}}


def _train_and_measure(
    trial: Trial, on_output: Callable[[str], None]
) -> dict[str, Any]:
    """Train a CRF and measure it. Seconds are processor time."""
    lang, file = get_overrides(trial)["nlp.lang"], trial.output / "model.crfsuite"
    paths = (trial.corpus[split] for split in ("train", "dev"))
    docs, dev = (list(read_docs(path, Vocab())) for path in paths)
    start = process_time()
    # every n-th Doc, to have at most `CHOICE_TOKENS`
    some = docs[:: ceil(sum(map(len, docs)) / CHOICE_TOKENS) or 1]
    trainer = make_trainer(some)
    tried = []
    for values in product(*PENALTIES.values()):
        penalties = dict(zip(PENALTIES, values, strict=True))
        weights = train(trainer, file, **penalties, iterations=ITERATIONS)
        f1 = measure_f1(make_pipeline(lang, weights), dev)
        tried.append({**penalties, "ents_f": f1})
        on_output(f"{describe_penalties(penalties)}: F1 {100 * f1:.1f} on dev")
    best = max(tried, key=lambda one: one["ents_f"])
    penalties = {name: best[name] for name in PENALTIES}
    chosen = process_time()
    weights = train(make_trainer(docs), file, **penalties, iterations=ITERATIONS)
    trained = process_time()
    file.unlink()
    nlp = make_pipeline(lang, weights)
    crf: Any = nlp.get_pipe(NAME)
    f_scores = []
    for crf.outside_bias in BIASES:
        f_scores.append(measure_f1(nlp, dev))
    crf.outside_bias = choose_bias(f_scores, sum(len(doc.ents) for doc in dev))
    on_output(f"Bias of O: {crf.outside_bias:g}")
    nlp.to_disk(trial.output / "model-best")
    timings = {"train_seconds": trained - chosen, "choice_seconds": chosen - start}
    metrics = measure_model(trial, timings)
    metrics["sizes"]["pipeline_parameters"] = crf.count_weights()
    chosen_too = {"penalties": penalties, "outside_bias": crf.outside_bias}
    return {**metrics, **chosen_too, "tried": tried}


def measure_f1(nlp: Language, docs: Sequence[Doc]) -> float:
    """Measure F1 of entities, which is 0 without entities."""
    return EntityRun(predict_examples(nlp, docs), None).scores["ents_f"] or 0.0


def describe_penalties(penalties: Mapping[str, float]) -> str:
    """Format penalties: c1 0.05, c2 0.1."""
    return ", ".join(f"{name} {value:g}" for name, value in penalties.items())
