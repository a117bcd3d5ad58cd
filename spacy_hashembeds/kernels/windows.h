// Rows with their neighbours, there and back again. See windows.py.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "target.h"

// Copy windows of `size` numbers that begin at rows - before.
//
// X        (_, width)
// windows  (n, size): written
inline void copy_windows(float* windows, const float* X, const int64_t* rows, size_t n,
                         size_t width, size_t before, size_t size) {
    for (size_t i = 0; i < n; ++i)
        memcpy(windows + i * size, X + (rows[i] - before) * width, size * sizeof(float));
}

// Add the gradient of windows to that of X.
CLONED void add_windows(float* dX, const float* d_windows, const int64_t* rows, size_t n,
                        size_t width, size_t before, size_t size) {
    for (size_t i = 0; i < n; ++i) {
        float* d = dX + (rows[i] - before) * width;
        for (size_t j = 0; j < size; ++j) d[j] += d_windows[i * size + j];
    }
}
