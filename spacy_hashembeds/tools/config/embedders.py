"""Embedders and encoders in a config, and ours in their place."""

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.util import get_lang_class, registry, set_dot_to_object, walk_dict
from thinc.api import Config

from ...acceleration.conversion import OF_ENCODER, write_out_cnn
from ...architectures.descriptions import EmbedderDescription, find_description
from ...architectures.distinct_words import TEXT_ATTRIBUTES
from ...architectures.multi_fewer_hash_embed import DESCRIPTION as HASHED
from ...arguments import check_attributes
from ...hashing.murmur import MAX_HASHES
from ...loading import find_architectures
from ...training.annotation import find_settable
from ..analyze.advice import BOUND, FEWEST_WORDS, format_bound, get_usual_rows
from ..analyze.codes import DEGENERATE_SEED, SOUND_SEED
from ..analyze.options import MIN_FREQS, find_hash_options, measure_attributes
from .corpus import Corpus
from .edits import Edits
from .presets import ENCODER

#: spaCy's that ours can take the place of.
REPLACED = ("spacy.MultiHashEmbed", "spacy.HashEmbedCNN", "spacy.CharacterEmbed")
_EMBEDDER = re.compile(r"spacy(-legacy)?\.(MultiHashEmbed|CharacterEmbed)\.v[12]")
_CNN = re.compile(r"spacy(-legacy)?\.HashEmbedCNN\.v[12]")

EXPLAIN_DEFAULT = "The default: --train would have it chosen by the training corpus."
EXPLAIN_SMALL = "The default: the training corpus is too small to choose by."
_PRETRAINED = "spaCy's: the weights of [initialize] init_tok2vec were trained with it."
_RAISED = (
    f"Raised: in fewer rows, more than {format_bound(BOUND)} of an attribute's values "
    "would share all of them."
)
_SEED = "With spaCy's seed, 8, hash 1 reaches half of the first table: docs/analyze.md."


@dataclass(frozen=True)
class Embedder:
    """An embedder that stands in a config, and the one to put in its place."""

    place: str
    plain: dict[str, Any]  #: Its block without variables, with names of `attrs`.
    rows: list[int]  #: Of these, or spaCy's.
    new: EmbedderDescription
    is_pretrained: bool  #: True if training starts from weights for these tables.
    settable: Collection[str]  #: Attributes that a component ahead may set.

    @property
    def tables(self) -> list[tuple[str, int]]:
        """Attributes that it can have, each with its rows."""
        pairs = [*zip(self.plain["attrs"], self.rows, strict=True)]
        if not self.new.is_of_text:
            return pairs
        first: dict[str, int] = {}
        for attr, n in pairs:
            if attr in TEXT_ATTRIBUTES:
                first.setdefault(attr, n)
        return [*first.items()]


class Advice(NamedTuple):
    """Settings of an embedder that a corpus advises."""

    attrs: list[str]  #: Those that say something.
    hashes: int = 0  #: Those that need the least memory; 0: no advice.
    least: Mapping[str, int] = {}  #: Rows for these.
    min_freq: int = 0  #: The lowest from 2 with no more rows than there are.


def check_block(place: str, block: Any) -> None:
    """Check that the model of a block without variables can be built."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of what is replaced
            registry.resolve({"model": block})
    except (ValueError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:500]
        raise ValueError(
            f"[{place}] should name a model that can be built: {reason}"
        ) from error


def _find_blocks(edits: Edits) -> dict[str, dict[str, Any]]:
    """Find the models in components that may change, without variables, by place."""
    return {
        place: block
        for place, block in find_architectures(edits.plain).items()
        if place.split(".")[1] not in edits.left and isinstance(edits.get(place), dict)
    }


def _is_embedder(name: str) -> bool:
    return bool(_EMBEDDER.fullmatch(name)) or find_description(name) is not None


def write_out_models(edits: Edits) -> None:
    """Write out embedders that the config leaves to spaCy's defaults, or to a CNN."""
    Language()  # the first pipeline of a process finds the factories of packages
    language = get_lang_class(edits.resolve("nlp.lang"))
    for name in edits.config["components"].keys() - edits.left:
        factory = edits.resolve(f"components.{name}.factory")
        given = edits.get(f"components.{name}.model") or {}
        if not (isinstance(given, dict) and factory and language.has_factory(factory)):
            continue
        default = language.get_factory_meta(factory).default_config or {}
        filled = Config({"model": default.get("model")}).merge({"model": given})[
            "model"
        ]
        if "Embed" in str(filled) and "Embed" not in str(given):
            edits.put(f"components.{name}.model", filled)
    _write_out_variables(edits)
    edits.plain = edits.config.interpolate()
    for place, block in _find_blocks(edits).items():
        if _CNN.fullmatch(block["@architectures"]):
            _write_out_cnn(edits, place, block)


