// Forward and backward pass of the steps after Maxout's product: bias, maximum of the
// pieces, layer normalization and the residual connection. See mixing.py.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "target.h"

// Number of parallel partial sums of a row.
const int LANES = 16;

const float EPSILON = 1e-8f;  // Thinc's

// Maxout's bias and layer normalization. Rows of products are (nP, nO).
struct Mixing {
    const float* bias;   // (nP, nO)
    const float* scale;  // (nO,)
    const float* shift;  // (nO,)
    size_t nO;
    size_t nP;
};

// Sum a term for each i < n.
template <int lanes = LANES, typename Term>
INLINE float sum(size_t n, Term term) {
    float sums[lanes] = {0};
    size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (int lane = 0; lane < lanes; ++lane) sums[lane] += term(i + lane);
    for (int n_lanes = lanes / 2; n_lanes > 0; n_lanes /= 2)
        for (int lane = 0; lane < n_lanes; ++lane) sums[lane] += sums[lane + n_lanes];
    float total = sums[0];
    for (; i < n; ++i) total += term(i);
    return total;
}

// Take the maximum of the pieces and, if says_which, the index of the first largest piece.
template <bool says_which>
INLINE void take_maximum(float* best, uint8_t* which, const float* mixed,
                         const Mixing& m) {
    for (size_t o = 0; o < m.nO; ++o) {
        best[o] = mixed[o] + m.bias[o];
        if (says_which) which[o] = 0;
    }
    for (size_t p = 1; p < m.nP; ++p)
        for (size_t o = 0; o < m.nO; ++o) {
            const size_t i = o + p * m.nO;
            const float x = mixed[i] + m.bias[i];
            const bool is_more = x > best[o] || x != x;  // propagate NaN
            best[o] = is_more ? x : best[o];
            if (says_which) which[o] = is_more ? (uint8_t)p : which[o];
        }
}

// Standardize a row to mean 0 and deviation 1. Returns the inverse deviation.
INLINE float standardize(float* x, size_t n) {
    const float mean = sum(n, [x](size_t i) { return x[i]; }) / n;
    for (size_t i = 0; i < n; ++i) x[i] -= mean;
    const float variance = sum(n, [x](size_t i) { return x[i] * x[i]; }) / n;
    const float inverse_deviation = 1 / std::sqrt(variance + EPSILON);
    for (size_t i = 0; i < n; ++i) x[i] *= inverse_deviation;
    return inverse_deviation;
}

// Finish one row in prediction. best is scratch, (nO,), and may be Y itself.
INLINE void finish_row(float* Y, float* best, const float* mixed, const Mixing& m,
                       bool adds) {
    take_maximum<false>(best, nullptr, mixed, m);
    standardize(best, m.nO);
    if (adds)
        for (size_t o = 0; o < m.nO; ++o) Y[o] += best[o] * m.scale[o] + m.shift[o];
    else
        for (size_t o = 0; o < m.nO; ++o) Y[o] = best[o] * m.scale[o] + m.shift[o];
}

// Finish rows in prediction.
//
// Y      (n, nO), output; added to if adds, for the residual connection
// mixed  (n, nP * nO)
// best   scratch: (nO,)
CLONED void finish_rows(float* Y, const float* mixed, size_t n, Mixing m, bool adds,
                        float* best) {
    for (size_t row = 0; row < n; ++row)
        finish_row(Y + row * m.nO, best, mixed + row * m.nP * m.nO, m, adds);
}

// Finish rows in training.
//
// Y                   (n, nO), output
// mixed               (n, nP * nO)
// which               (n, nO), output: indices of the largest pieces
// X                   (n, nO), output: standardized rows
// inverse_deviations  (n,), output
CLONED void begin_rows(float* Y, const float* mixed, uint8_t* which, float* X,
                       float* inverse_deviations, size_t n, Mixing m) {
    for (size_t row = 0; row < n; ++row) {
        float* x = X + row * m.nO;
        take_maximum<true>(x, which + row * m.nO, mixed + row * m.nP * m.nO, m);
        inverse_deviations[row] = standardize(x, m.nO);
        for (size_t o = 0; o < m.nO; ++o)
            Y[row * m.nO + o] = x[o] * m.scale[o] + m.shift[o];
    }
}

// Backpropagate begin_rows. Adds to the gradients of the bias, the scale and the shift.
//
// d_mixed    (n, nP * nO), output
// d_best     scratch: (nO,)
CLONED void backprop_rows(const float* dY, const uint8_t* which, const float* X,
                          const float* inverse_deviations, size_t n, Mixing m,
                          float* d_mixed, float* d_bias, float* d_scale, float* d_shift,
                          float* d_best) {
    for (size_t row = 0; row < n; ++row) {
        const float* d = dY + row * m.nO;
        const float* x = X + row * m.nO;
        for (size_t o = 0; o < m.nO; ++o) {
            d_scale[o] += d[o] * x[o];
            d_shift[o] += d[o];
            d_best[o] = d[o] * m.scale[o];
        }
        const float mean = sum(m.nO, [=](size_t o) { return d_best[o]; }) / m.nO;
        const float slope = sum(m.nO, [=](size_t o) { return d_best[o] * x[o]; }) / m.nO;
        for (size_t o = 0; o < m.nO; ++o)
            d_best[o] = (d_best[o] - mean - x[o] * slope) * inverse_deviations[row];
        const uint8_t* piece = which + row * m.nO;
        for (size_t p = 0; p < m.nP; ++p) {
            float* d_piece = d_mixed + (row * m.nP + p) * m.nO;
            for (size_t o = 0; o < m.nO; ++o) {
                d_piece[o] = piece[o] == p ? d_best[o] : 0;
                d_bias[p * m.nO + o] += d_piece[o];
            }
        }
    }
}
