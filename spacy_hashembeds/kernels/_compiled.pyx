# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The kernels of the C++ headers for numpy arrays, and a BLAS for C.

Shapes are checked here. Callers check the content of arrays.
"""

from cpython.pystate cimport PyThreadState

from libc.stdint cimport SIZE_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.vector cimport vector
from thinc.backends.cblas cimport CBlas, set_saxpy, set_sgemm, sgemm, sgemm_ptr

from os import urandom

import numpy as np


cdef extern from "Python.h":
    PyThreadState* PyEval_SaveThread()
    void PyEval_RestoreThread(PyThreadState*)


cdef extern from "mixing.h" nogil:
    cdef cppclass Mixing:
        const float* bias
        const float* scale
        const float* shift
        size_t nO
        size_t nP

    void c_finish_rows "finish_rows"(
        float* Y, const float* mixed, size_t n, Mixing m, cbool adds, float* best
    )
    void c_begin_rows "begin_rows"(
        float* Y, const float* mixed, uint8_t* which, float* X,
        float* inverse_deviations, size_t n, Mixing m
    )
    void c_backprop_rows "backprop_rows"(
        const float* dY, const uint8_t* which, const float* X,
        const float* inverse_deviations, size_t n, Mixing m, float* d_mixed,
        float* d_bias, float* d_scale, float* d_shift, float* d_best
    )


cdef extern from "rows.h" nogil:
    cdef cppclass Column:
        const unsigned long long* symbols
        unsigned int n_symbols
        unsigned int unk
        unsigned int seed
        unsigned int num_hashes
        unsigned int n_hashed
        unsigned int first_row

    size_t MAX_COLUMNS
    size_t MAX_HASHES


cdef extern from "distinct.h" nogil:
    cdef cppclass Map:
        const char* keys
        size_t n_words
        size_t n_bytes
        unsigned long long secret
        int64_t* firsts
        size_t n_distinct
        void reserve(size_t most_distinct) except +

    cbool c_find_distinct "find_distinct"(
        Map& map, size_t n, size_t most_distinct, size_t most_misses, int32_t* copies
    )


cdef extern from "folded.h" nogil:
    cdef cppclass FoldedColumn:
        Column rows
        const float* weights
        Column weight_rows
        cbool rehashes

    void c_embed_folded "embed_folded"(
        float* Y, const float* F, const FoldedColumn* columns, size_t n_columns,
        const unsigned long long* keys, size_t n_keys, size_t n, const float* beside,
        Mixing m, Map& map, int32_t* copies, float* mixed
    )


cdef extern from "subwords.h" nogil:
    ctypedef struct Ngrams:
        uint32_t seed
        size_t minn
        size_t maxn
        size_t num_hashes
        uint32_t n_rows

    size_t add_ngram_rows(
        vector[uint32_t]& rows, vector[size_t]& starts, const unsigned char* word,
        size_t n, Ngrams ngrams
    )


cdef extern from "windows.h" nogil:
    cbool c_copy_windows "copy_windows"(
        float* windows, const float* X, size_t n_rows, const int64_t* rows, size_t n,
        size_t width, size_t window_size
    )
    cbool c_add_windows "add_windows"(
        float* dX, const float* d_windows, size_t n_rows, const int64_t* rows, size_t n,
        size_t width, size_t window_size
    )


cdef extern from "convolution.h" nogil:
    size_t BLOCK
    size_t PACKED_LANES

    cdef cppclass Packed:
        const uint32_t* words
        const int32_t* begin
        const float* scales
        size_t n_outputs
        size_t n_neighbours
        size_t n_words

    cdef cppclass InstructionSet:
        const char* name
        size_t n_per_word
        cbool is_fast

    vector[InstructionSet] list_instruction_sets()
    void c_quantize_rows "quantize_rows"(
        uint32_t* words, float* scales, const float* X, size_t n, size_t width,
        size_t n_words
    )
    void c_round_rows "round_rows"(
        uint32_t* words, float* scales, const float* X, size_t n, size_t width,
        size_t n_words
    )
    cbool c_add_convolved "add_convolved"(
        float* Y, const float* X, size_t n_rows, const int64_t* rows, size_t n,
        Packed W, Mixing m, InstructionSet instructions, uint32_t* words, float* scales,
        float* mixed
    )


cdef extern from "sums.h" nogil:
    cbool c_gather_sums "gather_sums"(
        float* sums, const float* table, size_t n_rows, const uint32_t* rows, size_t n,
        size_t k, size_t width
    )
    cbool c_scatter_sums "scatter_sums"(
        float* d_table, const float* d_sums, size_t n_rows, const uint32_t* rows,
        size_t n, size_t k, size_t width
    )


cdef extern from "products.h" nogil:
    void c_multiply_rows "multiply_rows"(
        size_t M, size_t N, size_t K, float alpha, const float* A, size_t lda,
        const float* B, size_t ldb, float beta, float* C, size_t ldc
    )
    void c_add_multiple "add_multiple"(
        int n, float alpha, const float* X, int x, float* Y, int y
    )


cdef extern from "adam.h" nogil:
    cdef struct Adam:
        float beta1
        float beta2
        float eps
        float learn_rate
        float clip
        float decay
        float average

    void c_step_adam "step_adam"(
        Adam adam, float* weights, float* gradient, float* mom1, float* mom2,
        float* averages, size_t n
    )


cdef int require(bint holds) except -1:
    if not holds:
        raise ValueError("Arrays given to a compiled kernel don't fit each other.")
    return 0


# Kernels release the GIL only above this many numbers, some 60 microseconds: switching
# threads takes longer than embedding a short Doc. Slower kernels multiply the count.
cdef enum:
    MOST_LOCKED = 400_000


cdef PyThreadState* unlock(size_t n_numbers) noexcept:
    """Release the GIL until `lock` if the work is large."""
    return PyEval_SaveThread() if n_numbers > MOST_LOCKED else NULL


cdef void lock(PyThreadState* unlocked) noexcept:
    if unlocked is not NULL:
        PyEval_RestoreThread(unlocked)


# see compiled.py
INTERFACE = 11

cdef uint64_t SECRET = int.from_bytes(urandom(8), "little")


cdef Mixing describe_mixing(norm, size_t width) except *:
    """Describe a mixing.Norm, which must outlive the result."""
    cdef const float[::1] bias, scale, shift
    bias, scale, shift = norm
    cdef Mixing mixing
    cdef size_t nO = scale.shape[0]
    require(nO > 0 and <size_t>shift.shape[0] == nO)
    require(<size_t>bias.shape[0] == width and width > 0 and width % nO == 0)
    mixing.bias, mixing.scale, mixing.shift = &bias[0], &scale[0], &shift[0]
    mixing.nO, mixing.nP = nO, width // nO
    return mixing


def finish_rows(float[:, ::1] Y, const float[:, ::1] mixed, norm, bint adds):
    cdef Mixing mixing = describe_mixing(norm, mixed.shape[1])
    cdef vector[float] best
    cdef size_t n = Y.shape[0]
    require(<size_t>mixed.shape[0] == n and <size_t>Y.shape[1] == mixing.nO)
    best.resize(mixing.nO)
    cdef PyThreadState* unlocked = unlock(2 * n * mixed.shape[1])
    c_finish_rows(&Y[0, 0], &mixed[0, 0], n, mixing, adds, best.data())
    lock(unlocked)


def begin_rows(float[:, ::1] Y, const float[:, ::1] mixed, norm):
    cdef Mixing mixing = describe_mixing(norm, mixed.shape[1])
    cdef size_t n = Y.shape[0], nO = mixing.nO
    require(<size_t>mixed.shape[0] == n and <size_t>Y.shape[1] == nO)
    require(mixing.nP <= 256)  # indices of pieces are bytes
    cdef uint8_t[:, ::1] which = np.empty((n, nO), dtype="uint8")
    cdef float[:, ::1] X = np.empty((n, nO), dtype="float32")
    cdef float[::1] inverse_deviations = np.empty(n, dtype="float32")
    cdef PyThreadState* unlocked = unlock(3 * n * mixed.shape[1])
    c_begin_rows(
        &Y[0, 0], &mixed[0, 0], &which[0, 0], &X[0, 0], &inverse_deviations[0], n,
        mixing
    )
    lock(unlocked)
    return which.base, X.base, inverse_deviations.base


def backprop_rows(
    const float[:, ::1] dY,
    const uint8_t[:, ::1] which,
    const float[:, ::1] X,
    const float[::1] inverse_deviations,
    norm,
    gradients,
):
    cdef float[::1] d_bias, d_scale, d_shift
    d_bias, d_scale, d_shift = gradients
    cdef size_t n = dY.shape[0], width = d_bias.shape[0]
    cdef Mixing mixing = describe_mixing(norm, width)
    cdef size_t nO = mixing.nO
    require(<size_t>d_scale.shape[0] == nO and <size_t>d_shift.shape[0] == nO)
    require(<size_t>dY.shape[1] == nO)
    require(<size_t>which.shape[0] == n and <size_t>which.shape[1] == nO)
    require(<size_t>X.shape[0] == n and <size_t>X.shape[1] == nO)
    require(<size_t>inverse_deviations.shape[0] == n)
    cdef float[:, ::1] d_mixed = np.empty((n, width), dtype="float32")
    cdef vector[float] d_best
    d_best.resize(nO)
    cdef PyThreadState* unlocked = unlock(4 * n * width)
    c_backprop_rows(
        &dY[0, 0], &which[0, 0], &X[0, 0], &inverse_deviations[0], n, mixing,
        &d_mixed[0, 0], &d_bias[0], &d_scale[0], &d_shift[0], d_best.data()
    )
    lock(unlocked)
    return d_mixed.base


cdef tuple find_rows(
    const char* keys,
    size_t n,
    size_t n_words,
    size_t n_bytes,
    size_t most_distinct,
    size_t most_misses,
):
    """Find the distinct rows, or return None if a limit is exceeded."""
    require(n < 2**31)
    cdef int32_t[::1] copies = np.empty(n, dtype="int32")
    cdef int64_t[::1] firsts = np.empty(min(n, most_distinct + 1), dtype="int64")
    cdef Map rows
    cdef cbool found
    rows.reserve(firsts.shape[0])
    rows.keys, rows.firsts, rows.secret = keys, &firsts[0], SECRET
    rows.n_words, rows.n_bytes = n_words, n_bytes
    cdef PyThreadState* unlocked = unlock(3 * n * n_bytes)
    found = c_find_distinct(rows, n, most_distinct, most_misses, &copies[0])
    lock(unlocked)
    return (firsts.base[: rows.n_distinct], copies.base) if found else None


def find_distinct(const uint64_t[:, ::1] keys):
    require(keys.shape[0] > 0 and keys.shape[1] > 0)
    cdef size_t n = keys.shape[0], n_columns = keys.shape[1]
    cdef size_t n_bytes = 8 * n_columns
    return find_rows(<const char*>&keys[0, 0], n, n_columns, n_bytes, n, SIZE_MAX)


def find_equal_rows(const float[:, ::1] X, size_t most):
    require(X.shape[0] > 0 and X.shape[1] > 1)
    cdef size_t n = X.shape[0], n_bytes = X.shape[1] * sizeof(float)
    # the first four numbers distinguish most rows
    cdef size_t n_words = 2 if n_bytes >= 16 else 1
    most = min(most, n)
    return find_rows(<const char*>&X[0, 0], n, n_words, n_bytes, most, 4 * n)


cdef Column describe_column(finder, size_t n, size_t first_row, list held) except *:
    """Describe how n rows are found. Arrays that the result refers to are added to
    `held`.
    """
    cdef const uint64_t[::1] symbols
    cdef size_t n_symbols = 0
    cdef Column column
    symbols, column.unk, column.seed, column.num_hashes, column.n_hashed = finder
    if symbols is not None and symbols.shape[0] > 0:
        n_symbols = symbols.shape[0]
        require(<size_t>&symbols[0] % sizeof(uint64_t) == 0)
        column.symbols = <const unsigned long long*>&symbols[0]
        held.append(symbols)
    # only rows of the column may be found
    require(0 < column.num_hashes <= MAX_HASHES)
    if column.n_hashed > 0:
        require(n_symbols == 0 and column.n_hashed <= n)
    else:
        require(column.num_hashes == 1 and column.unk <= n_symbols < n)
    column.n_symbols, column.first_row = n_symbols, first_row
    return column


cdef class FoldedColumns:
    """Columns of keys whose rows are consecutive parts of folded tables.

    columns (list): For each column, the number of rows, the result of
        `rows.describe_finder`, and None or a tuple for its `rows.Weights`: the array,
        the result of `rows.describe_finder`, and `rehashes`.
    """

    cdef vector[FoldedColumn] columns
    cdef size_t n_rows, n_found
    cdef list held  # arrays that `columns` refers to

    def __init__(self, columns):
        cdef const float[:, ::1] table
        cdef FoldedColumn column
        cdef size_t n
        require(0 < len(columns) <= MAX_COLUMNS)
        self.n_rows, self.n_found, self.held = 0, 0, []
        self.columns.clear()
        for n, finder, weights in columns:
            column.rows = describe_column(finder, n, self.n_rows, self.held)
            column.weights, column.rehashes = <const float*>NULL, False
            if weights is not None:
                table, finder, column.rehashes = weights
                column.weight_rows = describe_column(finder, len(table), 0, self.held)
                # one weight per row
                require(<size_t>table.shape[1] == column.rows.num_hashes)
                column.weights = &table[0, 0]
                self.held.append(table)
            self.columns.push_back(column)
            self.n_rows += n
            self.n_found += column.rows.num_hashes


def embed_folded(
    const float[:, ::1] F,
    FoldedColumns columns not None,
    const uint64_t[:, ::1] keys,
    norm,
    const float[:, ::1] beside = None,
):
    cdef Mixing mixing = describe_mixing(norm, F.shape[1])
    cdef size_t n = keys.shape[0], n_keys = keys.shape[1]
    cdef size_t n_columns = columns.columns.size()
    cdef const float* others = NULL
    require(0 < n < 2**31)
    if beside is None:
        require(n_keys == n_columns)
    else:
        require(n_keys > n_columns)
        require(<size_t>beside.shape[0] == n and beside.shape[1] == F.shape[1])
        others = &beside[0, 0]
    require(columns.n_rows == <size_t>F.shape[0])
    if <size_t>&keys[0, 0] % sizeof(uint64_t):
        return None
    cdef float[:, ::1] Y = np.empty((n, mixing.nO), dtype="float32")
    cdef vector[int32_t] copies
    cdef vector[int64_t] firsts
    cdef vector[float] mixed
    cdef Map tokens
    tokens.reserve(n)
    copies.resize(n)
    firsts.resize(n)
    mixed.resize(F.shape[1])
    tokens.keys, tokens.firsts = <const char*>&keys[0, 0], firsts.data()
    tokens.secret, tokens.n_words, tokens.n_bytes = SECRET, n_keys, 8 * n_keys
    cdef PyThreadState* unlocked = unlock(n * columns.n_found * F.shape[1])
    c_embed_folded(
        &Y[0, 0], &F[0, 0], columns.columns.data(), n_columns,
        <const unsigned long long*>&keys[0, 0], n_keys, n, others, mixing, tokens,
        copies.data(), mixed.data()
    )
    lock(unlocked)
    return Y.base


def find_ngram_rows(
    list words, uint32_t seed, size_t minn, size_t maxn,
    size_t num_hashes, uint32_t n_rows
):
    cdef Ngrams ngrams = Ngrams(seed, minn, maxn, num_hashes, n_rows)
    cdef size_t i, n_words = len(words), n_bytes = 0
    cdef vector[const unsigned char*] texts
    cdef vector[size_t] sizes, starts
    cdef vector[uint32_t] rows
    cdef int64_t[::1] lengths = np.empty(n_words, dtype="int64")
    cdef bytes word
    require(0 < minn and 0 < num_hashes <= MAX_HASHES and n_rows > 0)
    for word in words:
        texts.push_back(word)
        sizes.push_back(len(word))
        n_bytes += len(word)
    cdef PyThreadState* unlocked = unlock(n_bytes * (maxn - minn + 1) * num_hashes)
    for i in range(n_words):
        lengths[i] = add_ngram_rows(rows, starts, texts[i], sizes[i], ngrams)
    lock(unlocked)
    cdef uint32_t[::1] found = np.empty(rows.size(), dtype="uint32")
    if rows.size() > 0:
        memcpy(&found[0], rows.data(), rows.size() * sizeof(uint32_t))
    return found.base, lengths.base


cdef int require_rows(cbool are_there, size_t n_rows) except -1:
    if not are_there:
        raise IndexError(f"Some rows, or their neighbours, are not among the {n_rows}.")
    return 0


def gather_sums(const float[:, ::1] table, const uint32_t[:, ::1] rows):
    cdef size_t n_rows = table.shape[0], width = table.shape[1]
    cdef size_t n = rows.shape[0], k = rows.shape[1]
    cdef cbool are_there
    cdef float[:, ::1] sums = np.empty((n, width), dtype="float32")
    require(k > 0 or n == 0)
    cdef PyThreadState* unlocked = unlock(n * k * width)
    are_there = c_gather_sums(
        &sums[0, 0], &table[0, 0], n_rows, &rows[0, 0], n, k, width
    )
    lock(unlocked)
    require_rows(are_there, n_rows)
    return sums.base


def scatter_sums(
    float[:, ::1] d_table, const uint32_t[:, ::1] rows, const float[:, ::1] d_sums
):
    cdef size_t n_rows = d_table.shape[0], width = d_table.shape[1]
    cdef size_t n = rows.shape[0], k = rows.shape[1]
    cdef cbool are_there
    require(<size_t>d_sums.shape[0] == n and <size_t>d_sums.shape[1] == width)
    cdef PyThreadState* unlocked = unlock(n * k * width)
    are_there = c_scatter_sums(
        &d_table[0, 0], &d_sums[0, 0], n_rows, &rows[0, 0], n, k, width
    )
    lock(unlocked)
    require_rows(are_there, n_rows)


def copy_windows(const float[:, ::1] X, const int64_t[::1] rows, size_t window_size):
    require(window_size < 2**31)
    cdef size_t n = rows.shape[0], n_rows = X.shape[0], width = X.shape[1]
    cdef cbool are_there
    cdef float[:, ::1] windows = np.empty(
        (n, (2 * window_size + 1) * width), dtype="float32"
    )
    cdef PyThreadState* unlocked = unlock(n * windows.shape[1])
    are_there = c_copy_windows(
        &windows[0, 0], &X[0, 0], n_rows, &rows[0], n, width, window_size
    )
    lock(unlocked)
    require_rows(are_there, n_rows)
    return windows.base


def add_windows(
    float[:, ::1] dX,
    const int64_t[::1] rows,
    size_t window_size,
    const float[:, ::1] d_windows,
):
    require(window_size < 2**31)
    cdef size_t n = rows.shape[0], n_rows = dX.shape[0], width = dX.shape[1]
    cdef cbool are_there
    require(<size_t>d_windows.shape[0] == n)
    require(<size_t>d_windows.shape[1] == (2 * window_size + 1) * width)
    cdef PyThreadState* unlocked = unlock(n * d_windows.shape[1])
    are_there = c_add_windows(
        &dX[0, 0], &d_windows[0, 0], n_rows, &rows[0], n, width, window_size
    )
    lock(unlocked)
    require_rows(are_there, n_rows)


#: Number of outputs that are packed together.
LANES = PACKED_LANES

cdef vector[InstructionSet] SETS = list_instruction_sets()

cdef dict PRECISIONS = {4: "int8", 2: "bfloat16", 1: "float32"}

#: Instruction sets for products, fastest first: name, precision, and whether products
#: are faster than numpy's in float32.
INSTRUCTION_SETS = [
    (SETS[i].name.decode(), PRECISIONS[SETS[i].n_per_word], SETS[i].is_fast)
    for i in range(<Py_ssize_t>SETS.size())
]


def encode_rows(const float[:, ::1] X, bint is_int8):
    cdef size_t n = X.shape[0], width = X.shape[1]
    cdef size_t n_words = (width + 3) // 4 if is_int8 else (width + 1) // 2
    cdef uint32_t[:, ::1] words = np.empty((n, n_words), dtype="uint32")
    cdef float[::1] scales = np.empty(n, dtype="float32")
    if n > 0 and width > 0 and is_int8:
        c_quantize_rows(&words[0, 0], &scales[0], &X[0, 0], n, width, n_words)
    elif n > 0 and width > 0:
        c_round_rows(&words[0, 0], &scales[0], &X[0, 0], n, width, n_words)
    return words.base, scales.base


def add_convolved(
    float[:, ::1] Y,
    const float[:, ::1] X,
    const int64_t[::1] rows,
    const uint32_t[:, :, ::1] words,
    const int32_t[:, ::1] begin,
    const float[::1] scales,
    norm,
    size_t instructions,
):
    cdef Mixing mixing = describe_mixing(norm, norm.bias.shape[0])
    cdef Packed W
    cdef size_t n = Y.shape[0], n_rows = X.shape[0]
    cdef vector[uint32_t] row_words
    cdef vector[float] row_scales, mixed
    cdef cbool are_there
    require(instructions < SETS.size() and n_rows < 2**31)
    cdef InstructionSet chosen = SETS[instructions]
    W.n_outputs, W.n_neighbours = scales.shape[0], begin.shape[0]
    W.n_words = (mixing.nO + chosen.n_per_word - 1) // chosen.n_per_word
    require(W.n_neighbours % 2 == 1 and mixing.nO < 2**15)
    require(W.n_outputs % PACKED_LANES == 0 and mixing.nP * mixing.nO <= W.n_outputs)
    require(<size_t>begin.shape[1] == W.n_outputs)
    require(<size_t>words.shape[0] * PACKED_LANES == W.n_outputs)
    require(<size_t>words.shape[1] == W.n_neighbours * W.n_words)
    require(<size_t>words.shape[2] == PACKED_LANES)
    require(<size_t>rows.shape[0] == n and <size_t>Y.shape[1] == mixing.nO)
    require(<size_t>X.shape[1] == mixing.nO)
    if n == 0:
        return
    W.words, W.begin, W.scales = &words[0, 0, 0], &begin[0, 0], &scales[0]
    row_words.resize(n_rows * W.n_words if chosen.n_per_word > 1 else 0)
    row_scales.resize(n_rows)
    mixed.resize(min(n, BLOCK) * W.n_outputs)
    cdef PyThreadState* unlocked = unlock(2 * n * words.shape[0] * words.shape[1])
    are_there = c_add_convolved(
        &Y[0, 0], &X[0, 0], n_rows, &rows[0], n, W, mixing, chosen, row_words.data(),
        row_scales.data(), mixed.data()
    )
    lock(unlocked)
    require_rows(are_there, n_rows)


def step_adam(
    float[::1] weights,
    float[::1] gradient,
    float[::1] mom1,
    float[::1] mom2,
    float[::1] averages,
    Adam adam,
):
    cdef Py_ssize_t n = weights.shape[0]
    require(n > 0 and gradient.shape[0] == n)
    require(mom1.shape[0] == n and mom2.shape[0] == n)
    require(averages is None or averages.shape[0] == n)
    cdef float* averages_or_null = NULL
    if averages is not None:
        averages_or_null = &averages[0]
    cdef PyThreadState* unlocked = unlock(2 * n)
    c_step_adam(
        adam, &weights[0], &gradient[0], &mom1[0], &mom2[0], averages_or_null, n
    )
    lock(unlocked)


# A BLAS for callers in C: see products.h.

cdef sgemm_ptr other_sgemm = NULL


cdef void call_sgemm(
    bint transA, bint transB, int M, int N, int K, float alpha, const float* A, int lda,
    const float* B, int ldb, float beta, float* C, int ldc
) noexcept nogil:
    if transA or not transB:
        other_sgemm(transA, transB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc)
    else:
        c_multiply_rows(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc)


cdef void call_saxpy(
    int N, float alpha, const float* X, int incX, float* Y, int incY
) noexcept nogil:
    c_add_multiple(N, alpha, X, incX, Y, incY)


def make_cblas():
    global other_sgemm
    cdef CBlas cblas = CBlas()
    other_sgemm = sgemm(cblas)
    set_sgemm(cblas, call_sgemm)
    set_saxpy(cblas, call_saxpy)
    return cblas
