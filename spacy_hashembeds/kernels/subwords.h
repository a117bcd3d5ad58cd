// Table rows of the character n-grams of words. See architectures/floret.py.

#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "rows.h"

struct Ngrams {
    uint32_t seed;
    size_t minn, maxn;
    size_t num_hashes;
    uint32_t n_rows;
};

// Read up to 8 bytes as little-endian.
inline uint64 read_word(const unsigned char* bytes, size_t n) {
    uint64 word = 0;
    for (size_t i = 0; i < n; ++i) word |= (uint64)bytes[i] << (8 * i);
    return word;
}

inline uint64 scramble(uint64 k, uint64 first, int bits, uint64 second) {
    return rotate_left(k * first, bits) * second;
}

// MurmurHash3_x64_128 (Austin Appleby, public domain) of any bytes.
inline void hash_bytes(const unsigned char* bytes, size_t n, uint32_t seed,
                       uint32_t hashes[MAX_HASHES]) {
    const uint64 c1 = 0x87c37b91114253d5ULL, c2 = 0x4cf5ad432745937fULL;
    uint64 h1 = seed, h2 = seed;
    size_t done = 0;
    for (; done + 16 <= n; done += 16) {
        h1 ^= scramble(read_word(bytes + done, 8), c1, 31, c2);
        h1 = (rotate_left(h1, 27) + h2) * 5 + 0x52dce729;
        h2 ^= scramble(read_word(bytes + done + 8, 8), c2, 33, c1);
        h2 = (rotate_left(h2, 31) + h1) * 5 + 0x38495ab5;
    }
    const size_t rest = n - done, low = rest < 8 ? rest : 8;
    h2 ^= scramble(read_word(bytes + done + low, rest - low), c2, 33, c1);
    h1 ^= scramble(read_word(bytes + done, low), c1, 31, c2);
    finish_hash(h1, h2, n, hashes);
}

// Append the rows of a word, UTF-8 with boundary marks, and return their number.
inline size_t add_ngram_rows(std::vector<uint32_t>& rows, std::vector<size_t>& starts,
                             const unsigned char* word, size_t n, Ngrams ngrams) {
    starts.clear();  // offsets of characters
    for (size_t i = 0; i < n; ++i)
        if ((word[i] & 0xc0) != 0x80) starts.push_back(i);
    const size_t length = starts.size(), before = rows.size();
    starts.push_back(n);
    const auto add = [&](size_t first, size_t size) {
        uint32_t hashes[MAX_HASHES];
        hash_bytes(word + starts[first], starts[first + size] - starts[first],
                   ngrams.seed, hashes);
        for (size_t k = 0; k < ngrams.num_hashes; ++k)
            rows.push_back(hashes[k] % ngrams.n_rows);
    };
    add(0, length);
    const size_t longest = ngrams.maxn < length ? ngrams.maxn : length;
    for (size_t size = ngrams.minn; size <= longest; ++size) {
        for (size_t first = 0; first + size <= length; ++first) add(first, size);
    }
    return rows.size() - before;
}
