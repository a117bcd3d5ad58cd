"""Ablation of a trained BiLSTM encoder: the recall of chunk tags by each part alone, as
in table 5 of Li, Fu and Ma, "Why Attention?" (2020).
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.pipeline import Tok2Vec
from thinc.api import Model

from spacy_hashembeds.papers.why_attention import bilstm, selfattention
from spacy_hashembeds.thinc_internals import get_forward
from spacy_hashembeds.tools.display import Table
from spacy_hashembeds.tools.evaluate.evaluate import evaluate
from spacy_hashembeds.tools.evaluate.tables import show_score

from .weights import AttentionWeights


def ablate(
    nlp: Language, corpus: Path, against: Language | None, *, show_progress: bool
) -> dict[str, Any]:
    """Return the recall of chunk tags of a pipeline, its parts, and another pipeline.

    The pipeline is changed in place.
    """
    layer = find_layer(nlp)
    wrapper: Model = Model("keep_columns", keep_columns, layers=[layer])
    score = partial(evaluate, task="ner", samples=1, show_progress=show_progress)
    evaluation = score(nlp, corpus, against=against)
    chunks = evaluation["chunks"]
    for name, component in nlp.pipeline:
        model = getattr(component, "model", None)
        if isinstance(component, AttentionWeights):  # fails with the wrapper
            nlp.disable_pipe(name)
        elif isinstance(model, Model):
            model.replace_node(layer, wrapper)
    alone = {}
    for part, columns in find_part_columns(layer).items():
        wrapper.attrs["columns"] = columns
        alone[part] = score(nlp, corpus)["chunks"]
    for tag, chunk in chunks.items():
        chunk["parts"] = {part: found[tag]["recall"] for part, found in alone.items()}
    setting = {"test": str(corpus), "parts": [*alone]}
    return {"setting": setting, "chunks": chunks, "warnings": evaluation["warnings"]}


def keep_columns(model: Model, X: Any, is_train: bool) -> tuple[Any, Callable]:
    """Run the wrapped layer, and set all columns to 0 except `columns`."""
    whole, backprop = model.layers[0](X, is_train)
    columns = model.attrs["columns"]
    Ys = [model.ops.xp.zeros_like(Y) for Y in whole]
    for Y, each in zip(Ys, whole, strict=True):
        Y[:, columns] = each[:, columns]
    return Ys, backprop


def summarize(data: Mapping[str, Any]) -> list[Table]:
    """Tabulate the difference between the recall of each part and of the whole."""
    rows = []
    for tag, chunk in data["chunks"].items():
        recall, found = chunk["recall"], (*chunk["parts"].values(), chunk["other"])
        changes = ["-" if x is None else f"{(x - recall) * 100:+.2f}" for x in found]
        rows.append((tag, show_score(recall), *changes))
    legend = "difference in recall, with zeros in place of all other parts"
    header = ("Tag", "R", *data["setting"]["parts"], "Other")
    return [Table("Parts of the encoder alone", legend, header, rows)]


def find_layer(nlp: Language) -> Model:
    """Return the last layer of a pipeline's only BiLSTM encoder."""
    layers = [
        layer
        for _, component in nlp.pipeline
        # `replace_listeners` leaves encoders without listeners
        if not isinstance(component, Tok2Vec) or component.listeners
        for layer in _find_layers(getattr(component, "model", None))
    ]
    if len(layers) != 1:
        raise ValueError(
            "The pipeline should have one BiLSTM encoder, such as "
            f"spacy-hashembeds.AttBiLSTMEncoder.v1, but has {len(layers)}."
        )
    return layers[0]


def _find_layers(model: Any) -> list[Model]:
    nodes = list(model.walk()) if isinstance(model, Model) else []
    attending = [x for x in nodes if get_forward(x) is selfattention.forward]
    # the output of an attention layer replaces that of the LSTMs below
    return attending or [x for x in nodes if get_forward(x) is bilstm.forward]


def find_part_columns(layer: Model) -> dict[str, slice]:
    """Return the columns of each part in the layer's output. See lab/README.md."""
    nO = layer.get_dim("nO")
    if get_forward(layer) is bilstm.forward:
        forward, backward = bilstm.DIRECTIONS
        return {forward: slice(0, nO // 2), backward: slice(nO // 2, nO)}
    nI, n_heads = layer.get_dim("nI"), layer.attrs["num_heads"]
    width = nI // n_heads
    starts = range(nI, nI + n_heads * width, width)
    heads = {f"C{i}": slice(a, a + width) for i, a in enumerate(starts, start=1)}
    return {"H": slice(0, nI), "C": slice(nI, nO), **heads}
