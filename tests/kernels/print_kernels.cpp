// Prints what each kernel makes of the same numbers, as a checksum of its bits: nothing is
// reassociated or contracted, so that compilers, systems and processors have to agree.

#include <cmath>
#include <cstdio>
#include <vector>

#include "adam.h"
#include "distinct.h"
#include "folded.h"
#include "mixing.h"
#include "convolution.h"
#include "products.h"
#include "sums.h"
#include "windows.h"

static uint32_t seed;

static uint32_t draw() {
    seed = seed * 1664525 + 1013904223;
    return seed ^ seed >> 16;
}

// Numbers from -1 to 1.
static std::vector<float> draw_floats(size_t n) {
    std::vector<float> x(n);
    for (float& number : x) number = (float)((int)(draw() % 2049) - 1024) / 1024;
    return x;
}

// Whole numbers below a limit.
template <typename Number>
static std::vector<Number> draw_below(size_t n, uint32_t limit) {
    std::vector<Number> x(n);
    for (Number& number : x) number = (Number)(draw() % limit);
    return x;
}

template <typename Number>
static void print(const char* name, const std::vector<Number>& numbers) {
    const unsigned char* bytes = (const unsigned char*)numbers.data();
    uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (size_t i = 0; i < numbers.size() * sizeof(Number); ++i)
        hash = (hash ^ bytes[i]) * 1099511628211ULL;
    printf("%s: %016llx\n", name, (unsigned long long)hash);
}

// Below and above the lanes of a vector, and a pipeline's.
static const size_t WIDTHS[] = {7, 17, 96};
static const size_t N = 37, PIECES = 3;

static void mix(size_t nO) {
    const auto bias = draw_floats(PIECES * nO), scale = draw_floats(nO);
    const auto shift = draw_floats(nO), mixed = draw_floats(N * PIECES * nO);
    const Mixing m{bias.data(), scale.data(), shift.data(), nO, PIECES};
    auto Y = draw_floats(N * nO);
    std::vector<float> best(nO), X(N * nO), inverse_deviations(N);
    finish_rows(Y.data(), mixed.data(), N, m, true, best.data());
    print("finish_rows", Y);
    std::vector<uint8_t> which(N * nO);
    begin_rows(Y.data(), mixed.data(), which.data(), X.data(), inverse_deviations.data(),
               N, m);
    print("begin_rows", Y);
    std::vector<float> d_mixed(N * PIECES * nO), d_bias(PIECES * nO), d_scale(nO);
    std::vector<float> d_shift(nO), dY = draw_floats(N * nO);
    backprop_rows(dY.data(), which.data(), X.data(), inverse_deviations.data(), N, m,
                  d_mixed.data(), d_bias.data(), d_scale.data(), d_shift.data(),
                  best.data());
    print("backprop_rows", d_mixed);
    print("backprop_rows' bias", d_bias);
}

static void embed(size_t nO) {
    const size_t n_columns = 2, n_rows = 11, width = PIECES * nO;
    const auto bias = draw_floats(width), scale = draw_floats(nO);
    const auto shift = draw_floats(nO), F = draw_floats(n_columns * n_rows * width);
    const Mixing m{bias.data(), scale.data(), shift.data(), nO, PIECES};
    const uint64 symbols[] = {2, 3, 5};
    FoldedColumn columns[n_columns] = {};
    columns[0].rows.num_hashes = 4;
    columns[0].rows.n_hashed = n_rows;
    columns[0].rows.seed = 9;
    columns[1].rows.symbols = symbols;
    columns[1].rows.n_symbols = columns[1].rows.unk = 3;
    columns[1].rows.num_hashes = 1;
    columns[1].rows.first_row = n_rows;
    const auto keys = draw_below<uint64>(N * n_columns, 6);
    std::vector<int32_t> copies(N);
    std::vector<int64_t> firsts(N);
    std::vector<float> Y(N * nO), mixed(width);
    Map map{};
    map.keys = (const char*)keys.data();
    map.n_bytes = n_columns * sizeof(uint64);
    map.n_words = n_columns;
    map.firsts = firsts.data();
    map.reserve(N);
    embed_folded(Y.data(), F.data(), columns, n_columns, keys.data(), n_columns, N, nullptr,
                 m, map, copies.data(), mixed.data());
    print("embed_folded", Y);
    print("find_distinct", copies);
}

static void sum_rows(size_t width) {
    const size_t n_rows = 5, k = 2;
    auto table = draw_floats(n_rows * width);
    const auto rows = draw_below<uint32_t>(N * k, n_rows);
    std::vector<float> sums(N * width);
    if (gather_sums(sums.data(), table.data(), n_rows, rows.data(), N, k, width))
        print("gather_sums", sums);
    if (scatter_sums(table.data(), sums.data(), n_rows, rows.data(), N, k, width))
        print("scatter_sums", table);
}

