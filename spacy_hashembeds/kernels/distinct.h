// Find equal rows by a hash map. See distinct.py.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "rows.h"

// Rows that are looked for among those that came before.
struct Map {
    const char* keys;       // the rows, one after the other
    size_t n_bytes;         // how many bytes a row has
    size_t n_words;         // how many words of 64 bits of it are hashed
    uint64 secret;          // so that nobody can make rows that take long to tell apart
    int64_t* firsts;        // for each distinct row the first that is equal to it
    std::vector<int32_t> slots;  // the number of a distinct row, or -1
    size_t n_distinct = 0;
    size_t n_misses = 0;    // how often another row was found in a slot

    // Make slots, a power of 2, so many that most stay free.
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

    // Find the number of the distinct row that row i is equal to, or give it a new one.
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

// Find the distinct rows in the order in which they come. Returns false if there are more
// than is wanted, or they take too long to tell apart.
//
// copies  (n,): written: the number of its distinct row
inline bool find_distinct(Map& map, size_t n, size_t most_distinct, size_t most_misses,
                          int32_t* copies) {
    for (size_t i = 0; i < n; ++i) {
        copies[i] = map.find(i);
        if (map.n_distinct > most_distinct || map.n_misses > most_misses) return false;
    }
    return true;
}
