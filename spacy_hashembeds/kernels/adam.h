// Adam in one pass over a parameter, with the rounding of Thinc's passes, bit for bit. See
// optimizers.py.

#pragma once

#include <cmath>
#include <cstddef>

#include "target.h"

// What Adam does with each number. All rates are of float32, as Thinc has them there.
struct Adam {
    float beta1;
    float beta2;
    float eps;
    float learn_rate;
    float clip;     // what the gradient is multiplied with; 1 if it is not clipped
    float decay;    // what the weights are multiplied with, to be taken away
    float average;  // what the difference to the average is multiplied with
};

// Kernels for each of the settings, so that the loop has no conditions.
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

// Change the weights by their gradient, which is zero afterwards. averages may be null.
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
