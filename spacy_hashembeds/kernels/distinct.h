// Deduplication of rows by a hash map. See distinct.py.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "rows.h"

// Hash map with open addressing from rows to the indices of distinct rows.
struct Map {
    const char* keys;       // contiguous rows
    size_t n_bytes;         // bytes per row
    size_t n_words;         // words of 64 bits per row to hash
    uint64 secret;          // random seed, against crafted collisions
    int64_t* firsts;        // first occurrence of each distinct row
    std::vector<int32_t> slots;  // index of a distinct row, or -1
    size_t n_distinct = 0;
    size_t n_misses = 0;    // number of occupied slots probed

    // Allocate a power of 2 of slots, at most half of which are used.
    void reserve(size_t most_distinct) {
        size_t n_slots = 16;
        while (n_slots < 2 * most_distinct) n_slots *= 2;
        slots.assign(n_slots, -1);
    }

    uint64 hash(const char* row) const {
        uint64 hash = secret;
        for (size_t i = 0; i < n_words; ++i) {
            uint64 word;
            memcpy(&word, row + 8 * i, 8);
            hash = mix_bits(hash ^ word);
        }
        return hash;
    }

    // Find the index of the distinct row equal to row i, or insert it.
    int32_t find(size_t i) {
        const char* row = keys + i * n_bytes;
        for (size_t slot = hash(row);; ++slot, ++n_misses) {
            int32_t& found = slots[slot & (slots.size() - 1)];
            if (found < 0) {
                found = (int32_t)n_distinct;
                firsts[n_distinct++] = (int64_t)i;
                return found;
            }
            if (memcmp(keys + firsts[found] * n_bytes, row, n_bytes) == 0) return found;
        }
    }
};

// Find the distinct rows, in order of first occurrence. Returns false if a limit is
// exceeded.
//
// copies  (n,), output: the index of each row's distinct row
inline bool find_distinct(Map& map, size_t n, size_t most_distinct, size_t most_misses,
                          int32_t* copies) {
    for (size_t i = 0; i < n; ++i) {
        copies[i] = map.find(i);
        if (map.n_distinct > most_distinct || map.n_misses > most_misses) return false;
    }
    return true;
}
