// Masks of dropout from numpy's Mersenne Twister, bit for bit. See layers/dropout.py.
//
// MT19937 is by Makoto Matsumoto and Takuji Nishimura (1998).

#pragma once

#include <cstddef>
#include <cstdint>

#include "target.h"

const int N_WORDS = 624, OFFSET = 397;

INLINE uint32_t twist_word(uint32_t word, uint32_t next, uint32_t other) {
    const uint32_t y = (word & 0x80000000U) | (next & 0x7fffffffU);
    return other ^ (y >> 1) ^ (-(y & 1) & 0x9908b0dfU);
}

// Make the next state of the generator.
INLINE void twist(uint32_t* words) {
    int i = 0;
    for (; i < N_WORDS - OFFSET; ++i)
        words[i] = twist_word(words[i], words[i + 1], words[i + OFFSET]);
    for (; i < N_WORDS - 1; ++i)
        words[i] = twist_word(words[i], words[i + 1], words[i - (N_WORDS - OFFSET)]);
    words[i] = twist_word(words[i], words[0], words[OFFSET - 1]);
}

INLINE uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
}

// Draw a number for each i < n, as numpy's random_sample does: of two words the first 27
// and 26 bits. mask is 0 where it is below threshold / 2⁵³, else scale.
//
// words   (624,): the state of the generator, which goes on
// place   how many of its words are used up
// Returns how many are in the end.
CLONED int draw_mask(float* mask, size_t n, uint64_t threshold, float scale,
                     uint32_t* words, int place) {
    uint32_t drawn[N_WORDS + 1];
    int n_drawn = 0;
    for (size_t done = 0;;) {
        const int n_left = N_WORDS - place;
        for (int i = 0; i < n_left; ++i) drawn[n_drawn + i] = temper(words[place + i]);
        n_drawn += n_left;
        const size_t n_pairs = n_drawn / 2;
        const size_t n_now = n_pairs < n - done ? n_pairs : n - done;
        for (size_t i = 0; i < n_now; ++i) {
            const uint64_t high = drawn[2 * i] >> 5, low = drawn[2 * i + 1] >> 6;
            mask[done + i] = (high << 26 | low) >= threshold ? scale : 0;
        }
        done += n_now;
        if (done == n) return N_WORDS - (n_drawn - 2 * (int)n_now);
        if (n_drawn % 2) drawn[0] = drawn[n_drawn - 1];
        n_drawn %= 2;
        twist(words);
        place = 0;
    }
}
