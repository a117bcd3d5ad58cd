"""`spacy hashembeds tables`."""

from pathlib import Path

from spacy.cli._util import Arg, Opt
from wasabi import msg

from ._app import failing, hashembeds_cli
from ._output import QUIET, file_output, show_progress


@hashembeds_cli.command("tables")
def tables_cli(
    corpus: Path = Arg(
        ...,
        help="The corpus: a .spacy file or a folder of them, or texts, one a line "
        "(.txt) or in JSON objects (.jsonl).",
        exists=True,
    ),
    output: Path = file_output(
        "The file of symbol tables to write (.npz)", default=...
    ),
    lang: str = Opt(
        ...,
        "--lang",
        "-l",
        help="The pipeline's language, for norms: --nlp.lang of 'spacy train'.",
    ),
    attrs: str = Opt(
        "NORM,PREFIX,SUFFIX,SHAPE",
        "--attrs",
        "-a",
        help="The token attributes to count, with commas between.",
    ),
    min_freq: int = Opt(
        10,
        "--min-freq",
        "-m",
        help="Times a symbol is seen to get a row.",
        min=1,
        max=2**31,
    ),
    max_symbols: int = Opt(
        10_000_000,
        "--max-symbols",
        help="The most distinct symbols of an attribute to have in memory. With more, "
        "rare ones are forgotten, and it says what counts may be too low by.",
        min=1000,
    ),
    quiet: bool = QUIET,
) -> None:
    """Count the symbols of a corpus for an embedder, and save them to a file.

    Name the file in the argument `tables` of the embedder, such as
    `spacy-hashembeds.MultiEmbed.v1`. The norms are those of a blank pipeline: where
    [initialize] has lookups, use the callback `spacy-hashembeds.count_symbols.v1`,
    which counts with the pipeline itself while `spacy train` initialises it.
    """
    from spacy import blank

    from ...architectures.symbols import save_symbols
    from ...arguments import check_attributes, check_language
    from ...files import check_targets, choose_suffix
    from ...training.counting import count_values, cut_symbols
    from ...training.docbin import find_files
    from ...training.rawtexts import read_text_docs

    with failing("Can't count the symbols"):
        check_targets([output], [corpus])
        choose_suffix(output, [".npz"])
        names = check_attributes([name.strip() for name in attrs.split(",")])
        names = list(dict.fromkeys(names))
        check_language(lang)
        # Hidden files may be incomplete.
        files = [f for f in sorted(corpus.rglob("*")) if not f.name.startswith(".")]
        texts = [f for f in files if f.suffix in (".jsonl", ".txt")]
        has_docs = any(f.suffix == ".spacy" for f in files)
        parts = texts if texts and not has_docs else find_files(corpus)
        # a vocab for each part, since one keeps every word that it has met
        docs = (doc for part in parts for doc in read_text_docs([part], blank(lang)))
        shown = show_progress(docs, title="Counting", unit="docs")
        counts = count_values(shown, names, max_symbols)
        found = {name: counter.get_counts()[0] for name, counter in counts.items()}
        if empty := [name for name, values in found.items() if not values.any()]:
            raise ValueError(
                f"There is not a token in the corpus '{corpus}' that has a value for "
                f"{', '.join(empty)}. What components set is there in training alone: "
                "count it with the callback."
            )
        symbols = cut_symbols(counts, min_freq=min_freq, lang=lang)
        save_symbols(output, symbols)
    msg.table(
        [
            (name, len(values), len(symbols.tables[name].frequent))
            for name, values in found.items()
        ],
        header=("Attribute", "Distinct", f"Seen {min_freq} times or more"),
        aligns=("l", "r", "r"),
        divider=True,
    )
    for name, counter in counts.items():
        if error := counter.error:
            msg.warn(
                f"{name} has more than {max_symbols:,} distinct symbols",
                f"Counts are too low by {error} at most, and symbols seen less than "
                f"{min_freq + error} times may be missing. Set 'max_symbols' higher.",
            )
    msg.good(f"Saved symbol tables to {output}")
