"""`attention_weights`: a component that keeps what an encoder attended to."""

from collections.abc import Iterable, Iterator

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from ..architectures.encoders.heads import find_attending, read_attention

EXTENSION = "attention_weights"


@Language.factory("attention_weights", assigns=[f"doc._.{EXTENSION}"])
def make_attention_weights(nlp: Language, name: str) -> "AttentionWeights":
    """Build the component `attention_weights`: see `AttentionWeights`."""
    return AttentionWeights(nlp, name)


class AttentionWeights:
    """Keeps in `doc._.attention_weights` what encoders of the pipeline attended to.

    That is a dict: by the name of each component with an `AttBiLSTMEncoder` an array of
    shape `(num_heads, tokens, tokens)`, as `read_attention` tells. Embedding and LSTMs
    run once more for it, so it is for looking at a pipeline, and no part of one in
    service: `nlp.add_pipe("attention_weights")` where it is wanted. Memory grows with
    the square of a Doc's length.

    RAISES (ValueError): Once it is called, if no component has such an encoder, or if
        it was taken from another pipeline.
    """

    def __init__(self, nlp: Language, name: str) -> None:
        self.nlp, self.name = nlp, name
        if not Doc.has_extension(EXTENSION):
            Doc.set_extension(EXTENSION, default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Keep the weights of one Doc."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Keep the weights of many Docs."""
        for docs in minibatch(stream, size=batch_size):
            if any(doc.vocab is not self.nlp.vocab for doc in docs):
                raise ValueError(
                    f"The component '{self.name}' knows the encoders of another "
                    "pipeline. Don't take it from there (source=...): add a new one, "
                    "nlp.add_pipe('attention_weights')."
                )
            attending = find_attending(self.nlp)
            if not attending:
                raise ValueError(
                    f"The component '{self.name}' needs one with an encoder that "
                    "attends, spacy-hashembeds.AttBiLSTMEncoder.v1, but the pipeline "
                    f"has none: {', '.join(self.nlp.pipe_names)}."
                )
            found = {name: read_attention(attending[name], docs) for name in attending}
            for i, doc in enumerate(docs):
                doc._.set(EXTENSION, {name: found[name][i] for name in found})
                yield doc
