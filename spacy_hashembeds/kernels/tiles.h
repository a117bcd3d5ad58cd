// Products of rows with packed weights by one instruction set. convolution.h includes this
// file in one namespace per instruction set, with these macros:
//
// VECTOR_LANES     numbers of 32 bits per vector
// TARGET           target attribute of functions
// SUMS             Ints or Floats
// DOT(sums, x, w)  adds the products of the numbers in each word to each sum

typedef int32_t Ints __attribute__((vector_size(4 * VECTOR_LANES), aligned(4), may_alias));
typedef float Floats __attribute__((vector_size(4 * VECTOR_LANES), aligned(4), may_alias));

// Multiply a tile of rows with vectors of outputs. All sums stay in registers.
//
// Sums of integers are exact. The sums of neighbors, which have different scales, are
// added as floats, in order.
template <int ROWS, int VECTORS>
TARGET static inline __attribute__((always_inline)) void multiply_tile(
    float* Y, const Words& X, const int64_t* rows, const Packed& W, size_t output) {
    Floats sums[ROWS][VECTORS] = {};
    const uint32_t* weights[VECTORS];
    for (int v = 0; v < VECTORS; ++v) weights[v] = W.find(output + v * VECTOR_LANES);
    for (size_t neighbour = 0; neighbour < W.n_neighbours; ++neighbour) {
        const int64_t offset = (int64_t)neighbour - (int64_t)(W.n_neighbours / 2);
        const int32_t* begin = W.begin + neighbour * W.n_outputs + output;
        const Word* x[ROWS];
        SUMS parts[ROWS][VECTORS];
        for (int r = 0; r < ROWS; ++r) {
            x[r] = X.words + (rows[r] + offset) * (int64_t)W.n_words;
            for (int v = 0; v < VECTORS; ++v)
                parts[r][v] = *(const SUMS*)(begin + v * VECTOR_LANES);
        }
        for (size_t word = 0; word < W.n_words; ++word)
            for (int r = 0; r < ROWS; ++r) {
                const Ints same = Ints{} + (int32_t)x[r][word];
                for (int v = 0; v < VECTORS; ++v) {
                    const uint32_t* w = weights[v] + word * PACKED_LANES;
                    parts[r][v] = DOT(parts[r][v], same, *(const Ints*)w);
                }
            }
        for (int r = 0; r < ROWS; ++r)
            for (int v = 0; v < VECTORS; ++v)
                sums[r][v] += __builtin_convertvector(parts[r][v], Floats) *
                              X.scales[rows[r] + offset];
        for (int v = 0; v < VECTORS; ++v) weights[v] += W.n_words * PACKED_LANES;
    }
    for (int r = 0; r < ROWS; ++r)
        for (int v = 0; v < VECTORS; ++v) {
            const size_t o = output + v * VECTOR_LANES;
            *(Floats*)(Y + r * W.n_outputs + o) =
                sums[r][v] * *(const Floats*)(W.scales + o);
        }
}

// Multiply rows in tiles of ROWS. The outer loop is over outputs, so that the weights of a
// tile stay in the cache.
template <int ROWS>
TARGET static void multiply_rows(float* Y, const Words& X, const int64_t* rows, size_t n,
                                 const Packed& W) {
    size_t output = 0;
    for (; output + 3 * VECTOR_LANES <= W.n_outputs; output += 3 * VECTOR_LANES)
        for (size_t row = 0; row < n; row += ROWS)
            multiply_tile<ROWS, 3>(Y + row * W.n_outputs, X, rows + row, W, output);
    for (; output < W.n_outputs; output += VECTOR_LANES)
        for (size_t row = 0; row < n; row += ROWS)
            multiply_tile<ROWS, 1>(Y + row * W.n_outputs, X, rows + row, W, output);
}

// Multiply rows, each with its neighbors.
TARGET static void multiply(float* Y, const Words& X, const int64_t* rows, size_t n,
                            const Packed& W) {
    const size_t left = n % 4, whole = n - left;
    multiply_rows<4>(Y, X, rows, whole, W);
    Y += whole * W.n_outputs;
    rows += whole;
    switch (left) {
        case 3: return multiply_rows<3>(Y, X, rows, 3, W);
        case 2: return multiply_rows<2>(Y, X, rows, 2, W);
        case 1: return multiply_rows<1>(Y, X, rows, 1, W);
    }
}

#undef VECTOR_LANES
#undef TARGET
#undef SUMS
#undef DOT
