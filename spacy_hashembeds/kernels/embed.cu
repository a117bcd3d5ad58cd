// Embedding tables on a GPU: find, gather and sum the rows of keys, and sum the gradients
// of rows in a deterministic order.
//
// CuPy compiles this file on first use, after rows.h (see cuda.py) and without headers.
// Neighboring threads process neighboring numbers of a row, for coalesced access. Vector
// is float, or float4 if widths and addresses allow it. Widths and strides are in Vectors.

#define TILE 8  // tokens per block and iteration

// Parameter shared by all threads. Before compute capability 7.0, indexing a parameter
// copies it into the local memory of each thread.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#define SHARED_ARGUMENT
#else
#define SHARED_ARGUMENT __grid_constant__
#endif

__device__ inline void add(float& sum, float x) { sum += x; }

__device__ inline void add(float4& sum, float4 x) {
    sum.x += x.x;
    sum.y += x.y;
    sum.z += x.z;
    sum.w += x.w;
}

__device__ inline void multiply(float& product, float x) { product *= x; }

__device__ inline void multiply(float4& product, float4 x) {
    product.x *= x.x;
    product.y *= x.y;
    product.z *= x.z;
    product.w *= x.w;
}

__device__ inline void multiply(float4& product, float x) {
    product.x *= x;
    product.y *= x;
    product.z *= x;
    product.w *= x;
}

// A pair of a row and a place, which is a slot of a token. Sorting pairs groups them by
// row, in the order of tokens.

__device__ inline uint64 make_pair(uint32 row, uint64 place) {
    return (uint64)row << 32 | place;
}

__device__ inline uint32 get_row(uint64 pair) { return (uint32)(pair >> 32); }

__device__ inline uint32 get_place(uint64 pair) { return (uint32)pair; }

// Sum the rows of each token by column. A block processes tiles of tokens, with their rows
// in shared memory.
//
// out     (n, out_stride)
// pairs   (n * n_slots,), output, for the backward pass
// keys    (n, n_columns)
// weights (n * n_slots,), or null: factors of rows
// scale   (n_columns * width,), or null: factors of sums
extern "C" __global__ void gather_sum(
    Vector* __restrict__ out, uint64* __restrict__ pairs,
    const uint64* __restrict__ keys, const float* __restrict__ weights,
    const Vector* __restrict__ scale, const SHARED_ARGUMENT Columns columns,
    uint32 n_columns, uint32 n_slots, uint64 n, uint32 width, uint32 out_stride) {
    __shared__ uint32 rows[TILE * MAX_COLUMNS * MAX_HASHES];
    for (uint64 start = (uint64)blockIdx.x * TILE; start < n;
         start += (uint64)gridDim.x * TILE) {
        const uint32 n_tile = n - start < TILE ? (uint32)(n - start) : TILE;
        for (uint32 i = threadIdx.x; i < n_tile * n_columns; i += blockDim.x) {
            const uint32 token = i / n_columns;
            const Column& column = columns.column[i - token * n_columns];
            find_rows(column, keys[start * n_columns + i],
                      rows + token * n_slots + column.first_slot);
        }
        __syncthreads();
        for (uint32 i = threadIdx.x; i < n_tile * n_slots; i += blockDim.x)
            pairs[start * n_slots + i] = make_pair(rows[i], start * n_slots + i);
        for (uint32 i = threadIdx.x; i < n_tile * n_columns * width; i += blockDim.x) {
            const uint32 place = i / width, v = i - place * width;
            const uint32 token = place / n_columns, c = place - token * n_columns;
            const Column& column = columns.column[c];
            const Vector* table = (const Vector*)column.table;
            const uint32 slot = token * n_slots + column.first_slot;
            Vector sum = {};
#pragma unroll 4
            for (uint32 k = 0; k < column.num_hashes; ++k) {
                const uint64 row = rows[slot + k] - column.first_row;
                Vector x = table[row * width + v];
                if (weights) multiply(x, weights[start * n_slots + slot + k]);
                add(sum, x);
            }
            if (scale) multiply(sum, scale[c * width + v]);
            out[(start + token) * out_stride + c * width + v] = sum;
        }
        __syncthreads();  // before rows are overwritten
    }
}

// Find the column of a row, starting at a column that is not after it.
__device__ inline uint32 find_column(const Columns& columns, uint32 n_columns,
                                     uint32 row, uint32 c) {
    while (c + 1 < n_columns && row >= columns.column[c + 1].first_row) ++c;
    return c;
}

__device__ inline void add_to_row(const Column& column, uint32 row, uint32 width,
                                  uint32 v, Vector sum) {
    Vector* table = (Vector*)column.table;
    add(table[(uint64)(row - column.first_row) * width + v], sum);
}

