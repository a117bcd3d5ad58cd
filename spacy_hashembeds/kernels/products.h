// BLAS functions for C code, such as spaCy's parser.

#pragma once

#include "mixing.h"

// Compute C = alpha * A @ B.T + beta * C.
//
// All numbers of C are summed in the same order, so that equal rows of B give equal columns
// of C. An argmax over classes then finds the first of equal ones, as with blis, unlike
// libraries that sum the last columns in another order.
//
// A  (M, K), with row stride lda
// B  (N, K), with row stride ldb
// C  (M, N), with row stride ldc
CLONED void multiply_rows(size_t M, size_t N, size_t K, float alpha, const float* A,
                          size_t lda, const float* B, size_t ldb, float beta, float* C,
                          size_t ldc) {
    for (size_t i = 0; i < M; ++i)
        for (size_t j = 0; j < N; ++j) {
            const float *a = A + i * lda, *b = B + j * ldb;
            float& c = C[i * ldc + j];
            // few lanes, for a short final reduction
            const float product = sum<8>(K, [=](size_t k) { return a[k] * b[k]; });
            c = alpha * product + (beta == 0 ? 0 : beta * c);
        }
}

// Compute Y += alpha * X, with strides x and y.
CLONED void add_multiple(int n, float alpha, const float* X, int x, float* Y, int y) {
    if (x == 1 && y == 1)
        for (int i = 0; i < n; ++i) Y[i] += alpha * X[i];
    else
        for (int i = 0; i < n; ++i) Y[i * (ptrdiff_t)y] += alpha * X[i * (ptrdiff_t)x];
}
