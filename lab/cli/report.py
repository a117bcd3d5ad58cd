"""`python -m lab report`."""

from pathlib import Path

from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import failing
from spacy_hashembeds.cli._output import QUIET, file_output

from ..papers import PaperName
from ._app import lab_cli


@lab_cli.command("report")
def report_cli(
    results: Path = Arg(
        ..., help="The folder of results, such as metrics, or of tables of them."
    ),
    output: Path = file_output("The file to write, .html or .md", default=...),
    paper: PaperName = Opt(
        PaperName.multi_hash_embeddings,
        "--paper",
        help='The paper whose tables to fill: the report "Multi hash embeddings in '
        'spaCy", of named entities, "Hash Embeddings for Efficient Word '
        'Representations", of text classifiers, "Why Attention?", of BiLSTMs for named '
        'entities, or "HashFormers", of codes in place of tables.',
    ),
    figures: Path | None = Opt(
        None,
        "--figures",
        help="The folder for PNG figures (for .md by default OUTPUT_figures).",
        file_okay=False,
    ),
    corpus_root: Path | None = Opt(
        None,
        "--corpus-root",
        help="The folder of prepared corpora, to count. By default corpus, if it is "
        "there.",
    ),
    quiet: bool = QUIET,
) -> None:
    """Fill the tables and figures of the report with the results that are there.

    All trials come first. Each figure is a mean over seeds with its standard deviation,
    beside what the report prints, and marked where the two differ. What has no trial is
    left out, and listed if there are some on the report's corpora. Tables of another
    paper are filled likewise with --paper.
    """
    from wasabi import msg

    from spacy_hashembeds.files import check_targets, choose_suffix

    from ..papers.page import SUFFIXES, make_page, write_page

    with failing("Can't make the report"):
        choose_suffix(output, SUFFIXES)
        # no input, which end in .json and .spacy; and may well be in their folder
        check_targets([output, None if figures is None else figures / "figure1.png"])
        page = make_page(results, paper, corpus_root=corpus_root, on_progress=msg.info)
        write_page(page, output, figures=figures)
    if page.misnamed:
        names = ", ".join(map(str, page.misnamed))
        msg.warn("Skipped files that are not named seedN.json", names)
    missing = f"; {page.n_missing} variants are missing on some dataset"
    msg.good(
        f"Wrote {output} from {page.n_results} results",
        f"{page.differences}{missing * bool(page.n_missing)}.",
    )
