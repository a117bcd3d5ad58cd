// What one core reaches of its peak: for each instruction of 512 bits how many billion
// multiplications and additions a second a loop in registers makes, and how many of these
// the products of a convolution of width 96 make. For AVX-512 with BF16 and VNNI:
//
// g++ -O3 -std=c++17 -march=native -Ispacy_hashembeds/kernels benchmarks/peak.cpp -o /tmp/peak && /tmp/peak

#include <chrono>
#include <cstdio>

#include "quantized.h"

const int CHAINS = 12;  // sums in registers, as many as a tile has
const size_t ROUNDS = 9, LOOPS = 1000000;
const size_t WIDTH = 96, NEIGHBOURS = 3, OUTPUTS = 288, ROWS = 256;

// The median of some rounds, in billions of operations a second.
template <typename Run>
double measure(double operations, Run run) {
    std::vector<double> speeds;
    for (size_t round = 0; round < ROUNDS; ++round) {
        const auto start = std::chrono::steady_clock::now();
        run();
        const std::chrono::duration<double> seconds =
            std::chrono::steady_clock::now() - start;
        speeds.push_back(operations / seconds.count() / 1e9);
    }
    std::sort(speeds.begin(), speeds.end());
    return speeds[ROUNDS / 2];
}

template <typename Vector, typename Step>
double measure_peak(int a_lane, Step step) {
    return measure(2.0 * 16 * a_lane * CHAINS * LOOPS, [&] {
        Vector sums[CHAINS] = {}, x = {}, w = {};
        for (size_t loop = 0; loop < LOOPS; ++loop)
#pragma GCC unroll 12
            for (int i = 0; i < CHAINS; ++i) {
                sums[i] = step(sums[i], x, w);
                asm volatile("" : "+v"(sums[i]));  // not to be left out
            }
    });
}

double measure_products(const InstructionSet& set) {
    const size_t n_words = WIDTH / (set.is_int8 ? 4 : 2);
    std::vector<uint32_t> words((ROWS + 2) * n_words), packed(OUTPUTS * NEIGHBOURS * n_words);
    std::vector<float> scales(std::max(ROWS + 2, OUTPUTS), 1), Y(ROWS * OUTPUTS);
    std::vector<int32_t> begin(NEIGHBOURS * OUTPUTS);
    std::vector<int64_t> rows(ROWS);
    std::iota(rows.begin(), rows.end(), 1);
    const Packed W = {packed.data(), begin.data(), scales.data(), OUTPUTS, NEIGHBOURS, n_words};
    const int times = 200;
    return measure(2.0 * times * ROWS * OUTPUTS * NEIGHBOURS * WIDTH, [&] {
        for (int i = 0; i < times; ++i)
            set.multiply(Y.data(), {words.data(), scales.data()}, rows.data(), ROWS, W);
    });
}

int main() {
    const double float32 = measure_peak<__m512>(1, [](__m512 sums, __m512 x, __m512 w) {
        return _mm512_fmadd_ps(x, w, sums);
    });
    const double bfloat16 = measure_peak<__m512>(2, [](__m512 sums, __m512 x, __m512 w) {
        return _mm512_dpbf16_ps(sums, (__m512bh)x, (__m512bh)w);
    });
    const double int8 = measure_peak<__m512i>(4, [](__m512i sums, __m512i x, __m512i w) {
        return _mm512_dpbusd_epi32(sums, x, w);
    });
    printf("float32: peak %.0f\n", float32);
    for (const InstructionSet& set : list_instruction_sets()) {
        if (!set.is_fast) continue;
        const double peak = set.is_int8 ? int8 : bfloat16, reached = measure_products(set);
        printf("%s: peak %.0f, products %.0f, %.0f percent\n", set.name, peak, reached,
               100 * reached / peak);
    }
}
