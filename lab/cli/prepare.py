"""`python -m lab prepare`."""

from pathlib import Path

from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import failing
from spacy_hashembeds.cli._output import QUIET

from ._app import lab_cli


@lab_cli.command("prepare")
def prepare_cli(
    dataset: str = Arg(..., help="The name of a dataset."),
    output: Path = Opt(
        ...,
        "--output",
        "-o",
        help="The folder for train.spacy, dev.spacy and test.spacy.",
        file_okay=False,
    ),
    assets: Path = Opt(
        Path("assets"),
        "--assets",
        "-a",
        help="The folder that holds the files of the datasets.",
        file_okay=False,
    ),
    quiet: bool = QUIET,
) -> None:
    """Convert a published corpus to train.spacy, dev.spacy and test.spacy.

    The datasets with entities are wnut17, conll2002_es, conll2002_nl, anem,
    archaeology, ontonotes and demo, split as in the report "Multi hash embeddings in
    spaCy". Those for text classification are ag_news, dbpedia, yelp_polarity,
    yelp_full, yahoo_answers, amazon_full and amazon_polarity, of whose training texts
    one in twenty is for development; and ag_news_small, the test texts of ag_news
    alone, split into 5,000, 600 and 2,000. Those of GLUE are glue_cola, glue_sst2,
    glue_mrpc, glue_qqp, glue_stsb, glue_mnli, glue_qnli, glue_rte and glue_wnli, split
    likewise, whose published development sets are the test.

    Their files are looked for in the folder of assets, where 'spacy project assets'
    puts them. The demo corpus needs none. Your own files are for
    'spacy hashembeds prepare'.
    """
    from wasabi import msg

    from spacy_hashembeds.cli._prepared import show_documents, show_prepared
    from spacy_hashembeds.corpora.splits import SPLITS
    from spacy_hashembeds.files import check_targets

    from ..corpora.datasets import prepare_dataset

    with failing("Can't prepare the corpus"):
        check_targets([output / f"{split}.spacy" for split in SPLITS])
        paths = prepare_dataset(dataset, assets, output, progress=show_documents)
    show_prepared(paths)
    msg.good(f"Saved {len(paths)} splits to {output}")
