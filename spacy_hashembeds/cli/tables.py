"""`spacy hashembeds tables`."""

from pathlib import Path

from spacy.cli._util import Arg, Opt

from ._app import failing, hashembeds_cli
from ._output import QUIET, file_output, show_progress


@hashembeds_cli.command("tables")
def tables_cli(
    corpus: Path = Arg(
        ..., help="The training corpus: a .spacy file or a folder of them.", exists=True
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
        10, "--min-freq", "-m", help="Times a symbol is seen to get a row.", min=1
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
    from spacy import blank
    from wasabi import msg

    from ..corpora.docbin import read_examples
    from ..files import check_targets
    from ..inputs import check_attributes
    from ..symbols import count_values, cut_symbols, save_symbols

    with failing("Can't count the symbols"):
        check_targets([output], [corpus])
        names = check_attributes([name.strip() for name in attrs.split(",")])
        examples = read_examples(corpus, blank(lang))
        docs = (example.predicted for example in examples)
        counts = count_values(show_progress(docs, "Counting", unit="docs"), names)
        if empty := [name for name in names if not counts[name].keys() - {0}]:
            raise ValueError(
                f"There is not a token in the corpus '{corpus}' that has a value for "
                f"{', '.join(empty)}. What components set is there in training alone: "
                "count it with the callback."
            )
        symbols = cut_symbols(counts, min_freq=min_freq, lang=lang)
        save_symbols(output, symbols)
    msg.table(
        [
            (name, len(counts[name]), len(symbols.tables[name].frequent))
            for name in names
        ],
        header=("Attribute", "Distinct", f"Seen {min_freq} times or more"),
        aligns=("l", "r", "r"),
        divider=True,
    )
    msg.good(f"Saved symbol tables to {output}")
