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
    jobs: int = Opt(
        1, "--jobs", "-j", help="How many files to count at once, in processes.", min=1
    ),
    merge: bool = Opt(
        False,
        "--merge",
        help="Add up what was counted already: CORPUS is a folder of such files "
        "(.npz), each made with --min-freq 1.",
    ),
    max_symbols: int = Opt(
        10_000_000,
        "--max-symbols",
        help="The most distinct symbols of an attribute to have in memory. Where there "
        "are more, rare ones are forgotten on the way, and it says what counts may be "
        "too low by.",
        min=1000,
    ),
    quiet: bool = QUIET,
) -> None:
    """Count the symbols of a corpus for an embedder, and save them to a file.

    The norms of tokens are those of a blank pipeline. Where [initialize] has lookups,
    use the callback, which counts with the pipeline itself.

    Name the file in the argument `tables` of the embedder, such as
    `spacy-hashembeds.MultiEmbed.v1`. Without a file, the callback
    `spacy-hashembeds.count_symbols.v1` does the same while `spacy train` initialises
    the pipeline.
    """
    from functools import partial

    from ..files import check_targets, choose_suffix
    from ..inputs import check_attributes
    from ..parts import add_up, count_parts, find_counted, find_parts, load_counted
    from ..symbols import save_symbols

    with failing("Can't count the symbols"):
        check_targets([output], [corpus])
        choose_suffix(output, [".npz"])
        names = check_attributes([name.strip() for name in attrs.split(",")])
        names = list(dict.fromkeys(names))
        unit = "docs" if jobs == 1 and not merge else "parts"
        show = partial(show_progress, title="Counting", unit=unit)
        if merge:
            parts = load_counted(show(find_counted(corpus)), lang, names)
        else:
            found = find_parts(corpus)
            parts = count_parts(
                found, lang, names, limit=max_symbols, jobs=jobs, progress=show
            )
        symbols = add_up(parts, lang, names, limit=max_symbols, min_freq=min_freq)
        if empty := [name for name in names if not symbols.has_values(name)]:
            raise ValueError(
                f"There is not a token in the corpus '{corpus}' that has a value for "
                f"{', '.join(empty)}. What components set is there in training alone: "
                "count it with the callback."
            )
        save_symbols(output, symbols)
    msg.table(
        [
            (name, symbols.count_distinct(name), len(symbols.tables[name].frequent))
            for name in names
        ],
        header=("Attribute", "Distinct", f"Seen {min_freq} times or more"),
        aligns=("l", "r", "r"),
        divider=True,
    )
    for name, error in symbols.errors.items():
        msg.warn(
            f"{name} has more than {max_symbols:,} distinct symbols",
            f"Counts are too low by {error} at most, and symbols seen less than "
            f"{min_freq + error} times may be missing. Set 'max_symbols' higher.",
        )
    msg.good(f"Saved symbol tables to {output}")