// Sum the gradients of each row in the order of its pairs. All pairs of a row are a run,
// which may be as long as the batch. Pairs are split into chunks: a thread sums one Vector
// of the pairs of one chunk. Sums of whole runs are added to rows. Sums of partial runs are
// written to heads and tails, for join_runs.
//
// d_out   (n, d_out_stride)
// weights (n * n_slots,), or null: as in gather_sum
// heads   (n_chunks, width): sum of a chunk's first run, if it begins in an earlier chunk
// tails   (n_chunks, width): sum of a chunk's last run, if it begins in this chunk and
//         continues in the next
extern "C" __global__ void sum_runs(
    const uint64* __restrict__ pairs, const Vector* __restrict__ d_out,
    const float* __restrict__ weights, const Vector* __restrict__ scale,
    Vector* __restrict__ heads, Vector* __restrict__ tails,
    const SHARED_ARGUMENT Columns columns, uint32 n_columns, uint32 n_slots,
    uint64 n_pairs, uint32 chunk_size, uint32 width, uint32 d_out_stride) {
    const uint64 n_chunks = (n_pairs + chunk_size - 1) / chunk_size;
    const uint64 n_threads = (uint64)gridDim.x * blockDim.x;
    for (uint64 i = (uint64)blockIdx.x * blockDim.x + threadIdx.x;
         i < n_chunks * width; i += n_threads) {
        const uint64 chunk = i / width, begin = chunk * chunk_size;
        const uint32 v = (uint32)(i - chunk * width);
        const uint64 end = n_pairs - begin < chunk_size ? n_pairs : begin + chunk_size;
        uint32 c = 0;
        for (uint64 p = begin; p < end;) {
            const uint64 first = p;
            const uint32 row = get_row(pairs[p]);
            c = find_column(columns, n_columns, row, c);
            // find the end first, for parallel reads of d_out
            uint64 stop = p + 1;
            while (stop < end && get_row(pairs[stop]) == row) ++stop;
            Vector sum = {};
#pragma unroll 4
            for (; p < stop; ++p) {
                const uint64 place = get_place(pairs[p]), token = place / n_slots;
                Vector grad = d_out[token * d_out_stride + c * width + v];
                if (weights) multiply(grad, weights[place]);
                add(sum, grad);
            }
            if (scale) multiply(sum, scale[c * width + v]);
            if (first == begin && begin > 0 && get_row(pairs[begin - 1]) == row)
                heads[i] = sum;
            else if (p == end && end < n_pairs && get_row(pairs[end]) == row)
                tails[i] = sum;
            else
                add_to_row(columns.column[c], row, width, v, sum);
        }
    }
}

// Find the end of the run that contains a position of the sorted pairs.
__device__ inline uint64 find_end(const uint64* pairs, uint64 low, uint64 n_pairs) {
    const uint32 row = get_row(pairs[low]);
    uint64 high = n_pairs;
    while (low < high) {
        const uint64 middle = low + (high - low) / 2;
        if (get_row(pairs[middle]) <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Sum the parts of each run that spans several chunks, in order.
extern "C" __global__ void join_runs(
    const uint64* __restrict__ pairs, const Vector* __restrict__ heads,
    const Vector* __restrict__ tails, const SHARED_ARGUMENT Columns columns,
    uint32 n_columns, uint64 n_pairs, uint32 chunk_size, uint32 width) {
    const uint64 n_chunks = (n_pairs + chunk_size - 1) / chunk_size;
    const uint64 n_threads = (uint64)gridDim.x * blockDim.x;
    for (uint64 i = (uint64)blockIdx.x * blockDim.x + threadIdx.x;
         i < n_chunks * width; i += n_threads) {
        const uint64 chunk = i / width, begin = chunk * chunk_size;
        const uint32 v = (uint32)(i - chunk * width);
        const uint64 end = begin + chunk_size;
        if (end >= n_pairs) continue;
        const uint32 row = get_row(pairs[end - 1]);
        const bool goes_on = get_row(pairs[end]) == row;
        const bool began_before = begin > 0 && get_row(pairs[begin - 1]) == row;
        if (!goes_on || began_before) continue;
        Vector sum = tails[i];
        const uint64 last_chunk = (find_end(pairs, end, n_pairs) - 1) / chunk_size;
#pragma unroll 8
        for (uint64 next = chunk + 1; next <= last_chunk; ++next)
            add(sum, heads[next * width + v]);
        const uint32 c = find_column(columns, n_columns, row, 0);
        add_to_row(columns.column[c], row, width, v, sum);
    }
}