static void multiply(size_t width) {
    const size_t n = 9;
    const auto A = draw_floats(N * width), B = draw_floats(n * width);
    const auto before = draw_floats(N * n);
    auto C = before;
    multiply_rows(N, n, width, 0.5f, A.data(), width, B.data(), width, 2, C.data(), n);
    print("multiply_rows", C);
    auto sums = C;
    add_multiple((int)N, 0.5f, A.data(), 2, sums.data(), (int)n);
    print("add_multiple", sums);
    for (size_t i = 0; i < N * n; ++i) {
        float product = 0;
        for (size_t k = 0; k < width; ++k)
            product += A[i / n * width + k] * B[i % n * width + k];
        const float added = i % n ? 0 : 0.5f * A[i / n * 2];
        if (std::fabs(C[i] - 0.5f * product - 2 * before[i]) > 1e-4f ||
            sums[i] != C[i] + added)
            printf("WRONG: a product or a sum\n");
    }
}

static void move_windows(size_t width) {
    auto X = draw_floats((N + 2) * width);
    std::vector<float> windows(N * 3 * width);
    std::vector<int64_t> rows(N);
    for (size_t i = 0; i < N; ++i) rows[i] = (int64_t)i + 1;
    if (copy_windows(windows.data(), X.data(), N + 2, rows.data(), N, width, 1))
        print("copy_windows", windows);
    if (add_windows(X.data(), windows.data(), N + 2, rows.data(), N, width, 1))
        print("add_windows", X);
}

static void train(size_t n) {
    auto weights = draw_floats(n), gradient = draw_floats(n), averages = draw_floats(n);
    std::vector<float> mom1(n), mom2(n);
    const Adam adam{0.9f, 0.999f, 1e-8f, 0.001f, 0.5f, 0.01f, 0.1f};
    step_adam(adam, weights.data(), gradient.data(), mom1.data(), mom2.data(),
              averages.data(), n);
    print("step_adam", weights);
    print("step_adam's averages", averages);
}

static std::vector<float> convolve(size_t width, InstructionSet set) {
    const size_t n_neighbours = 3, n_outputs = (PIECES * width + 15) / 16 * 16;
    const size_t n_words = (width + set.n_per_word - 1) / set.n_per_word;
    const bool is_int8 = set.n_per_word == 4;
    seed = (uint32_t)width;  // the same for all sets
    const auto bias = draw_floats(PIECES * width), scale = draw_floats(width);
    const auto shift = draw_floats(width), X = draw_floats((N + 2) * width);
    const auto scales = draw_floats(n_outputs);
    const auto begin = draw_below<int32_t>(n_neighbours * n_outputs,
                                           is_int8 ? 999 : 1);
    auto words = draw_below<uint32_t>(n_outputs * n_neighbours * n_words, ~0U);
    if (!is_int8)  // one or two numbers from 0.5 to 1, with signs
        for (uint32_t& word : words) word = (word & 0x807f807f) | 0x3f003f00;
    const Packed W{words.data(), begin.data(), scales.data(), n_outputs, n_neighbours,
                   n_words};
    const Mixing m{bias.data(), scale.data(), shift.data(), width, PIECES};
    std::vector<int64_t> rows(N);
    for (size_t i = 0; i < N; ++i) rows[i] = (int64_t)i + 1;
    std::vector<uint32_t> row_words((N + 2) * n_words);
    std::vector<float> Y(N * width), row_scales(N + 2), mixed(BLOCK * n_outputs);
    if (!add_convolved(Y.data(), X.data(), N + 2, rows.data(), N, W, m, set,
                       row_words.data(), row_scales.data(), mixed.data()))
        Y.clear();
    return Y;
}

// Instruction sets sum what is no integer in an order, and with roundings, of their own.
static void compare_sets(size_t width) {
    std::vector<float> plain[5];
    for (const bool is_fast : {false, true})
        for (const InstructionSet& set : list_instruction_sets()) {
            if (set.is_fast != is_fast) continue;
            const auto Y = convolve(width, set);
            if (!is_fast) {
                plain[set.n_per_word] = Y;
                print(set.name, Y);
                continue;
            }
            float worst = Y.empty() ? 1.0f : 0.0f;
            for (size_t i = 0; i < Y.size(); ++i)
                worst = std::fmax(worst, std::fabs(Y[i] - plain[set.n_per_word][i]));
            const bool is_same = set.n_per_word == 4 ? worst == 0 : worst < 1e-4f;
            printf("%s %s\n", is_same ? "fast:" : "WRONG:", set.name);
        }
}

int main() {
    for (const size_t width : WIDTHS) {
        seed = (uint32_t)width;
        mix(width);
        embed(width);
        sum_rows(width);
        multiply(width);
        move_windows(width);
        train(10 * width);
        compare_sets(width);
    }
}
