"""Insert the settings of `spacy pretrain`, and of counting symbols or n-grams."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import DEFAULT_CONFIG_PRETRAIN_PATH
from spacy.util import load_config, set_dot_to_object

from ...arguments import SPANS, check_items
from ...training.counting import count_values, filter_symbols
from ...training.rawtexts import create_raw_texts_reader
from . import embedders, presets
from .edits import Edits, find_name, name_symbols
from .embedders import Embedder, Progress, TrainingCorpus


def insert_pretraining(
    edits: Edits,
    raw: str | Path,
    existing: Sequence[Embedder],
    output: str | Path,
    progress: Progress,
) -> None:
    """Insert the settings of `spacy pretrain` for an embedder's tok2vec."""
    old = existing[0]
    _, component, _, *parts = old.place.split(".")
    layer = [part for part in parts if part != "embed"]
    if len(existing) > 1 or len(layer) > 1:
        raise ValueError(
            "--raw pretrains one tok2vec: a component, or the layer 'tok2vec' of one. "
            f"The embedders are {', '.join(each.place for each in existing)}."
        )
    if groups := ", ".join(x for x in old.block["attrs"] if str(x).startswith(SPANS)):
        raise ValueError(
            f"[{old.place}] embeds {groups}, which the texts of --raw don't have. "
            "Omit --raw, or remove the feature from 'attrs' or --feature."
        )
    edits.set_path("raw_text", raw, "The texts of --raw.")
    edits.apply(presets.RAW_TEXTS)
    exclude = _exclude_evaluation_texts(edits)
    block = edits.get("pretraining") or {}
    if find_name(block.get("objective")) != presets.OBJECTIVE:
        config = load_config(DEFAULT_CONFIG_PRETRAIN_PATH)
        for key, value in presets.PRETRAINING.items():
            set_dot_to_object(config, f"pretraining.{key}", value)
        block = config["pretraining"]
    block = {**block, "component": component, "layer": ".".join(layer)}
    why = "Predicts which words of a text were replaced (documentation: pretraining)."
    edits.set_block("pretraining", block, {None: why, "max_epochs": why})
    if old.new.symbol_width:
        tables = str(name_symbols(output))
        _insert_symbols(edits, old, raw, exclude, tables, progress)
    weights = name_weights(output)
    edits.set_path("init_tok2vec", weights, "The output of `spacy pretrain`.")


def _exclude_evaluation_texts(edits: Edits) -> list[str]:
    """Exclude the .spacy corpora of [paths] dev and test from pretraining."""
    edits.refresh()
    place, paths = presets.RAW_TEXTS.section, edits.plain["paths"]
    excluded = edits.resolve(f"{place}.exclude") or []
    check_items("paths", exclude=excluded)
    named = filter(_is_corpus, (paths.get("dev"), paths.get("test")))
    if new := [path for path in named if path not in excluded]:
        excluded = [*excluded, *new]
        # without variables: only one in a list is resolved
        edits.set(place, "exclude", excluded, "Texts for evaluation.")
    return excluded


def _is_corpus(path: Any) -> bool:
    """True for a .spacy file or a folder: readers of configs may take other formats."""
    return isinstance(path, str) and (path.endswith(".spacy") or Path(path).is_dir())


def name_weights(output: str | Path) -> Path:
    """Return the path of a config's pretrained weights."""
    return Path("pretrained", Path(output).stem, "model-last.bin")


def _insert_symbols(
    edits: Edits,
    old: Embedder,
    raw: str | Path,
    exclude: Sequence[str],
    tables: str,
    progress: Progress,
) -> None:
    """Count symbols of the texts, with the lowest `min_freq` for the given rows."""
    attrs = old.block["attrs"]
    # the tokenizer sets norms
    if later := [a for a in attrs if a in old.settable and a != "NORM"]:
        raise ValueError(
            f"[{old.place}] embeds {', '.join(later)}, which earlier components may "
            "set, but the texts of --raw don't have. Remove it from 'attrs', or use "
            "--embedder multi_fewer_hash_embed, which needs no counting."
        )
    old.block["tables"] = tables
    excluded = [path for path in map(Path, exclude) if path.exists()]
    read = create_raw_texts_reader(path=Path(raw), exclude=excluded)
    examples = read(edits.make_tokenizer())
    counts = count_values(progress(each.predicted for each in examples), attrs)
    most = sum(old.tables.values())
    seen = -np.sort(-np.concatenate([each.get_counts()[1] for each in counts.values()]))
    min_freq = int(max([2, *(seen[most : most + 1] + 1)]))
    why = f"Symbols that occur {min_freq} times or more in the texts of --raw."
    edits.set(old.place, "tables", tables, why)
    lang = edits.resolve("nlp.lang")
    edits.symbols = filter_symbols(counts, min_freq=min_freq, lang=lang)


def insert_counting(
    edits: Edits, existing: Sequence[Embedder], corpus: TrainingCorpus | None
) -> None:
    """Insert the callback that counts the training corpus, if an embedder needs it."""
    new = existing[0].new
    preset = presets.SYMBOLS if new.symbol_width else presets.NGRAMS
    current, name = map(find_name, (edits.resolve(preset.section), preset.values))
    is_free = re.fullmatch(preset.replaces, str(current))
    measure = new.symbol_width or _has_ngrams
    if not any(measure(o.block) and not o.block.get("tables") for o in existing):
        if current and is_free:
            edits.set("initialize", "before_init", None, "No embedder needs counts.")
    elif is_free:
        edits.apply(preset)
        chosen = max(old.min_freq for old in existing)
        why = embedders.EXPLAIN_SMALL if corpus else embedders.EXPLAIN_DEFAULT
        if chosen:  # the largest, so that no embedder gets more rows
            why = "The smallest that needs no more rows than before."
        if new.symbol_width and (chosen or current != name):
            # as in our trials; for other embedders, as in the report
            min_freq = chosen or (2 if new == presets.EMBEDDER else 10)
            edits.set(preset.section, "min_freq", min_freq, why)
    elif not all(old.is_ours for old in existing):  # else the callback may count
        raise ValueError(
            f"{new.architecture} needs {name} in [initialize.before_init], which is "
            f"{current}. Remove that callback, or use --embedder "
            "multi_fewer_hash_embed, which needs no counting."
        )


def _has_ngrams(block: Mapping[str, Any]) -> bool:
    """True if a hasher of an embedder uses only counted n-grams."""
    hashers = block.get("hashers", {}).values()
    lsh = [hasher for hasher in hashers if find_name(hasher) == presets.HASHER]
    return any(hasher.get("max_ngrams", 1) is not None for hasher in lsh)
