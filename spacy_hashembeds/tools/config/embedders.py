"""Find embedders in a config, and replace them by ours."""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import get_lang_class, registry, set_dot_to_object, walk_dict
from thinc.api import Config

from ...acceleration.conversion import ENCODER_ARGUMENTS, write_out_cnn
from ...architectures.descriptions import EmbedderDescription, find_description
from ...architectures.distinct_words import TEXT_ATTRIBUTES
from ...arguments import check_attributes, is_feature
from ...loading import find_architectures
from ...training.annotation import find_settable
from ...training.docbin import read_examples
from ..analyze.advice import BOUND, DEGENERATE_SEED, SOUND_SEED, advise, get_usual_rows
from ..analyze.corpus import Vocabulary, collect_vocabulary
from ..analyze.stored import FeatureCounter
from .edits import Edits

#: Embedders of spaCy that are replaced.
REPLACED = ("spacy.MultiHashEmbed", "spacy.HashEmbedCNN", "spacy.CharacterEmbed")
_EMBEDDER = re.compile(r"spacy(-legacy)?\.(MultiHashEmbed|CharacterEmbed)\.v[12]")
_CNN = re.compile(r"spacy(-legacy)?\.HashEmbedCNN\.v[12]")

EXPLAIN_DEFAULT = "Default. With --train, it is chosen for the training corpus."
EXPLAIN_SMALL = "Default, as the training corpus is too small to choose a value."
_RAISED = (
    "Raised. With fewer rows, all rows of a value would collide for more than "
    f"{100 * BOUND:g}% of an attribute's values."
)
_SEED = "With spaCy's seed, 8, hash 1 uses only half of the first table."

# Annotation to learn, for components that train without any and report no error.
_LEARNED = {"ner": "entities", "beam_ner": "entities", "parser": "dependencies"}

#: Function that yields its docs, and may show progress.
Progress = Callable[[Iterator[Doc]], Iterable[Doc]]


@dataclass
class Embedder:
    """An embedder in a config, and its replacement."""

    place: str
    plain: dict[str, Any]  #: Its original block, without variables.
    tables: dict[str, int]  #: Rows by attribute, for attributes supported by `new`.
    new: EmbedderDescription
    is_ours: bool  #: True if the original embedder is `new`.
    is_pretrained: bool  #: True if training starts from its weights, so it is kept.
    settable: Collection[str]  #: Features, and attributes set by earlier components.
    block: dict[str, Any]  #: Its current block, with variables only for blocks.
    min_freq: int = 0  #: Lowest that needs no more rows than now, at least 2. 0: unset.


class TrainingCorpus(NamedTuple):
    """Properties of a training corpus."""

    vocabulary: Vocabulary
    n_docs: int  #: Docs of two or more tokens. For others spaCy infers boundaries.
    n_whole: int  #: Docs without sentence boundaries.
    stored: dict[str, Any]  #: Stored features: see `FeatureCounter`.


def _check_block(place: str, block: Any) -> None:
    """Check that a block's model can be built."""
    try:
        with warnings.catch_warnings(action="ignore"):  # deprecation
            registry.resolve({"model": block})
    except (ValueError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:500]
        raise ValueError(
            f"[{place}] should name a model that can be built: {reason}"
        ) from error


def find_blocks(edits: Edits) -> dict[str, dict[str, Any]]:
    """Find resolved architectures by place, except in sourced or frozen components."""
    return {
        place: block
        for place, block in find_architectures(edits.plain).items()
        if place.split(".")[1] not in edits.kept and isinstance(edits.get(place), dict)
    }


def write_out_models(edits: Edits) -> None:
    """Write out blocks of embedders that are spaCy's defaults or part of a CNN."""
    Language()  # loads the factories of other packages
    language = get_lang_class(edits.resolve("nlp.lang"))
    for name in edits.config["components"].keys() - edits.kept:
        factory = edits.resolve(f"components.{name}.factory")
        if not language.has_factory(factory):
            continue
        given = edits.get(f"components.{name}.model") or {}
        default = language.get_factory_meta(factory).default_config or {}
        model = Config({"m": default.get("model")}).merge({"m": given})["m"]
        if "Embed" in str(model) and "Embed" not in str(given):
            edits.set_block(f"components.{name}.model", model, {})
    edits.refresh()
    for place, block in find_blocks(edits).items():
        if not _CNN.fullmatch(name := block["@architectures"]):
            continue
        _check_block(place, block)
        for keys, value in [*walk_dict(edits.config)]:  # update references to arguments
            if found := re.search(rf"\$\{{{re.escape(place)}[.:](\w+)\}}", str(value)):
                at, new = ".".join(keys), f"${{{place}.encode.{found[1]}}}"
                is_kept = found[0] == value and found[1] in ENCODER_ARGUMENTS
                new = new if is_kept else edits.resolve(at)
                set_dot_to_object(edits.config, at, new)
        tok2vec = write_out_cnn(edits.get(place), block)
        tok2vec["embed"]["width"] = f"${{{place}.encode.width}}"
        why = f"In place of {name}: separate embedder and encoder."
        edits.set_block(place, tok2vec, {"@architectures": why})
    edits.refresh()


