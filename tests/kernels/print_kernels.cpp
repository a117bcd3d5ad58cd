// Include all kernels, and print checksums of some outputs. Without reassociation and
// contraction of floats, checksums are equal for all compilers, systems and processors.

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

// Floats from -1 to 1.
static std::vector<float> draw_floats(size_t n) {
    std::vector<float> x(n);
    for (float& number : x) number = (float)((int)(draw() % 2049) - 1024) / 1024;
    return x;
}

// Integers below a limit.
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

// Below and above the lanes of a vector, and a common width.
static const size_t WIDTHS[] = {7, 17, 96};
static const size_t N = 37, PIECES = 3;

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

static void convolve(size_t width, InstructionSet set) {
    const size_t n_neighbours = 3, n_outputs = (PIECES * width + 15) / 16 * 16;
    const size_t n_words = (width + set.n_per_word - 1) / set.n_per_word;
    const bool is_int8 = set.n_per_word == 4;
    const auto bias = draw_floats(PIECES * width), scale = draw_floats(width);
    const auto shift = draw_floats(width), X = draw_floats((N + 2) * width);
    const auto scales = draw_floats(n_outputs);
    const auto begin = draw_below<int32_t>(n_neighbours * n_outputs,
                                           is_int8 ? 999 : 1);
    auto words = draw_below<uint32_t>(n_outputs * n_neighbours * n_words, ~0U);
    if (!is_int8)  // one or two floats of magnitude 0.5 to 1
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
    print(set.name, Y);
}

int main() {
    for (const size_t width : WIDTHS) {
        seed = (uint32_t)width;
        embed(width);
        for (const InstructionSet& set : list_instruction_sets())
            if (!set.is_fast) convolve(width, set);
    }
}
