"""Word vectors that floret trains and spaCy reads."""

from itertools import chain

import floret
import numpy as np
import spacy
from spacy.training.initialize import convert_vectors

from lab.corpora.demo import make_demo_corpus
from lab.tests.calling import call, check_failure, squeeze, succeed

#: Values that differ from the defaults, by options, with the names of floret.
SETTINGS = {
    **{"dim": ("dim", 8), "bucket": ("bucket", 500), "hash-count": ("hashCount", 3)},
    **{"minn": ("minn", 2), "maxn": ("maxn", 4), "min-count": ("minCount", 2)},
    "epochs": ("epoch", 3),
}
#: Text exports have five digits. This is half of the last digit of numbers up to 10.
PRECISION = 5e-5
UNSEEN = ["Zyxwvu", "appletrees", "ox", "x", "<", "naïve", "😀😀", "Ünïcödé"]


def test_vectors_in_spacy_equal_those_of_floret(tmp_path):
    text, output = tmp_path / "text.txt", tmp_path / "new" / "demo.floret"
    lines = (" ".join(doc[0].words) for doc in make_demo_corpus()["train"])
    text.write_text("\n".join(lines) + "\n", encoding="utf8")
    options = [(f"--{name}", value) for name, (_, value) in SETTINGS.items()]
    result = succeed("floret", text, "-o", output, *chain(*options))
    check_failure(call("floret", text, "-o", output, "--minn", 1), "'minn'")
    # train the same vectors with floret
    settings = dict(SETTINGS.values())
    trained = floret.train_unsupervised(
        str(text), mode="floret", thread=1, verbose=0, **settings
    )
    words, frequencies = trained.get_words(include_freq=True)
    assert words[0] == "</s>"
    assert not set(UNSEEN) & set(words)
    nlp = spacy.blank("en")
    convert_vectors(nlp, output, truncate=0, prune=-1, mode="floret")
    for word in words[1:] + UNSEEN:
        found, expected = nlp.vocab[word].vector, trained.get_word_vector(word)
        np.testing.assert_allclose(found, expected, rtol=0, atol=PRECISION)
    vectors = np.array([trained.get_word_vector(word) for word in words])
    assert np.linalg.norm(vectors, axis=1).min() > 100 * PRECISION
    printed = squeeze(result.output)
    n_tokens = frequencies[1:].sum()
    assert f"Trained on {n_tokens:,} tokens of {len(words) - 1:,} words" in printed
    assert f"Saved 500 rows of 8 to {output}" in printed
