// Forward and backward pass of windows. See windows.py.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "target.h"

// Return the start of the window around a row, or null if it is out of bounds.
template <typename Number>
INLINE Number* find_window(Number* X, size_t n_rows, int64_t row, size_t width,
                           size_t window_size) {
    const int64_t before = (int64_t)window_size;
    const bool is_there = row >= before && row < (int64_t)n_rows - before;
    return is_there ? X + (size_t)(row - before) * width : nullptr;
}

// Copy windows. Returns false if one is out of bounds.
//
// X        (n_rows, width)
// windows  (n, (2 * window_size + 1) * width), output
static inline bool copy_windows(float* windows, const float* X, size_t n_rows,
                                const int64_t* rows, size_t n, size_t width,
                                size_t window_size) {
    const size_t size = (2 * window_size + 1) * width;
    for (size_t i = 0; i < n; ++i) {
        const float* x = find_window(X, n_rows, rows[i], width, window_size);
        if (!x) return false;
        memcpy(windows + i * size, x, size * sizeof(float));
    }
    return true;
}

// Add the gradients of windows to dX. Returns false if one is out of bounds.
CLONED bool add_windows(float* dX, const float* d_windows, size_t n_rows,
                        const int64_t* rows, size_t n, size_t width,
                        size_t window_size) {
    const size_t size = (2 * window_size + 1) * width;
    for (size_t i = 0; i < n; ++i) {
        float* d = find_window(dX, n_rows, rows[i], width, window_size);
        if (!d) return false;
        for (size_t j = 0; j < size; ++j) d[j] += d_windows[i * size + j];
    }
    return true;
}