def read_embedders(
    edits: Edits, new: EmbedderDescription, features: Sequence[str]
) -> list[Embedder]:
    """Read the embedders to replace or to add features to."""
    return [
        _read_embedder(edits, place, block, new, features)
        for place, block in find_blocks(edits).items()
        for name in [block["@architectures"]]
        if _EMBEDDER.fullmatch(name) or find_description(name)
    ]


def _read_embedder(
    edits: Edits,
    place: str,
    block: dict[str, Any],
    new: EmbedderDescription,
    features: Sequence[str],
) -> Embedder:
    _check_block(place, block)
    name, component = block["@architectures"], place.split(".")[1]
    attrs, rows = block.get("attrs", []), block.get("rows", [])
    if "nC" in block:  # CharacterEmbed
        given = [block.get("feature", "LOWER"), "PREFIX", "SUFFIX", "SHAPE"]
        attrs, rows = [*dict.fromkeys(given)], [rows]
    attrs = check_attributes(attrs, with_features=True)
    plain = {**block, "attrs": attrs}
    added = [attr for attr in features if attr not in attrs]
    attrs = [*attrs, *added]
    settable = {*find_settable(edits.resolve("nlp.pipeline"), component)}
    settable |= {*filter(is_feature, attrs)}
    rows = [*rows, *map(get_usual_rows, attrs[len(rows) :])]
    kept = [attr for attr in attrs if attr in TEXT_ATTRIBUTES or not new.is_of_text]
    tables = {attr: rows[attrs.index(attr)] for attr in kept}
    lost = [attr for attr in attrs if attr not in kept and attr in settable]
    if lost or not kept:
        raise ValueError(
            f"[{place}] embeds {', '.join(lost or attrs)}, but {new.architecture} "
            "supports only attributes of text. Use another --embedder, or change "
            "'attrs' or --feature."
        )
    weights = edits.resolve("initialize.init_tok2vec")
    is_ours, trained = new.is_named(name), edits.resolve("pretraining.component")
    is_pretrained = bool(weights) and trained in (None, component)  # None: any
    reason = f"[initialize] init_tok2vec names weights of {name}, {weights!r:.300}"
    if is_pretrained and (added or not is_ours):
        what = ", ".join([new.architecture, *added])
        raise ValueError(
            f"{what} can't be inserted into [{place}]: {reason}. Set init_tok2vec to "
            "null to train without pretrained weights, or pretrain new ones (--raw)."
        )
    if is_pretrained:
        edits.warnings.append(
            f"[{place}] keeps its settings: {reason}. To change them, set it to null."
        )
    return Embedder(
        place, plain, tables, new, is_ours, is_pretrained, settable, block=plain
    )


def read_corpus(
    edits: Edits, path: str | Path, existing: Sequence[Embedder], progress: Progress
) -> TrainingCorpus:
    """Read a training corpus, and warn about components that can't learn from it."""
    n: Counter[str] = Counter()
    embedded = dict.fromkeys(attr for old in existing for attr in old.tables)
    counter = FeatureCounter([*filter(is_feature, embedded)])

    def read() -> Iterator[Doc]:
        for example in read_examples(path, edits.make_tokenizer()):
            doc = example.reference
            n.update(docs=len(doc) > 1, whole=not doc.has_annotation("SENT_START"))
            n.update(entities=len(doc.ents), dependencies=doc.has_annotation("DEP"))
            yield counter.add(example)

    vocabulary = collect_vocabulary(progress(read()), [*embedded])
    if not len(vocabulary.words):
        raise ValueError(f"The corpus '{path}' has no token.")
    for factory, what in _LEARNED.items():
        for name in edits.running.intersection(edits.find_components(factory)):
            if not n[what]:
                message = f"'{path}' has no {what} to train '{name}'"
                edits.warnings.append(f"{message}. Remove it from [nlp] pipeline.")
    return TrainingCorpus(vocabulary, n["docs"], n["whole"], counter.describe())


