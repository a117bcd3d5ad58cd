// Which rows of embedding tables the keys of a token have: for the kernels of a GPU
// (embed.cu) and those of the CPU (folded.h).
//
// CuPy's compiler finds no files: cuda.py puts this before embed.cu. So no includes here.

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

// A column of keys and the table of its rows. The same layout is in cuda.py.
struct Column {
    float* table;           // (n_rows, width): the rows, or their gradients
    const uint64* symbols;  // sorted keys that have a row each, if rows are looked up
    uint32 n_symbols;
    uint32 unk;             // the row of all other keys
    uint32 seed;
    uint32 num_hashes;      // rows for each key: 1 if they are looked up
    uint32 n_hashed;        // rows that hashing chooses from; 0 if rows are looked up
    uint32 first_row;       // number of its first row among the rows of all tables
    uint32 first_slot;      // place of its first row among the rows of a token
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

// MurmurHash3_x64_128 of the 8 bytes of a key, as Thinc's Ops.hash cuts it up.
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
    return low + (low >= column.unk);  // symbols have the rows around unk's
}

// Find the rows of a key, numbered through all tables.
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
