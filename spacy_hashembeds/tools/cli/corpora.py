"""`spacy hashembeds prepare`, `tables` and `label`."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import typer
from spacy.cli._util import Arg, Opt
from wasabi import msg

from . import _options as options
from ._app import failing, hashembeds_cli
from ._output import QUIET, file_output, show_progress

#: Kinds of annotation.
Kind = StrEnum("Kind", ["iob", "spans", "texts"])


@hashembeds_cli.command("prepare")
def prepare_cli(
    ctx: typer.Context,
    kind: Kind = Arg(
        ..., help="The annotation: token tags, entity spans, or text labels."
    ),
    output: Path = options.folder_output("The folder for the .spacy files."),
    train: Path = Opt(..., "--train", "-t", help="Your training file.", dir_okay=False),
    dev: Path | None = Opt(
        None, help="Your development file. Default: one in ten texts.", dir_okay=False
    ),
    test: Path | None = Opt(None, help="Your test file.", dir_okay=False),
    lang: str = options.LANG,
    separator: str | None = options.SEPARATOR,
    text_column: list[str] = Opt(
        ["text"], help="The column or key of the text; may be repeated."
    ),
    label_column: list[str] = Opt(
        [], help="The column or key of labels or entities; may be repeated."
    ),
    word_column: str = options.WORD_COLUMN,
    tag_column: str = options.TAG_COLUMN,
    sentence_column: str | None = options.SENTENCE_COLUMN,
    feature: list[str] = options.FEATURE,
    encoding: str = options.ENCODING,
    quotes: bool | None = options.QUOTES,
    group: str = options.GROUP,
    misaligned: str = Opt(
        "refuse", help="Spans that split tokens: refuse, leave-out, expand, contract."
    ),
    overlapping: str = Opt(
        "refuse", help="Spans that overlap: refuse, or leave-out all but the longest."
    ),
    force: bool = options.FORCE,
    quiet: bool = QUIET,
) -> None:
    """Convert your own files to train.spacy, dev.spacy, test.spacy.

    'iob' files have one token a line, 'spans' are JSON, 'texts' are CSV or JSON. The
    command shows counts of the output, and an example.
    """
    from ...files import check_targets
    from ..display import show_controls
    from ..prepare.labelled import TextFormat
    from ..prepare.spans import SpanFormat
    from ..prepare.splits import SPLITS, prepare_files
    from ._prepared import show_documents, show_prepared

    with failing("Can't prepare the corpus", TypeError):  # of csv
        outputs = [output / f"{split}.spacy" for split in SPLITS]
        files: dict[str, Any] = {"train": train, "dev": dev, "test": test}
        check_targets(outputs, files.values(), force=force)
        texts: dict[str, Any] = {"text": text_column, "encoding": encoding}
        if label_column:
            texts["label"] = label_column
        layout: Any
        if kind is Kind.iob:
            layout = options.make_layout(ctx.params)
        elif kind is Kind.texts:
            if feature:
                raise ValueError("'feature' is for tokens: use 'iob' or 'spans'.")
            layout = TextFormat(**texts, separator=separator, quotes=quotes)
        else:
            texts |= {"misaligned": misaligned, "overlapping": overlapping}
            layout = SpanFormat(**texts, features=options.read_features(feature))
        settings: dict[str, Any] = {"lang": lang, "output": output}
        settings |= {"layout": layout, "progress": show_documents}
        paths = prepare_files(**files, **settings)
    component = show_prepared(paths)
    if kind is Kind.spans and layout.left_out:
        title = f"Left out {len(layout.left_out):,} entities. The first are:"
        msg.warn(title, "\n".join(layout.left_out[:20]))
    drawn = "" if dev else ", with one in ten texts of train in dev"
    msg.good(f"Saved {len(paths)} splits to {output}{drawn}")
    if component is not None:
        msg.text("Write a config:")
        names = options.read_features(feature)
        typer.echo(
            f"spacy init config base.cfg --lang {lang} --pipeline {component}\n"
            "spacy hashembeds config base.cfg -o config.cfg --train "
            + show_controls(quote(str(outputs[0])))
            + "".join(f" --feature _.{name}" for name in names)
        )


@hashembeds_cli.command("tables")
def tables_cli(
    corpus: Path = Arg(
        ..., help="The corpus: .spacy, .txt or .jsonl, or a folder.", exists=True
    ),
    output: Path = file_output("The .npz file to write", default=...),
    lang: str = options.LANG,
    attrs: str = Opt(
        "NORM,PREFIX,SUFFIX,SHAPE", "--attrs", "-a", help="The attributes to count."
    ),
    min_freq: int = Opt(
        10, "--min-freq", "-m", help="Minimum frequency for a row.", min=1, max=2**31
    ),
    max_symbols: int = Opt(
        10_000_000, help="Maximum number of symbols in memory.", min=1000
    ),
    force: bool = options.FORCE,
    quiet: bool = QUIET,
) -> None:
    """Count the symbols of a corpus for an embedder.

    Set the argument `tables` of the embedder to the file. Norms are computed by a blank
    pipeline: if [initialize] has lookups, use `spacy-hashembeds.count_symbols.v1`.
    Features, such as _.is_bold or spans.names, are read from .spacy files.
    """
    from spacy import blank

    from ...architectures.symbols import save_symbols
    from ...arguments import check_attributes, check_language, list_extensions
    from ...files import check_targets, choose_suffix
    from ...training.counting import count_values, filter_symbols
    from ...training.docbin import find_files
    from ...training.features import register_extensions
    from ...training.rawtexts import read_text_docs, take_features
    from ..display import Table, show

    with failing("Can't count the symbols", TypeError):
        check_targets([output], [corpus], force=force)
        choose_suffix(output, [".npz"])
        listed = [name.strip() for name in attrs.split(",")]
        names = check_attributes(listed, with_features=True)
        register_extensions(list_extensions(names))
        check_language(lang)
        # hidden files may be incomplete
        files = [f for f in sorted(corpus.rglob("*")) if not f.name.startswith(".")]
        texts = [f for f in files if f.suffix in (".jsonl", ".txt")]
        has_docs = any(f.suffix == ".spacy" for f in files)
        parts = texts if texts and not has_docs else find_files(corpus)
        # one vocab per part, since a vocab keeps all words
        read = partial(read_text_docs, take=take_features)
        docs = (doc for part in parts for doc in read([part], blank(lang)))
        shown = show_progress(docs, title="Counting", unit="docs")
        counts = count_values(shown, names, max_symbols)
        found = {name: counter.get_counts()[0] for name, counter in counts.items()}
        if empty := [name for name, values in found.items() if not values.any()]:
            message = f"No token in '{corpus}' has {', '.join(empty)}"
            remedy = "`spacy-hashembeds.count_symbols.v1`"
            raise ValueError(f"{message}. If components set them, use {remedy}.")
        symbols = filter_symbols(counts, min_freq=min_freq, lang=lang)
        save_symbols(output, symbols)
    rows = [(x, len(v), len(symbols.tables[x].frequent)) for x, v in found.items()]
    header = ["Attribute", "Distinct", f"Seen {min_freq} times or more"]
    show([Table(None, None, header, rows)], msg)
    for name, counter in counts.items():
        if error := counter.error:
            title = f"{name} has more than {max_symbols:,} distinct symbols"
            text = f"Counts are too low by up to {error}. Symbols with fewer than"
            msg.warn(title, f"{text} {min_freq + error} occurrences may be missing.")
    msg.good(f"Saved symbol tables to {output}")


@hashembeds_cli.command("label")
def label_cli(
    models: list[str] = Arg(
        ..., help="Pipelines of several seeds: package names or folders."
    ),
    raw: Path = Opt(
        ..., "--raw", "-r", help="The texts: .txt (one a line), .jsonl or .spacy."
    ),
    output: Path = file_output("The .spacy file to write", default=...),
    exclude: list[Path] = Opt(
        [], "--exclude", "-x", help="Texts to exclude. May be given several times."
    ),
    limit: int = Opt(
        0, "--limit", "-n", help="Maximum number of texts to draw; 0 for all.", min=0
    ),
    force: bool = options.FORCE,
    code: Path | None = options.code_option("-c"),
    quiet: bool = QUIET,
) -> None:
    """Label texts by an ensemble of pipelines, to train a new one.

    Each pipeline has a `token_ner` with the same labels, trained on the same data with
    another seed. The output has the texts, their features, and the most probable
    entities by the mean of all pipelines. Texts should be similar to the training data:
    in others, pipelines miss entities, whose tokens are labelled O.
    """
    from zlib import compress, decompress

    from spacy.tokens import Doc, DocBin

    from ...files import check_targets, choose_suffix, replacing
    from ...loading import load_trained
    from ...training.rawtexts import read_distinct, take_sentences
    from ..label import label_entities
    from ..prepare.splits import NER_TASK

    with failing("Can't label the texts", TypeError):
        check_targets([output], [raw, *exclude], force=force)
        choose_suffix(output, [".spacy"])
        pipelines = [load_trained(model) for model in models]
        first = pipelines[0]
        found, n_excluded = read_distinct(
            first,
            raw,
            exclude,
            lambda doc: compress(doc.to_bytes()),  # 1% of the memory of a Doc
            take_sentences,
        )
        if not found:
            raise ValueError(f"'{raw}' should have texts to label, but none is left.")
        drawn = {*sorted(found)[: limit or len(found)]}  # keys are hashes
        texts = [text for key, text in found.items() if key in drawn]
        docs = (
            Doc(first.vocab).from_bytes(decompress(text))
            for text in show_progress(texts, "Labelling", unit="texts")
        )
        labelled, n_entities = DocBin(attrs=NER_TASK.attrs, store_user_data=True), 0
        for doc in label_entities(pipelines, docs):
            labelled.add(doc)
            n_entities += len(doc.ents)
        with replacing(output) as path:
            labelled.to_disk(path)
    msg.good(f"Saved {len(labelled):,} texts with {n_entities:,} entities to {output}")
    if exclude:
        msg.text(f"Left out {n_excluded:,} texts of --exclude")
