"""`spacy hashembeds label`."""

from pathlib import Path
from shlex import quote

from spacy.cli._util import Arg, Opt
from wasabi import msg

from ._app import code_option, failing, hashembeds_cli
from ._output import QUIET, file_output, show_commands, show_progress


@hashembeds_cli.command("label")
def label_cli(
    models: list[str] = Arg(
        ..., help="The pipelines, each a package name or a folder, of several seeds."
    ),
    raw: Path = Opt(
        ...,
        "--raw",
        "-r",
        help="The texts: .txt (one a line), .jsonl, .spacy, whose annotation is not "
        "used.",
    ),
    output: Path = file_output("The .spacy file to write", default=...),
    exclude: list[Path] = Opt(
        [],
        "--exclude",
        "-x",
        help="A file of texts to leave out where they stand in --raw as a whole, such "
        "as those that you test on; may be given several times.",
    ),
    limit: int = Opt(
        0,
        "--limit",
        "-n",
        help="The most texts to take, 0 for all: a sample, the same in each run.",
        min=0,
    ),
    force: bool = Opt(False, "--force", "-F", help="Replace the file that is there."),
    code: Path | None = code_option("-c"),
    quiet: bool = QUIET,
) -> None:
    """Label texts by several pipelines together, to train one pipeline on.

    Each has a `token_ner` of the same labels, and was trained on the same data from
    another seed. What is written are texts with the entities that are the most probable
    by the mean of all pipelines. They should be of the kind of your training data: what
    pipelines don't find in texts of another, they teach to be none.
    """
    from zlib import compress, decompress

    from spacy.tokens import Doc, DocBin

    from ...files import choose_suffix, find_descriptor, replacing
    from ...loading import load_trained
    from ...training.rawtexts import read_distinct, take_sentences
    from ..config.base_config import check_output
    from ..label import label_entities
    from ..prepare.splits import NER

    with failing("Can't label the texts"):
        check_output(output, base=raw, inputs=[raw, *exclude], force=force)
        choose_suffix(output, [".spacy"])
        if len({*models}) < len(models):
            raise ValueError("'models' should differ, but one is there several times.")
        pipelines = [load_trained(model) for model in models]
        first = pipelines[0]
        found, n_excluded = read_distinct(
            first,
            raw,
            exclude,
            lambda doc: compress(doc.to_bytes()),  # a Doc takes a hundred times as much
            take_sentences,
        )
        if not found:
            raise ValueError(f"'{raw}' should have texts to label, but none is left.")
        drawn = {*sorted(found)[: limit or len(found)]}
        texts = [text for key, text in found.items() if key in drawn]
        docs = (
            Doc(first.vocab).from_bytes(decompress(text))
            for text in show_progress(texts, "Labelling", unit="texts")
        )
        labelled, n_entities = DocBin(attrs=NER.attrs), 0
        for doc in label_entities(pipelines, docs):
            labelled.add(doc)
            n_entities += len(doc.ents)
        with replacing(output) as path:
            labelled.to_disk(path)
    msg.good(
        f"Saved {len(labelled):,} texts with {n_entities:,} entities to {output}, "
        f"labelled by {len(models)} pipelines"
    )
    if exclude:
        msg.text(f"Left out {n_excluded:,} texts that stand in --exclude")
    if find_descriptor(output) is None:
        folder = quote(str(output.parent))
        msg.text("With your training file beside it, and no other in that folder:")
        show_commands(
            f"spacy hashembeds config base.cfg -o both.cfg --train {folder}",
            f"spacy train both.cfg --output training/both --paths.train {folder} "
            "--paths.dev DEV.spacy",
        )
