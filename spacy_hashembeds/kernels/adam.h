// Adam in one pass over a parameter, bitwise equal to Thinc's. See optimizers.py.

#pragma once

#include <cmath>
#include <cstddef>

#include "target.h"

// Rates of Adam, in float32 as in Thinc.
struct Adam {
    float beta1;
    float beta2;
    float eps;
    float learn_rate;
    float clip;     // factor of the gradient; 1 if not clipped
    float decay;    // share of the weights to subtract
    float average;  // factor of the difference to the average
};

// Template parameters keep conditions out of the loop.
template <bool has_decay, bool has_average>
INLINE void step(const Adam& adam, float* weights, float* gradient, float* mom1,
                 float* mom2, float* averages, size_t n) {
    const float rest1 = 1 - adam.beta1, rest2 = 1 - adam.beta2;
    for (size_t i = 0; i < n; ++i) {
        const float g = gradient[i] * adam.clip;
        const float m1 = mom1[i] * adam.beta1 + g * rest1;
        const float m2 = mom2[i] * adam.beta2 + rest2 * (g * g);
        mom1[i] = m1;
        mom2[i] = m2;
        gradient[i] = 0;
        float w = weights[i] + m1 / (std::sqrt(m2) + adam.eps) * -adam.learn_rate;
        if (has_decay) w -= adam.decay * w;
        weights[i] = w;
        if (has_average) averages[i] -= adam.average * (averages[i] - w);
    }
}

// Update the weights, and set the gradient to zero. averages may be null.
CLONED void step_adam(Adam adam, float* weights, float* gradient, float* mom1, float* mom2,
                      float* averages, size_t n) {
    if (averages && adam.decay != 0)
        step<true, true>(adam, weights, gradient, mom1, mom2, averages, n);
    else if (averages)
        step<false, true>(adam, weights, gradient, mom1, mom2, averages, n);
    else if (adam.decay != 0)
        step<true, false>(adam, weights, gradient, mom1, mom2, averages, n);
    else
        step<false, false>(adam, weights, gradient, mom1, mom2, averages, n);
}
