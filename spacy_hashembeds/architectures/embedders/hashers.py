"""What a `HashFormerEmbed` hashes words by."""

from collections.abc import Sequence

from numpy.typing import NDArray
from thinc.api import Model

from ...checks import check_choice, check_integers
from ...layers import lshhasher, md5hasher
from ...layers.hasher import FORMS

Hasher = Model[Sequence[str], NDArray]


def MD5Hasher(*, key: str | None = None, form: str | None = None) -> Hasher:
    """Hash words by MD5, to 128 bits: similar ones have nothing in common.

    With `EmbCompressor` the digest modulo the number of rows is the word's row.

    key (str, optional): Hash by HMAC-MD5 with this key, as UTF-8, 1 to 1,000
        characters. Who does not know it can't make up words that share a row. It
        stands in the config, and is saved with the weights. The authors' code has "en".
    form (str, optional): The Unicode form that words are hashed in: "NFC", "NFD",
        "NFKC" or "NFKD". The text of Docs stays what it is. Take "NFC" where the same
        letter may come in one character or in two. Words of more than 1,000 characters
        are brought into it in parts of so many.

    Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
    Transformers" (2022), §3.2, whose printed digests are of other words.
    """
    _check_form(form)
    if key is not None and not md5hasher.is_key(key):
        raise ValueError(
            f"'key' should be text of 1 to {md5hasher.MAX_KEY} characters, or null, "
            f"but is {key!r:.80}."
        )
    return md5hasher.MD5Hasher(key=key, form=form)


def LSHHasher(
    *,
    num_bits: int = 128,
    ngram_size: int = 4,
    max_ngrams: int | None = 50_000,
    seed: int = 0,
    form: str | None = None,
) -> Hasher:
    """Hash words by their character n-grams: similar ones have most bits in common.

    A misspelt word is mostly embedded near the right one, and an inflected one near its
    lemma. Each bit says on which side of a random hyperplane the word lies, in a space
    of all n-grams. With `EmbCompressor`, a word's row is the nearest of as many random
    vectors: a slow search, and one row for words that differ in little. A word of which
    no n-gram counts has all bits set. Of a word, 4,000 / `ngram_size` characters count.

    num_bits (int): How many bits there are, 1 to 4096. The paper has 128, as MD5.
        Parameters of `AddCompressor` and `ProjCompressor` grow with it. `EmbCompressor`
        has no use for it.
    ngram_size (int): How many characters an n-gram has at most, 1 to 100: shorter ones
        are read too, each as often as it is in the word. The paper has 4.
    max_ngrams (int, optional): How many n-grams count, as in the paper: the most
        frequent ones of the training corpus. A callback counts them
        (`[initialize.before_init]` with `@callbacks =
        "spacy-hashembeds.count_character_ngrams.v1"`), and they are saved with the
        weights, 8 bytes each. If null, any n-gram counts.
    seed (int): Other seeds are other hyperplanes. It is saved with the weights.
    form (str, optional): As for `MD5Hasher`.

    Source: Xue and Aletras (2022), §3.3 and §3.5. N-grams are the paper's; the authors'
    code has pieces of RoBERTa's vocabulary instead, weighted by the lengths of words.
    """
    _check_form(form)
    check_integers(1, lshhasher.MAX_BITS, num_bits=num_bits)
    check_integers(1, lshhasher.MAX_NGRAM_SIZE, ngram_size=ngram_size)
    check_integers(0, 2**64 - 1, seed=seed)
    if max_ngrams is not None:
        check_integers(1, max_ngrams=max_ngrams)
    return lshhasher.LSHHasher(
        num_bits=num_bits,
        ngram_size=ngram_size,
        max_ngrams=max_ngrams,
        seed=seed,
        form=form,
    )


def _check_form(form: str | None) -> None:
    if form is not None:
        check_choice(FORMS, form=form)
