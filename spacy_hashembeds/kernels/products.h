// What C code of others, such as spaCy's parser, asks of a BLAS.

#pragma once

#include "mixing.h"

// Multiply A with the transpose of B.
//
// Each number of C is summed in one order, wherever it stands: equal rows of B give equal
// columns of C. An argmax over classes then finds the first of equal ones, as with blis.
// Libraries that sum the last columns otherwise find any.
//
// A  (M, K), with rows lda apart
// B  (N, K), with rows ldb apart
// C  (M, N), with rows ldc apart: becomes alpha times the product plus beta times C
CLONED void multiply_rows(size_t M, size_t N, size_t K, float alpha, const float* A,
                          size_t lda, const float* B, size_t ldb, float beta, float* C,
                          size_t ldc) {
    for (size_t i = 0; i < M; ++i)
        for (size_t j = 0; j < N; ++j) {
            const float *a = A + i * lda, *b = B + j * ldb;
            float& c = C[i * ldc + j];
            // with fewer lanes there is less to sum at the end
            const float product = sum<8>(K, [=](size_t k) { return a[k] * b[k]; });
            c = alpha * product + (beta == 0 ? 0 : beta * c);
        }
}

// Add alpha times X to Y, numbers that are x and y apart.
CLONED void add_multiple(int n, float alpha, const float* X, int x, float* Y, int y) {
    if (x == 1 && y == 1)
        for (int i = 0; i < n; ++i) Y[i] += alpha * X[i];
    else
        for (int i = 0; i < n; ++i) Y[i * (ptrdiff_t)y] += alpha * X[i * (ptrdiff_t)x];
}
