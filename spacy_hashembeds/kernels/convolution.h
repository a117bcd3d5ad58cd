// Convolutions with packed weights: products of int8, bfloat16 or float32, packed into
// words of 32 bits. See convolution.py.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "mixing.h"
#include "target.h"
#include "windows.h"

// Compilers with vector extensions, and with intrinsics for int8 and bfloat16.
#if defined(__clang__)
#define KNOWS_VECTORS (__clang_major__ >= 9)
#define KNOWS_FEWER_BITS (__clang_major__ >= 19)
#elif defined(__GNUC__)
#define KNOWS_VECTORS (__GNUC__ >= 9)
#define KNOWS_FEWER_BITS (__GNUC__ >= 12)
#else
#define KNOWS_VECTORS 0
#define KNOWS_FEWER_BITS 0
#endif
#if KNOWS_VECTORS && defined(__x86_64__)
#define HAS_X86
#elif KNOWS_VECTORS && defined(__aarch64__) && defined(__linux__)
#define HAS_ARM
#endif

// Number of outputs that are packed together: the lanes of the longest vectors.
const size_t PACKED_LANES = 16;

// Rows per block, whose products fit into the cache.
const size_t BLOCK = 64;

#if defined(__GNUC__)
typedef uint32_t Word __attribute__((may_alias));  // may be a float
#else
typedef uint32_t Word;
#endif

// Packed rows and the scale of each.
struct Words {
    const Word* words;    // (n_rows, n_words)
    const float* scales;  // (n_rows,)
};

// Maxout's weights, with outputs padded to whole vectors.
struct Packed {
    const uint32_t* words;  // (n_outputs / 16, n_neighbours * n_words, 16)
    const int32_t* begin;   // (n_neighbours, n_outputs): initial values of sums
    const float* scales;    // (n_outputs,)
    size_t n_outputs;
    size_t n_neighbours;
    size_t n_words;  // of a row

    INLINE const uint32_t* find(size_t output) const {
        const size_t block = output / PACKED_LANES * n_neighbours * n_words;
        return words + block * PACKED_LANES + output % PACKED_LANES;
    }
};

typedef void (*Multiply)(float* Y, const Words& X, const int64_t* rows, size_t n,
                         const Packed& W);

// Round to the nearest integer, ties to even. |x| < 2^22.
INLINE int32_t round_to_int(float x) {
    const float shifted = x + 12582912.0f;  // 1.5 * 2^23, which has no fraction bits
    int32_t bits;
    memcpy(&bits, &shifted, sizeof(bits));
    return bits - 0x4B400000;
}

// Return the largest absolute value, or NaN if a number is NaN or infinite.
INLINE float find_largest(const float* x, size_t n) {
    float sizes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; ++lane)
            sizes[lane] = std::max(sizes[lane], std::fabs(x[i + lane]));
    float largest = *std::max_element(sizes, sizes + LANES);
    for (; i < n; ++i) largest = std::max(largest, std::fabs(x[i]));
    return largest + sum(n, [x](size_t i) { return x[i] * 0; });
}

// Quantize rows to bytes from 1 to 255, with zero point 128 and the largest absolute value
// at 1 or 255. Rows below 1e-30 become zeros. NaN propagates.
//
// words, scales  output: see Words. The last word of a row is padded with 128.
CLONED void quantize_rows(uint32_t* words, float* scales, const float* X, size_t n,
                          size_t width, size_t n_words) {
    for (size_t row = 0; row < n; ++row) {
        const float* x = X + row * width;
        uint8_t* bytes = (uint8_t*)(words + row * n_words);
        const float largest = find_largest(x, width);
        const float factor = largest < 1e-30f ? 0 : 127 / largest;
        for (size_t i = 0; i < width; ++i)
            bytes[i] = (uint8_t)(round_to_int(x[i] * factor) + 128);
        for (size_t i = width; i < 4 * n_words; ++i) bytes[i] = 128;
        scales[row] = largest < 1e-30f ? 0 : largest / 127;
    }
}

// Round to bfloat16, ties to even.
INLINE uint32_t round_to_half(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    const uint32_t rounded = bits + 0x7FFF + (bits >> 16 & 1);
    const bool is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;
    return (is_nan ? bits | 0x400000 : rounded) >> 16;
}

// Round rows to bfloat16.
//
// words, scales  output: see Words. The last word of a row is padded with 0.
CLONED void round_rows(uint32_t* words, float* scales, const float* X, size_t n,
                       size_t width, size_t n_words) {
    for (size_t row = 0; row < n; ++row) {
        uint16_t* halves = (uint16_t*)(words + row * n_words);
        for (size_t i = 0; i < width; ++i)
            halves[i] = (uint16_t)round_to_half(X[row * width + i]);
        for (size_t i = width; i < 2 * n_words; ++i) halves[i] = 0;
        scales[row] = 1;
    }
}

