// Embed tokens by folded tables. See layers/folding.py.

#pragma once

#include <cstring>

#include "distinct.h"
#include "mixing.h"
#include "rows.h"

const size_t CACHE_LINE = 16;  // numbers

// A column of keys, whose rows may be weighted.
struct FoldedColumn {
    Column rows;
    const float* weights;  // (n, rows.num_hashes), or null if unweighted
    Column weight_rows;    // the last row found for a key holds its weights
    bool rehashes;         // rows are found for the index of that row, not for the key
};

INLINE void add_weighted_row(float* total, const float* row, float weight, size_t width) {
    for (size_t i = 0; i < width; ++i) total[i] += weight * row[i];
}

// Rows of folded tables to sum for a token, and their weights.
struct FoldedRows {
    const float* rows[MAX_COLUMNS * MAX_HASHES];
    float weights[MAX_COLUMNS * MAX_HASHES];
    size_t n;

    // Find and prefetch the rows. Fetching takes longer than summing.
    void find(const float* F, size_t width, const FoldedColumn* columns,
              size_t n_columns, const uint64* keys) {
        uint32 found[MAX_HASHES];
        n = 0;
        for (size_t c = 0; c < n_columns; ++c) {
            const FoldedColumn& column = columns[c];
            const float* weights_of_key = nullptr;
            uint64 key = keys[c];
            if (column.weights) {
                find_rows(column.weight_rows, key, found);
                const uint32 row = found[column.weight_rows.num_hashes - 1];
                weights_of_key = column.weights + (size_t)row * column.rows.num_hashes;
                if (column.rehashes) key = row;
            }
            find_rows(column.rows, key, found);
            for (uint32 k = 0; k < column.rows.num_hashes; ++k) {
                weights[n] = weights_of_key ? weights_of_key[k] : 1;
                rows[n++] = F + found[k] * width;
            }
        }
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < width; j += CACHE_LINE) PREFETCH(rows[i] + j);
    }
};

// Embed each distinct token once.
//
// Y       (n, nO), output
// F       (rows of all tables, nP * nO)
// keys    (n, n_keys), also in the map: columns with tables, then other columns
// beside  (n, nP * nO), or null: sums of the products of other columns
// copies  scratch: (n,)
// mixed   scratch: (nP * nO,)
CLONED void embed_folded(float* Y, const float* F, const FoldedColumn* columns,
                         size_t n_columns, const uint64* keys, size_t n_keys, size_t n,
                         const float* beside, Mixing m, Map& map, int32_t* copies,
                         float* mixed) {
    const size_t width = m.nP * m.nO;
    find_distinct(map, n, n, SIZE_MAX, copies);
    FoldedRows found[2];  // for the current and the next token
    found[0].find(F, width, columns, n_columns, keys);
    for (size_t i = 0; i < map.n_distinct; ++i) {
        if (i + 1 < map.n_distinct)
            found[(i + 1) % 2].find(F, width, columns, n_columns,
                                    keys + map.firsts[i + 1] * n_keys);
        if (beside)
            memcpy(mixed, beside + map.firsts[i] * width, width * sizeof(float));
        else
            memset(mixed, 0, width * sizeof(float));
        for (size_t j = 0; j < found[i % 2].n; ++j)
            add_weighted_row(mixed, found[i % 2].rows[j], found[i % 2].weights[j], width);
        float* y = Y + map.firsts[i] * m.nO;
        finish_row(y, y, mixed, m, false);
    }
    for (size_t i = 0; i < n; ++i) {
        const size_t first = map.firsts[copies[i]];
        if (first != i) memcpy(Y + i * m.nO, Y + first * m.nO, m.nO * sizeof(float));
    }
}