def _write_out_variables(edits: Edits) -> None:
    """Write out blocks of other sections, which may be those of others too."""
    for keys, value in [*walk_dict(edits.config["components"], ["components"])]:
        is_block = isinstance(value, str) and value.startswith("${")
        if len(keys) == 2 or keys[1] in edits.left or not is_block:
            continue
        block = edits.resolve(".".join(keys))
        # those of components are changed where they stand
        if "@architectures" in str(block) and not value.startswith("${components."):
            set_dot_to_object(edits.config, ".".join(keys), deepcopy(block))


def _write_out_cnn(edits: Edits, place: str, block: Mapping[str, Any]) -> None:
    check_block(place, block)
    for keys, value in [*walk_dict(edits.config)]:  # its arguments get other places
        if found := re.search(rf"\$\{{{re.escape(place)}[.:](\w+)\}}", str(value)):
            at, new = ".".join(keys), f"${{{place}.encode.{found[1]}}}"
            is_kept = found[0] == value and found[1] in OF_ENCODER
            new = new if is_kept else edits.resolve(at)
            set_dot_to_object(edits.config, at, new)
    tok2vec = write_out_cnn(edits.get(place), block)
    tok2vec["embed"]["width"] = f"${{{place}.encode.width}}"
    why = f"In place of {block['@architectures']}: its embedder and its encoder."
    edits.put(place, tok2vec, {"@architectures": why})
    edits.plain = edits.config.interpolate()


def put_in_encoders(edits: Edits) -> None:
    """Put our encoder in the place of spaCy's."""
    for place, block in _find_blocks(edits).items():
        edits.put_in(ENCODER, place)
        if edits.get(place)["@architectures"] == ENCODER.values["@architectures"]:
            check_block(place, {**block, **ENCODER.values})


def read_embedders(
    edits: Edits, new: EmbedderDescription, *, is_anew: bool
) -> list[Embedder]:
    """Read the embedders that ours can take the place of. `is_anew`: none of them has
    weights to keep.
    """
    weights = None if is_anew else edits.get_initialize("init_tok2vec")
    trained = edits.resolve("pretraining.component")  # None: any
    embedders = []
    for place, block in _find_blocks(edits).items():
        if not _is_embedder(replaced := block["@architectures"]):
            continue
        check_block(place, block)
        component = place.split(".")[1]
        is_pretrained = bool(weights) and trained in (None, component)
        settable = find_settable(edits.resolve("nlp.pipeline") or [], component)
        attrs, rows = block.get("attrs", []), block.get("rows", [])
        if "nC" in block:  # a CharacterEmbed: subwords stand for its characters
            given = [block.get("feature", "LOWER"), "PREFIX", "SUFFIX", "SHAPE"]
            attrs, rows = [*dict.fromkeys(given)], [rows]
        attrs = check_attributes(attrs)
        rows = [*rows, *map(get_usual_rows, attrs[len(rows) :])]
        plain = {**block, "attrs": attrs}
        each = Embedder(place, plain, rows, new, is_pretrained, settable)
        kept = [attr for attr, _ in each.tables]
        lost = [attr for attr in attrs if attr not in kept and attr in settable]
        if lost or not kept:
            raise ValueError(
                f"[{place}] embeds {', '.join(lost or attrs)}, which is no text, and "
                f"{new.architecture} can't embed. Put in another embedder "
                "(--embedder), or change 'attrs'."
            )
        if is_pretrained:
            _check_weights(edits, each, replaced, f"'{weights!s:.300}'")
        embedders.append(each)
    return embedders


def _check_weights(edits: Edits, old: Embedder, replaced: str, weights: str) -> None:
    """Check that weights for what stands there fit what is put in, and warn of them."""
    names = f"[initialize] init_tok2vec names weights, {weights}, that were trained"
    is_same = old.new == HASHED and ".MultiHashEmbed." in replaced
    if not (is_same or old.new.is_named(replaced)):
        raise ValueError(
            f"{old.new.architecture} can't be put into [{old.place}]: {names} for "
            f"{replaced} and don't fit. Set it to null, to train without them, or put "
            "in what fits them (--embedder)."
        )
    edits.warnings.append(
        f"[{old.place}] keeps its settings: {names} with them. To have settings chosen "
        "anew, set it to null."
    )