// Portable reference implementations, for tests.
template <typename Ints>
INLINE Ints dot_bytes(Ints sums, Ints x, Ints w) {
    for (size_t lane = 0; lane < sizeof(Ints) / 4; ++lane)
        for (int i = 0; i < 4; ++i)
            sums[lane] += (x[lane] >> 8 * i & 255) * (int8_t)(w[lane] >> 8 * i & 255);
    return sums;
}

template <typename Floats, typename Ints>
INLINE Floats dot_halves(Floats sums, Ints x, Ints w) {
    for (size_t lane = 0; lane < sizeof(Ints) / 4; ++lane)
        for (int i = 1; i >= 0; --i) {
            const uint32_t bits[2] = {(uint32_t)x[lane] >> 16 * i << 16,
                                      (uint32_t)w[lane] >> 16 * i << 16};
            float factors[2];
            memcpy(factors, bits, sizeof(bits));
            sums[lane] += factors[0] * factors[1];
        }
    return sums;
}

#if KNOWS_VECTORS

namespace plain_int8 {
#define VECTOR_LANES 4
#define TARGET
#define SUMS Ints
#define DOT(sums, x, w) dot_bytes(sums, x, w)
#include "tiles.h"
}  // namespace plain_int8

namespace plain_bfloat16 {
#define VECTOR_LANES 4
#define TARGET
#define SUMS Floats
#define DOT(sums, x, w) dot_halves(sums, x, w)
#include "tiles.h"
}  // namespace plain_bfloat16

namespace plain_float32 {
#define VECTOR_LANES 4
#define TARGET
#define SUMS Floats
#define DOT(sums, x, w) ((sums) + (Floats)(x) * (Floats)(w))
#include "tiles.h"
}  // namespace plain_float32

#endif

#ifdef HAS_X86
#include <immintrin.h>

namespace avx512 {
#define VECTOR_LANES 16
#define TARGET __attribute__((target("avx512f")))
#define SUMS Floats
#define DOT(sums, x, w) (Floats) _mm512_fmadd_ps((__m512)x, (__m512)w, (__m512)sums)
#include "tiles.h"
}  // namespace avx512

namespace avx2 {
#define VECTOR_LANES 8
#define TARGET __attribute__((target("avx2,fma")))
#define SUMS Floats
#define DOT(sums, x, w) (Floats) _mm256_fmadd_ps((__m256)x, (__m256)w, (__m256)sums)
#include "tiles.h"
}  // namespace avx2

#if KNOWS_FEWER_BITS

namespace avx512_vnni {
#define VECTOR_LANES 16
#define TARGET __attribute__((target("avx512f,avx512vnni")))
#define SUMS Ints
#define DOT(sums, x, w) (Ints) _mm512_dpbusd_epi32((__m512i)sums, (__m512i)x, (__m512i)w)
#include "tiles.h"
}  // namespace avx512_vnni

// The vector length of AVX-VNNI, to test it on processors with AVX-512 only.
namespace avx512vl_vnni {
#define VECTOR_LANES 8
#define TARGET __attribute__((target("avx512vl,avx512vnni")))
#define SUMS Ints
#define DOT(sums, x, w) (Ints) _mm256_dpbusd_epi32((__m256i)sums, (__m256i)x, (__m256i)w)
#include "tiles.h"
}  // namespace avx512vl_vnni

namespace avx_vnni {
#define VECTOR_LANES 8
#define TARGET __attribute__((target("avx2,avxvnni")))
#define SUMS Ints
#define DOT(sums, x, w) \
    (Ints) _mm256_dpbusd_avx_epi32((__m256i)sums, (__m256i)x, (__m256i)w)
#include "tiles.h"
}  // namespace avx_vnni

namespace avx512_bf16 {
#define VECTOR_LANES 16
#define TARGET __attribute__((target("avx512f,avx512bf16")))
#define SUMS Floats
#define DOT(sums, x, w) (Floats) _mm512_dpbf16_ps((__m512)sums, (__m512bh)x, (__m512bh)w)
#include "tiles.h"
}  // namespace avx512_bf16

#endif
#endif

#ifdef HAS_ARM
#include <arm_neon.h>
#include <sys/auxv.h>

