"""The options of commands that read IOB files."""

from spacy.cli._util import Opt

SEPARATOR = Opt(
    None,
    "--separator",
    help=r"What stands between the columns of IOB files, e.g. '\t'. Default: any white "
    "space.",
)

WORD_COLUMN = Opt(
    0,
    "--word-column",
    help="The column of the token in IOB files, from 0; -1 is the last.",
)

TAG_COLUMN = Opt(
    -1, "--tag-column", help="The column of the entity tag in IOB files, likewise."
)

ENCODING = Opt("utf-8", "--encoding", help="The encoding of IOB files.")

GROUP = Opt(
    "sentence",
    "--group",
    help="What becomes one document of an IOB file: each 'sentence', or each "
    "'document', told apart by -DOCSTART- lines.",
)
