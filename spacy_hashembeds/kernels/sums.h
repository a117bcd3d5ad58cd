// Forward and backward pass of sums of table rows. See rows.py.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "target.h"

INLINE void add_row(float* total, const float* row, size_t width) {
    for (size_t i = 0; i < width; ++i) total[i] += row[i];
}

// Sum k rows of a table for each i < n. Returns false if a row is out of bounds.
//
// sums   (n, width), output
// table  (n_rows, width)
// rows   (n, k)
CLONED bool gather_sums(float* sums, const float* table, size_t n_rows,
                        const uint32_t* rows, size_t n, size_t k, size_t width) {
    memset(sums, 0, n * width * sizeof(float));
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < k; ++j) {
            const size_t row = rows[i * k + j];
            if (row >= n_rows) return false;
            add_row(sums + i * width, table + row * width, width);
        }
    return true;
}

// Add the gradients of sums to the gradients of rows, in Thinc's order: the first row of
// all sums, then the second. Stops and returns false at a row out of bounds.
CLONED bool scatter_sums(float* d_table, const float* d_sums, size_t n_rows,
                         const uint32_t* rows, size_t n, size_t k, size_t width) {
    for (size_t j = 0; j < k; ++j)
        for (size_t i = 0; i < n; ++i) {
            const size_t row = rows[i * k + j];
            if (row >= n_rows) return false;
            add_row(d_table + row * width, d_sums + i * width, width);
        }
    return true;
}
