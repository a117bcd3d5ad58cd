"""The parameters of embeddings: by the paper's formulas, and as it prints them."""

import math
from dataclasses import dataclass

from ..printed import get_printed
from ..tables import TextTable
from .layouts import PAPER

#: What the models have in common: the width, and the bits of a hash.
WIDTH, BITS = 768, 128


@dataclass(frozen=True, kw_only=True)
class Count:
    """How many rows of numbers, each as wide as the model, an embedding has.

    name (str): The model.
    formula (str): How the paper counts its rows.
    rows (int): The rows by this formula.
    key (str): The model in table 2.
    """

    name: str
    formula: str
    rows: int
    key: str

    @property
    def parameters(self) -> int:
        """The parameters by the formula."""
        return self.rows * WIDTH

    def find_printed_rows(self) -> range:
        """Find the numbers of rows that the printed figure may stand for.

        Below a million it is printed to a tenth of a thousand, and above to one of a
        million.
        """
        millions = self.printed
        half = 50 if millions < 1 else 50_000
        low, high = (millions * 1e6 + sign * half for sign in (-1, 1))
        return range(math.ceil(low / WIDTH), math.floor(high / WIDTH) + 1)

    @property
    def printed(self) -> float:
        """The parameters as table 2 prints them, in millions."""
        printed = get_printed(2, self.key, "embedding", PAPER)
        assert printed is not None
        return printed.mean


#: Equations 9 to 15. Pool cuts the bits to chunks of 10.
COUNTS = (
    Count(name="BERT", formula="|V|", rows=50_000, key="lsh_emb_50k"),
    Count(name="CANINE-C", formula="hash buckets", rows=16_000, key="canine_c"),
    Count(name="ProFormer", formula="bits of its hash", rows=420, key="proformer"),
    Count(name="Emb (50K)", formula="N", rows=50_000, key="lsh_emb_50k"),
    Count(name="Emb (1K)", formula="N", rows=1000, key="lsh_emb_1k"),
    Count(
        name="Pool",
        formula="⌈T/k⌉ + 2^k",
        rows=math.ceil(BITS / 10) + 2**10,
        key="lsh_pool",
    ),
    Count(name="Add", formula="2 T", rows=2 * BITS, key="lsh_add"),
    Count(name="Proj", formula="T", rows=BITS, key="lsh_proj"),
)


def make_count_table() -> TextTable:
    """Set the parameters of embeddings by formula beside those printed."""
    return TextTable(
        title="Embedding parameters (appendix B)",
        caption=(
            f"Rows of {WIDTH} numbers by equations 9 to 15, with T = {BITS} and k = "
            "10; the parameters that these are; those that table 2 prints; and how "
            "many rows the printed figure can stand for."
        ),
        headings=("Model", "Rows", "By formula", "Parameters", "Printed", "As rows"),
        rows=[_make_row(count) for count in COUNTS],
        notes=[
            "Pool, Add and Proj are printed with a row more than their formulas. It "
            "may be the vector that the authors' public code adds to every token.",
            "N is not quite what its names say: 797.2K are 1,038 rows, as many as "
            "Pool's, and the public code hashes tokens to 50,260. |V| has to be nearly "
            "as many, or PCR (Emb) of Emb (50K) would not be 0.0.",
            "Our layers have the parameters of the formulas: T d for Proj, 2 T d for "
            "Add, and (⌈T/k⌉ + 2^k) d for Pool.",
            "A total counts all that is trained, the classifier of two classes among "
            "it. An embedding counts neither special tokens nor positions.",
        ],
    )


def _make_row(count: Count) -> tuple[str, ...]:
    rows = count.find_printed_rows()
    is_exact = len(rows) == 1
    millions = count.printed
    return (
        count.name,
        count.formula,
        f"{count.rows:,}",
        f"{count.parameters:,}",
        f"{millions:g}M" if millions >= 1 else f"{1000 * millions:g}K",
        f"{rows[0]:,}" if is_exact else f"{rows[0]:,} to {rows[-1]:,}",
    )
