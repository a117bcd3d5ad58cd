"""`python -m lab prepare` and `misspell`."""

from pathlib import Path

from spacy.cli._util import Arg, Opt
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from wasabi import msg

from spacy_hashembeds.files import check_targets, replacing
from spacy_hashembeds.tools.cli._app import failing
from spacy_hashembeds.tools.cli._options import folder_output
from spacy_hashembeds.tools.cli._output import QUIET, file_output, show_progress
from spacy_hashembeds.tools.cli._prepared import show_documents, show_prepared
from spacy_hashembeds.tools.prepare.splits import SPLITS
from spacy_hashembeds.training.docbin import read_docs

from ..corpora.datasets import DATASETS, prepare_dataset
from ..corpora.misspellings import misspell
from ._app import lab_cli


@lab_cli.command("prepare")
def prepare_cli(
    dataset: str = Arg(..., help=f"One of {', '.join(DATASETS)}."),
    output: Path = folder_output("The folder for train.spacy, dev.spacy, test.spacy."),
    assets: Path = Opt(
        Path("assets"), "--assets", "-a", help="The folder of the published files."
    ),
    quiet: bool = QUIET,
) -> None:
    """Convert a published corpus to train.spacy, dev.spacy and test.spacy.

    Corpora of entities are split as in the report "Multi hash embeddings in spaCy". For
    text classification, one in twenty training texts is for development; ag_news_small
    is the test set of ag_news, split into 5,000, 600 and 2,000 texts. The test sets of
    GLUE are the published development sets.

    'spacy project assets' fetches the files. The demo corpus needs none. Convert your
    own files with 'spacy hashembeds prepare'.
    """
    with failing("Can't prepare the corpus"):
        check_targets([output / f"{split}.spacy" for split in SPLITS])
        paths = prepare_dataset(dataset, assets, output, progress=show_documents)
    show_prepared(paths)
    msg.good(f"Saved {len(paths)} splits to {output}")


@lab_cli.command("misspell")
def misspell_cli(
    corpus: Path = Arg(..., help="The gold corpus: a .spacy file, or a folder."),
    output: Path = file_output("The .spacy file to write", default=...),
    seed: int = Opt(0, "--seed", "-s", help="The seed of the edits.", min=0),
    quiet: bool = QUIET,
) -> None:
    """Copy a gold corpus with a misspelling in each entity.

    One character of each entity is deleted, inserted, replaced, or swapped with the
    next one. Equal seeds give equal copies.
    """
    with failing("Can't misspell the corpus"):
        check_targets([output], [corpus])
        docs = list(read_docs(corpus, Vocab()))
        copies = misspell(show_progress(docs, "Misspelling", unit="docs"), seed=seed)
        with replacing(output) as temporary:
            DocBin(docs=copies).to_disk(temporary)
    before, after = ([e.text for doc in of for e in doc.ents] for of in (docs, copies))
    n_misspelt = sum(a != b for a, b in zip(before, after, strict=True))
    of_all = f"{len(before):,} entities in {len(docs):,} documents"
    msg.info(f"Misspelt {n_misspelt:,} of {of_all}, seed {seed}")
    msg.good(f"Saved the copy to {output}")