namespace neon {
#define VECTOR_LANES 4
#define TARGET
#define SUMS Floats
#define DOT(sums, x, w) \
    (Floats) vfmaq_f32((float32x4_t)sums, (float32x4_t)x, (float32x4_t)w)
#include "tiles.h"
}  // namespace neon

#if KNOWS_FEWER_BITS

namespace neon_i8mm {
#define VECTOR_LANES 4
#define TARGET __attribute__((target("arch=armv8.2-a+i8mm")))
#define SUMS Ints
#define DOT(sums, x, w) \
    (Ints) vusdotq_s32((int32x4_t)sums, (uint8x16_t)x, (int8x16_t)w)
#include "tiles.h"
}  // namespace neon_i8mm

namespace neon_bf16 {
#define VECTOR_LANES 4
#define TARGET __attribute__((target("arch=armv8.2-a+bf16")))
#define SUMS Floats
#define DOT(sums, x, w) \
    (Floats) vbfdotq_f32((float32x4_t)sums, (bfloat16x8_t)x, (bfloat16x8_t)w)
#include "tiles.h"
}  // namespace neon_bf16

#endif
#endif

struct InstructionSet {
    const char* name;
    size_t n_per_word;  // 4 of int8, 2 of bfloat16, 1 of float32
    bool is_fast;
    Multiply multiply;
};

// List the instruction sets of this processor, fastest first.
static inline std::vector<InstructionSet> list_instruction_sets() {
    std::vector<InstructionSet> sets;
#ifdef HAS_X86
#if KNOWS_FEWER_BITS
    if (__builtin_cpu_supports("avx512vnni"))
        sets.push_back({"AVX-512 VNNI", 4, true, avx512_vnni::multiply});
    if (__builtin_cpu_supports("avx512bf16"))
        sets.push_back({"AVX-512 BF16", 2, true, avx512_bf16::multiply});
    if (__builtin_cpu_supports("avxvnni"))
        sets.push_back({"AVX-VNNI", 4, true, avx_vnni::multiply});
    if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni"))
        sets.push_back({"AVX-512VL VNNI", 4, true, avx512vl_vnni::multiply});
#endif
    if (__builtin_cpu_supports("avx512f"))
        sets.push_back({"AVX-512", 1, true, avx512::multiply});
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        sets.push_back({"AVX2", 1, true, avx2::multiply});
#elif defined(HAS_ARM)
#if KNOWS_FEWER_BITS
    const unsigned long i8mm = 1 << 13, bf16 = 1 << 14;  // HWCAP2_I8MM, HWCAP2_BF16
    if (getauxval(AT_HWCAP2) & i8mm)
        sets.push_back({"NEON I8MM", 4, true, neon_i8mm::multiply});
    if (getauxval(AT_HWCAP2) & bf16)
        sets.push_back({"NEON BF16", 2, true, neon_bf16::multiply});
#endif
    sets.push_back({"NEON", 1, true, neon::multiply});
#endif
#if KNOWS_VECTORS
    sets.push_back({"plain int8", 4, false, plain_int8::multiply});
    sets.push_back({"plain bfloat16", 2, false, plain_bfloat16::multiply});
    sets.push_back({"plain float32", 1, false, plain_float32::multiply});
#endif
    return sets;
}

// Add the output of a convolution to Y. Returns false if a window is out of bounds.
//
// Y       (n, nO)
// words   scratch: (n_rows, n_words), unused for float32
// scales  scratch: (n_rows,)
// mixed   scratch: (min(n, BLOCK), n_outputs)
static inline bool add_convolved(float* Y, const float* X, size_t n_rows,
                                 const int64_t* rows, size_t n, Packed W, Mixing m,
                                 InstructionSet set, uint32_t* words, float* scales,
                                 float* mixed) {
    for (size_t i = 0; i < n; ++i)
        if (!find_window(X, n_rows, rows[i], m.nO, W.n_neighbours / 2)) return false;
    const Word* row_words = words;
    if (set.n_per_word == 1) {
        row_words = (const Word*)X;
        std::fill(scales, scales + n_rows, 1.0f);
    } else {
        const auto encode = set.n_per_word == 4 ? quantize_rows : round_rows;
        encode(words, scales, X, n_rows, m.nO, W.n_words);
    }
    for (size_t start = 0; start < n; start += BLOCK) {
        const size_t end = start + BLOCK < n ? start + BLOCK : n;
        set.multiply(mixed, {row_words, scales}, rows + start, end - start, W);
        for (size_t i = start; i < end; ++i) {
            float* of_row = mixed + (i - start) * W.n_outputs;
            finish_rows(Y + i * m.nO, of_row, 1, m, true, of_row);
        }
    }
    return true;
}
