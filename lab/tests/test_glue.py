"""GLUE: files, metrics compared with figures computed by hand, and regression."""

import math
from pathlib import Path

import pytest
import spacy
from scipy.stats import pearsonr
from spacy.training import Example
from thinc.api import fix_random_seed

from lab.corpora.glue import GLUE, read_glue
from lab.glue import LABELS, METRICS, score_glue


def write_rows(path: Path, task: str, *rows: tuple[list[str], str]) -> Path:
    """Write a file like the published ones. MRPC has a byte order mark and CRLF."""
    layout = GLUE[task]
    names = layout.columns or ("id", *layout.sentences, layout.gold)
    lines = [] if layout.columns else ["\t".join(names)]
    for sentences, gold in rows:
        row = dict.fromkeys(names, "1")
        filled = (*layout.sentences, layout.gold)
        row |= dict(zip(filled, (*sentences, gold), strict=True))
        lines.append("\t".join(row[name] for name in names))
    mark, end = ("\ufeff", "\r\n") if task == "mrpc" else ("", "\n")
    path.write_bytes((mark + "".join(line + end for line in lines)).encode("utf8"))
    return path


@pytest.mark.parametrize(
    ("task", "gold", "values"),
    [
        *(("cola", "0", [1, 0]), ("cola", "1", [0, 1]), ("sst2", "1", [0, 1])),
        *(("mrpc", "1", [0, 1]), ("qqp", "0", [1, 0]), ("wnli", "1", [0, 1])),
        *(("stsb", "3.800", [0.76]), ("stsb", "0.000", [0]), ("stsb", "5", [1])),
        ("mnli", "neutral", [0, 1, 0]),
        ("qnli", "entailment", [0, 1]),
        ("rte", "not_entailment", [1, 0]),
    ],
)
def test_a_row_has_its_sentences_and_its_label(task, gold, values, tmp_path):
    sentences = ['It "was" so.', "Was it?"][: len(GLUE[task].sentences)]
    path = write_rows(tmp_path / "train.tsv", task, (sentences, gold))
    (labelled,) = read_glue(path, task)
    assert labelled.text == "\n".join(sentences)
    assert list(labelled.cats) == list(LABELS[task])
    assert list(labelled.cats.values()) == pytest.approx(values)
    path = write_rows(path, task, (sentences, "5.1"))
    with pytest.raises(ValueError, match=rf"train\.tsv:\d: .*{GLUE[task].gold}"):
        list(read_glue(path, task))


def test_broken_questions_are_skipped_and_counted(tmp_path):
    row = (["What is a?", "Why b?"], "1")
    path = write_rows(tmp_path / "train.tsv", "qqp", row, (["", "b?"], "0"))
    with path.open("a") as file:
        file.write("7\tWhat is\n a?\tWhy b?\t0\n")
    with pytest.warns(UserWarning, match=r"train\.tsv: 3 lines .* first line 3\."):
        texts = [labelled.text for labelled in read_glue(path, "qqp")]
    assert texts == ["What is a?\nWhy b?"]


# Metrics

NLP = spacy.blank("en")


def make_example(gold: dict, predicted: dict) -> Example:
    example = Example(NLP.make_doc("a b"), NLP.make_doc("a b"))
    example.reference.cats, example.predicted.cats = gold, predicted
    return example


@pytest.mark.parametrize("task", [task for task in LABELS if len(LABELS[task]) == 2])
def test_metrics_of_two_classes(task):
    negative, positive = LABELS[task]
    pairs = [(1, 1)] * 3 + [(1, 0)] + [(0, 1)] * 3 + [(0, 0)] * 4  # gold and found
    # in reverse order, since pipelines may order labels differently
    predicted = [{positive: 0.3 + 0.3 * found, negative: 0.5} for _, found in pairs]
    golds = [{negative: 1.0 - gold, positive: float(gold)} for gold, _ in pairs]
    examples = [*map(make_example, golds, predicted)]
    by_hand = {
        "accuracy": 7 / 11,
        "f1": 6 / (6 + 1 + 3),
        "matthews": (3 * 4 - 3 * 1) / math.sqrt(6 * 4 * 7 * 5),
    }
    names = METRICS[task]
    first = {"cola": "matthews", "qqp": "f1"}.get(task, "accuracy")
    expected = {f"glue_{name}": by_hand[name] for name in names}
    scores = score_glue(examples, task)
    assert scores == pytest.approx({**expected, "glue_score": by_hand[first]})
    with pytest.raises(ValueError, match="'stsb'"):
        score_glue(examples, "stsb")


def test_metrics_of_similarity():
    golds, found = [0.0, 0.2, 0.4, 1.0], [0.1, 0.3, 0.2, 0.9]
    both = zip(golds, found, strict=True)
    pairs = [[{"similarity": value} for value in pair] for pair in both]
    scores = score_glue([make_example(*pair) for pair in pairs], "stsb")
    spearman = 1 - 6 * 2 / (4 * 15)
    assert scores["glue_score"] == scores["glue_spearman"] == pytest.approx(spearman)
    assert scores["glue_pearson"] == pytest.approx(pearsonr(golds, found).statistic)
    alike = score_glue([make_example(*pairs[0])] * 2, "stsb")
    assert alike["glue_score"] == 0


def test_numbers_between_0_and_1_are_learned():
    """Each text has the share of its words that are "good"."""
    shares = {"bad bad bad bad": 0.0, "bad bad good bad": 0.25}
    shares |= {"good bad bad good": 0.5, "good good good good": 1.0}
    fix_random_seed(0)
    nlp = spacy.blank("en")
    model = {"@architectures": "spacy.TextCatBOW.v3", "exclusive_classes": False}
    model |= {"ngram_size": 1, "length": 1000, "no_output_layer": False}
    nlp.add_pipe("text_regressor", config={"model": model})
    examples = [
        Example.from_dict(nlp.make_doc(text), {"cats": {"goodness": value}})
        for text, value in shares.items()
    ]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.05
    for _ in range(150):
        nlp.update(examples, sgd=optimizer)
    found = [doc.cats["goodness"] for doc in nlp.pipe(shares)]
    assert found == pytest.approx(list(shares.values()), abs=0.12)
