// Find the rows of keys in embedding tables, on a GPU (embed.cu) and on the CPU (folded.h).
//
// No includes: cuda.py prepends this file to embed.cu, and CuPy's compiler has no headers.

#pragma once

#ifdef __CUDACC__
#define DEVICE __device__ inline
#define UNROLL _Pragma("unroll")
#else
#define DEVICE inline
#define UNROLL
#endif

typedef unsigned int uint32;
typedef unsigned long long uint64;

#define MAX_COLUMNS 64
#define MAX_HASHES 4

// A column of keys and its table. cuda.py has the same layout.
struct Column {
    float* table;           // (n_rows, width): rows or their gradients
    const uint64* symbols;  // ascending, for lookup
    uint32 n_symbols;
    uint32 unk;             // row of unknown symbols
    uint32 seed;
    uint32 num_hashes;      // rows per key; 1 for lookup
    uint32 n_hashed;        // rows to hash into; 0 for lookup
    uint32 first_row;       // offset of the table in the rows of all tables
    uint32 first_slot;      // offset of the column in the rows of a token
};

struct Columns {
    Column column[MAX_COLUMNS];
};

// MurmurHash3 (Austin Appleby, public domain)

DEVICE uint64 rotate_left(uint64 x, int bits) {
    return (x << bits) | (x >> (64 - bits));
}

DEVICE uint64 mix_bits(uint64 x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

DEVICE void finish_hash(uint64 h1, uint64 h2, uint64 length, uint32 hashes[MAX_HASHES]) {
    h1 ^= length;
    h2 ^= length;
    h1 += h2;
    h2 += h1;
    h1 = mix_bits(h1);
    h2 = mix_bits(h2);
    h1 += h2;
    h2 += h1;
    hashes[0] = (uint32)h1;
    hashes[1] = (uint32)(h1 >> 32);
    hashes[2] = (uint32)h2;
    hashes[3] = (uint32)(h2 >> 32);
}

// MurmurHash3_x64_128 of a key of 8 bytes, cut into four uint32 as in Thinc's Ops.hash.
DEVICE void hash_key(uint64 key, uint32 seed, uint32 hashes[MAX_HASHES]) {
    const uint64 h1 = seed ^ (rotate_left(key * 0x87c37b91114253d5ULL, 31) *
                              0x4cf5ad432745937fULL);
    finish_hash(h1, seed, 8, hashes);
}

DEVICE uint32 find_symbol_row(const Column& column, uint64 key) {
    uint32 low = 0, high = column.n_symbols;
    while (low < high) {
        const uint32 middle = low + (high - low) / 2;
        if (column.symbols[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == column.n_symbols || column.symbols[low] != key) return column.unk;
    return low + (low >= column.unk);  // skip the row unk
}

// Find the rows of a key, counted in the rows of all tables.
DEVICE void find_rows(const Column& column, uint64 key, uint32* rows) {
    if (column.n_hashed == 0) {
        rows[0] = column.first_row + find_symbol_row(column, key);
        return;
    }
    uint32 hashes[MAX_HASHES];
    hash_key(key, column.seed, hashes);
    UNROLL for (uint32 k = 0; k < MAX_HASHES; ++k)
        if (k < column.num_hashes)
            rows[k] = column.first_row + hashes[k] % column.n_hashed;
}