def insert_embedders(
    edits: Edits, existing: Sequence[Embedder], corpus: TrainingCorpus | None
) -> list[str]:
    """Insert embedders, and return the places of those without pretrained weights."""
    free = [old for old in existing if not old.is_pretrained]
    stored = corpus.stored if corpus else {}
    for old in free:
        for attr in old.tables.keys() & stored:
            old.tables[attr] = min(old.tables[attr], stored[attr]["rows"])
        _insert_embedder(edits, old, corpus and corpus.vocabulary)
    return [old.place for old in free]


def _insert_embedder(
    edits: Edits, old: Embedder, vocabulary: Vocabulary | None
) -> None:
    plain, new, given = old.plain, old.new, edits.get(old.place)
    known = signature(registry.architectures.get(new.architecture)).parameters
    attrs, sizes = _advise(old, vocabulary) if vocabulary else ([*old.tables], None)
    why = {"@architectures": f"In place of {plain['@architectures']}: {new.purpose}"}
    settings = {**plain, "@architectures": new.architecture}
    added = {a: rows for a, rows in old.tables.items() if a not in plain["attrs"]}
    why["attrs"] = f"Adds {', '.join(added)}. " * bool(added)
    if old.is_ours:
        settings["attrs"] = [*plain["attrs"], *added]
        given_rows = [key for key in ("rows", "importance_rows") if plain.get(key)]
        settings |= {key: [*plain[key], *added.values()] for key in given_rows}
    else:
        settings |= {"attrs": attrs, "rows": [old.tables[attr] for attr in attrs]}
        if without := [attr for attr in plain["attrs"] if attr not in attrs]:
            why["attrs"] += f"Without {', '.join(without)}: unsupported or redundant."
        settings["num_hashes"] = getattr(known.get("num_hashes"), "default", None)
        default = EXPLAIN_SMALL if vocabulary else EXPLAIN_DEFAULT
        why["num_hashes"] = new.why_hashes or default
        for name, (architecture, why[name]) in new.blocks.items():
            # as variables, so that one edit changes all
            same = dict.fromkeys(attrs[1:], f"${{{old.place}.{name}.{attrs[0]}}}")
            settings[name] = {attrs[0]: {"@architectures": architecture}, **same}
        if settings.get("maxout_pieces", 0) is None:
            del settings["maxout_pieces"]  # the old embedder has no mixing layer
    if sizes:
        least = dict(zip(attrs, sizes["rows"], strict=True))
        pairs = zip(settings["attrs"], settings["rows"], strict=True)
        rows = [max(n, least.get(attr, 0)) for attr, n in pairs]
        why["rows"] = _RAISED * (rows != settings["rows"])
        why["num_hashes"] = "Advised for the training corpus."
        settings |= {"rows": rows, "num_hashes": sizes["num_hashes"]}
    seed = settings.get("seed", DEGENERATE_SEED)
    if seed == DEGENERATE_SEED and (sizes or not old.is_ours):
        settings["seed"], why["seed"] = SOUND_SEED, _SEED
    # keep variables and attribute IDs where the value is equal
    keys = ("@architectures", *known)
    old.block = {key: value for key, value in settings.items() if key in keys}
    block = {
        key: given[key] if key in given and value == plain[key] else value
        for key, value in old.block.items()
    }
    edits.set_block(old.place, block, why)


def _advise(
    old: Embedder, vocabulary: Vocabulary
) -> tuple[Sequence[str], Mapping[str, Any] | None]:
    """Advise on attributes, and on hashes and rows, or set `min_freq`."""
    table = {"kind": "hash", "num_hashes": 1, "width": old.plain["width"]}
    tables = [{"attr": attr, "rows": n, **table} for attr, n in old.tables.items()]
    current = {"component": old.place, "tables": tables}
    advice = advise(vocabulary, current, settable=old.settable)
    is_hashed = old.new.increases_rows
    if advice["lookup"] and not is_hashed:
        old.min_freq = advice["lookup"]["min_freq"]
    return advice["attrs"] or [*old.tables], advice["hashing"] if is_hashed else None
