// What follows Maxout's product in a row: bias, maximum of the pieces, layer
// normalisation, dropout and the residual connection, there and back again.
//
// See mixing.py, whose numpy these functions are tested against.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "target.h"

// Sums of so many parts of a row go on next to each other, in vectors of any width.
const int LANES = 16;

const float EPSILON = 1e-8f;  // Thinc's

// Maxout's bias and the layer normalisation. Rows have the pieces outside: (nP, nO).
struct Mixing {
    const float* bias;   // as the numbers of a row
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

// Take the maximum of the pieces, and say, if that is wanted, which piece it was: of equal
// ones the first.
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
            const bool is_more = x > best[o] || x != x;  // or no number
            best[o] = is_more ? x : best[o];
            if (says_which) which[o] = is_more ? (uint8_t)p : which[o];
        }
}

// Bring a row to a mean of 0 and a deviation of 1; returns what it was divided by, as its
// inverse.
INLINE float standardize(float* x, size_t n) {
    const float mean = sum(n, [x](size_t i) { return x[i]; }) / n;
    for (size_t i = 0; i < n; ++i) x[i] -= mean;
    const float variance = sum(n, [x](size_t i) { return x[i] * x[i]; }) / n;
    const float inverse_deviation = 1 / std::sqrt(variance + EPSILON);
    for (size_t i = 0; i < n; ++i) x[i] *= inverse_deviation;
    return inverse_deviation;
}

// Finish one row in prediction. best is room for nO numbers, and may be Y itself.
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
// Y      (n, nO): written, or added to if it holds what the residual connection adds
// mixed  (n, nP * nO)
// best   room for nO numbers
CLONED void finish_rows(float* Y, const float* mixed, size_t n, Mixing m, bool adds,
                        float* best) {
    for (size_t row = 0; row < n; ++row)
        finish_row(Y + row * m.nO, best, mixed + row * m.nP * m.nO, m, adds);
}

// Finish rows in training, with the pieces outside.
//
// Y                   (n, nO): written
// mixed               (n, nP * nO)
// which               (n, nO): written: the piece that was the largest
// X                   (n, nO): written: the rows standardised
// inverse_deviations  (n,): written: what they were multiplied with for that
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

// Take the gradient of begin_rows' Y back to mixed, and add it to those of the bias, the
// scale and the shift.
//
// d_mixed    (n, nP * nO): written
// d_best     room for nO numbers
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
