"""Pretraining on raw texts, and the counting of symbols, put into a config."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import DEFAULT_CONFIG, DEFAULT_CONFIG_PRETRAIN_PATH
from spacy.util import load_config, set_dot_to_object

from ...architectures.descriptions import EmbedderDescription
from ...training.counting import count_values, cut_symbols
from ...training.rawtexts import create_raw_texts_reader
from . import presets
from .corpus import Progress, make_tokenizer
from .edits import Edits, find_name
from .embedders import EXPLAIN_DEFAULT, EXPLAIN_SMALL, Advice, Embedder

#: The layer whose n-grams are counted.
_HASHER = "spacy-hashembeds.LSHHasher.v1"


def name_weights(output: str | Path) -> Path:
    """Name the file with the weights for a config: `spacy pretrain` writes it."""
    return Path("pretrained", Path(output).stem, "model-last.bin")


def name_symbols(output: str | Path) -> Path:
    """Name the file with the symbols for a config: what stands beside it."""
    return Path(output).with_suffix(".npz")


def put_in_pretraining(
    edits: Edits,
    raw: str | Path,
    old: Embedder,
    blocks: Mapping[str, dict[str, Any]],
    output: str | Path,
    progress: Progress,
) -> None:
    """Have `spacy pretrain` train an embedder's tok2vec, and training begin with it."""
    _, component, _, *layer = [p for p in old.place.split(".") if p != "embed"]
    if len(blocks) > 1 or len(layer) > 1:
        raise ValueError(
            "--raw pretrains one tok2vec, which is a component or a layer 'tok2vec' of "
            f"one, but embedders stand in {', '.join(blocks)}."
        )
    # `spacy pretrain` fills in nothing
    edits.config = DEFAULT_CONFIG.merge(edits.config)
    edits.set("paths", "raw_text", str(raw), "The texts that --raw names.")
    edits.put_in(presets.RAW_TEXTS)
    block = edits.get_block("pretraining")
    if find_name(block.get("objective")) != presets.OBJECTIVE:
        config = load_config(DEFAULT_CONFIG_PRETRAIN_PATH)
        for key, value in presets.PRETRAINING.items():
            set_dot_to_object(config, f"pretraining.{key}", value)
        block = config["pretraining"]
    block |= {"component": component, "layer": ".".join(layer)}
    edits.put("pretraining", block, presets.WHY_PRETRAINING)
    edits.put_in(replace(presets.FASTER_ADAM, defaults={}), "pretraining.optimizer")
    if old.new.symbol_width:
        _put_in_symbols(edits, old, blocks[old.place], raw, output, progress)
    why = "What `spacy pretrain` will have learned."
    edits.set_initialize("init_tok2vec", str(name_weights(output)), why)


def _put_in_symbols(
    edits: Edits,
    old: Embedder,
    block: dict[str, Any],
    raw: str | Path,
    output: str | Path,
    progress: Progress,
) -> None:
    """Read the symbols of the texts from a file.

    The lowest `min_freq` is taken with no more rows than stood there before. `spacy
    train` need not count the texts then, nor keep the strings of all their words.
    """
    attrs = block["attrs"]
    # the norms of raw texts are there, whoever may change them
    if later := [a for a in attrs if a in old.settable and a != "NORM"]:
        raise ValueError(
            f"[{old.place}] embeds {', '.join(later)}, which components ahead of it "
            "may set, but the texts of --raw, whose symbols are counted, don't have. "
            "Take it out of 'attrs', leave out --raw, or put in an embedder without "
            "symbols, such as multi_fewer_hash_embed (--embedder)."
        )
    examples = create_raw_texts_reader(path=Path(raw))(make_tokenizer(edits))
    counts = count_values(progress(each.predicted for each in examples), attrs)
    most = sum(rows for _, rows in old.tables)
    seen = -np.sort(-np.concatenate([each.get_counts()[1] for each in counts.values()]))
    min_freq = int(max([2, *(seen[most : most + 1] + 1)]))
    why = f"The symbols that are {min_freq} times or more in the texts of --raw."
    block["tables"] = str(name_symbols(output))
    edits.set(old.place, "tables", block["tables"], why)
    lang = edits.resolve("nlp.lang")
    edits.symbols = cut_symbols(counts, min_freq=min_freq, lang=lang)


def put_in_counting(
    edits: Edits,
    olds: Sequence[Embedder],
    blocks: Mapping[str, dict[str, Any]],
    advice: Mapping[str, Advice],
) -> None:
    """Count the training corpus, if an embedder that was put in needs it.
    `blocks`: those of embedders without variables, by place.
    """
    if not olds:
        return
    new = olds[0].new
    measure = new.symbol_width or _counts_ngrams
    preset = presets.SYMBOLS if new.symbol_width else presets.NGRAMS
    there, name = edits.resolve(preset.section), find_name(preset.values)
    is_free = re.fullmatch(preset.over, str(find_name(there)))
    if not any(measure(b) and not b.get("tables") for b in blocks.values()):
        if there and is_free:
            edits.set("initialize", "before_init", None, "Nothing needs counting now.")
    elif is_free:
        edits.put_in(preset)
        is_new = not isinstance(there, Mapping) or find_name(there) != name
        _set_min_freq(edits, new, advice, is_new=is_new)
    elif new.symbol_width:
        raise ValueError(
            f"[initialize] before_init holds one callback, {find_name(there)}, so that "
            f"{name} can't count the training corpus for {new.architecture}. Take it "
            "out, or put in an embedder for which nothing is counted (--embedder "
            "multi_fewer_hash_embed)."
        )
    else:
        _leave_uncounted(edits, olds, str(find_name(there)))


def _set_min_freq(
    edits: Edits,
    new: EmbedderDescription,
    advice: Mapping[str, Advice],
    *,
    is_new: bool,
) -> None:
    """Set the `min_freq` that is advised, or the default of what is new."""
    chosen = [each.min_freq for each in advice.values() if each.min_freq]
    why = EXPLAIN_SMALL if advice else EXPLAIN_DEFAULT
    if chosen:  # which gives none of them more rows than were advised
        why = "By size, not scores: the lowest with no more rows than stood here."
    if new.symbol_width and (chosen or is_new):
        # of lookup what was measured, of others what the report used
        min_freq = max(chosen, default=2 if new == presets.EMBEDDER else 10)
        edits.set(presets.SYMBOLS.section, "min_freq", min_freq, why)


def _counts_ngrams(block: Any) -> bool:
    """True if a hasher in a block takes only n-grams that were counted."""
    if not isinstance(block, Mapping):
        return False
    is_hasher = block.get("@architectures") == _HASHER
    counts = is_hasher and block.get("max_ngrams", 1) is not None
    return counts or any(map(_counts_ngrams, block.values()))


def _leave_uncounted(edits: Edits, olds: Sequence[Embedder], there: str) -> None:
    """Let new hashers take all n-grams, where another callback stands."""
    why = f"All n-grams: [initialize] before_init holds one callback, {there}."
    for old in olds:
        hashers = edits.get_block(f"{old.place}.hashers")
        is_new = not old.new.is_named(old.plain["@architectures"])
        for attr, hasher in hashers.items() if is_new else ():
            if isinstance(hasher, Mapping):
                edits.set(f"{old.place}.hashers.{attr}", "max_ngrams", None, why)