def put_in_embedder(
    edits: Edits, old: Embedder, advice: Advice | None
) -> dict[str, Any]:
    """Put an embedder in, and return its block, which may have variables for blocks."""
    plain, new, given = old.plain, old.new, edits.get(old.place)
    is_ours = new.is_named(plain["@architectures"])
    tables = [t for t in old.tables if advice is None or t[0] in advice.attrs]
    attrs = [attr for attr, _ in tables]
    settings = {**plain, "@architectures": new.architecture, "attrs": attrs}
    if is_ours and attrs != plain["attrs"]:
        settings |= _cut_arguments(plain, attrs)
    if not is_ours and plain.get("maxout_pieces", 0) is None:
        del settings["maxout_pieces"]  # nothing mixes in that embedder
    why = {"@architectures": f"In place of {plain['@architectures']}: {new.purpose}"}
    if without := ", ".join(attr for attr in plain["attrs"] if attr not in attrs):
        why["attrs"] = f"Without {without}: no text, or all is said by others."
    if old.is_pretrained and not is_ours:
        rows = [n for _, n in tables]
        settings |= {"num_hashes": MAX_HASHES, "rows": rows, "seed": DEGENERATE_SEED}
        why |= dict.fromkeys(("num_hashes", "rows", "seed"), _PRETRAINED)
    elif not is_ours or (advice and new.raises_rows):
        _choose_settings(old, tables, advice, settings, why)
    parameters = signature(registry.architectures.get(new.architecture)).parameters
    known = ("@architectures", *parameters)
    settings = {key: value for key, value in settings.items() if key in known}
    # variables, and numbers of attributes, that say the same stay
    block = {
        k: given[k] if k in given and v == plain[k] else v for k, v in settings.items()
    }
    edits.put(old.place, block, why)
    return settings


def _choose_settings(
    old: Embedder,
    tables: Sequence[tuple[str, int]],
    advice: Advice | None,
    settings: dict[str, Any],
    why: dict[str, str],
) -> None:
    """Choose hashes, rows, seed and blocks, and say why."""
    new = old.new
    attrs, rows = [attr for attr, _ in tables], [n for _, n in tables]
    if new.raises_rows:
        settings["num_hashes"] = min(
            old.plain.get("num_hashes", MAX_HASHES), MAX_HASHES
        )
        why["num_hashes"] = EXPLAIN_SMALL if advice else EXPLAIN_DEFAULT
    else:
        settings.pop("num_hashes", None)
        parameters = signature(registry.architectures.get(new.architecture)).parameters
        if "num_hashes" in parameters:
            settings["num_hashes"] = parameters["num_hashes"].default
            why["num_hashes"] = new.why_hashes
    settings["rows"] = rows
    if advice and advice.hashes:
        settings["num_hashes"] = advice.hashes
        why["num_hashes"] = "Advised for the training corpus."
        settings["rows"] = [max(n, advice.least[attr]) for attr, n in tables]
        if settings["rows"] != rows:
            why["rows"] = _RAISED
    if settings.get("seed", DEGENERATE_SEED) == DEGENERATE_SEED:
        settings["seed"], why["seed"] = SOUND_SEED, _SEED
    for name, (architecture, why[name]) in new.blocks.items():
        # one for all: what is changed there is changed for the others too
        same = dict.fromkeys(attrs[1:], f"${{{old.place}.{name}.{attrs[0]}}}")
        settings[name] = {attrs[0]: {"@architectures": architecture}, **same}


def advise(corpus: Corpus, old: Embedder) -> Advice:
    """Advise on attributes, and on hashes and rows or `min_freq`."""
    vocabulary = corpus.vocabulary
    names = [attr for attr, _ in old.tables]
    uses = measure_attributes({"train": vocabulary}, names, old.settable)
    attrs = [use.attr for use in uses if use.says_nothing is None]
    if not attrs or len(np.unique(vocabulary.words[:, 0])) < FEWEST_WORDS:
        return Advice(attrs or names)
    if old.new.raises_rows:
        width = old.plain["width"]
        options = find_hash_options(vocabulary, attrs, width=width, bound=BOUND)
        if not options:
            return Advice(attrs)
        best = min(options, key=lambda option: option.parameters)
        return Advice(attrs, best.num_hashes, dict(zip(attrs, best.rows, strict=True)))
    later = {attr for attr in attrs if attr in old.settable and attr != "NORM"}
    most = sum(n for attr, n in old.tables if attr not in later)
    counts = [vocabulary.count_values(attr)[1] for attr in attrs]
    for min_freq in MIN_FREQS[1:]:
        if sum(1 + (count >= min_freq).sum() for count in counts) <= most:
            break
    return Advice(attrs, min_freq=min_freq)


def _cut_arguments(plain: Mapping[str, Any], attrs: Collection[str]) -> dict[str, Any]:
    """Leave out what arguments have for attributes that are left out."""
    names = plain["attrs"]
    cut: dict[str, Any] = {}
    for key, value in plain.items():
        if isinstance(value, list) and len(value) == len(names) and key != "attrs":
            pairs = zip(names, value, strict=True)
            cut[key] = [item for attr, item in pairs if attr in attrs]
        elif isinstance(value, Mapping) and {*value} == {*names}:
            cut[key] = {attr: value[attr] for attr in attrs}
    return cut
