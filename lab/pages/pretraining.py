"""Draw pretraining.png: the loss of pretraining, from the logs in pretraining/.

    python -m lab.pages.pretraining

Each is the `log.jsonl` of `spacy pretrain`, under the name that it has in the picture.
"""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

from lab.figures import make_panels

FOLDER = Path(__file__).with_name("pretraining")
PICTURE = Path(__file__).parents[2] / "docs" / "pretraining.png"

#: The loss of who knows nothing but how many tokens are intact, shuffled and random.
GUESS = -sum(share * math.log(share) for share in (0.81, 0.1, 0.09))

NAMES = {
    "pretrain_ner": "hash embeddings of four attributes",
    "pretrain_lsh_proj": "LSH codes, projected",
}
COLORS = ("#1b3a57", "#c8701a", "#3f7f4f", "#8a4f9e", "#5b8db8")

#: Words seen so far, in millions, and the loss of a word since the last point, in nats.
Curve = Sequence[tuple[float, float]]


def read_curve(path: Path) -> Curve:
    """Read the loss from a log, whose numbers are sums since pretraining began.

    Of a log that several runs were written to, those count that went on from where
    another ended (`--resume-path`), and else the last.
    """
    curve: list[tuple[float, float]] = []
    before, words_before, loss_before = 0, 0, 0.0
    for line in path.read_text(encoding="utf8").splitlines():
        record = json.loads(line)
        words, loss = record["nr_word"], record["loss"]
        if words < words_before:
            is_new = record["epoch"] == 0
            before = 0 if is_new else before + words_before
            curve = [] if is_new else curve
            words_before, loss_before = 0, 0.0
        if words > words_before:  # the record of model-last repeats the one before
            per_word = (loss - loss_before) / (words - words_before)
            curve.append(((before + words) / 1e6, per_word))
        words_before, loss_before = words, loss
    return curve


def read_curves(folder: Path = FOLDER) -> dict[str, Curve]:
    """Read all logs of a folder, by their names."""
    return {path.stem: read_curve(path) for path in sorted(folder.glob("*.jsonl"))}


def draw_curves(curves: Mapping[str, Curve], path: Path = PICTURE) -> None:
    """Draw the loss by how many words have been seen."""
    figure, (panel,) = make_panels(1, 1, 5.2, 3.6)
    for (name, curve), color in zip(curves.items(), COLORS, strict=False):
        words, losses = zip(*_drop_short(curve), strict=True)
        shown = NAMES.get(name, name)
        panel.plot(words, losses, label=shown, color=color, linewidth=1.2)
    panel.axhline(GUESS, color="grey", linestyle="--", linewidth=1)
    label = {"color": "grey", "fontsize": 8, "ha": "right", "va": "bottom"}
    place = panel.get_yaxis_transform()  # from left to right a share of the panel
    panel.text(0.99, GUESS, "knowing the shares alone", transform=place, **label)
    panel.set_title("Telling shuffled and random words from intact ones", fontsize=10)
    panel.set_xlabel("Words seen (million)")
    panel.set_ylabel("Loss of a word (nats)")
    panel.grid(visible=True, alpha=0.3)
    panel.legend(frameon=False)
    figure.savefig(path, dpi=150, facecolor="white")


def _drop_short(curve: Curve) -> Curve:
    """Leave out losses of few words, as those before a model is saved: mere noise."""
    gaps = [
        words - before for (before, _), (words, _) in pairwise([(0.0, 0.0), *curve])
    ]
    usual = median(gaps)
    return [point for point, gap in zip(curve, gaps, strict=True) if gap > usual / 2]


if __name__ == "__main__":
    found = read_curves()
    draw_curves(found)
    sys.stdout.write(f"Drew {PICTURE} from {len(found)} logs\n")
