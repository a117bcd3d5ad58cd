// Just enough CUDA to compile embed.cu for the CPU and to run its kernels as a GPU would:
// block after block, each with a thread for each thread and a barrier between them.

#include <atomic>
#include <barrier>
#include <cstddef>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __grid_constant__
#define __restrict__
// one block runs at a time, so that what is static is shared within it
#define __shared__ static

struct alignas(16) float4 {
    float x, y, z, w;
};

struct Index {
    unsigned int x;
};

thread_local Index threadIdx;
Index blockIdx, blockDim, gridDim;
std::barrier<>* block_barrier;

inline void __syncthreads() { block_barrier->arrive_and_wait(); }

inline float atomicAdd(float* sum, float x) {
    return std::atomic_ref<float>(*sum).fetch_add(x);
}

template <typename... Arguments, std::size_t... I>
void call(void (*kernel)(Arguments...), void** arguments, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_reference_t<Arguments>*>(arguments[I])...);
}

// Takes an array of pointers to arguments, as cuLaunchKernel does.
template <typename... Arguments>
void launch(void (*kernel)(Arguments...), unsigned int n_blocks, unsigned int n_threads,
            void** arguments) {
    gridDim.x = n_blocks;
    blockDim.x = n_threads;
    blockIdx.x = 0;
    // a barrier for each block, since threads that are done leave it
    std::optional<std::barrier<>> within(n_threads);
    block_barrier = &*within;
    std::barrier between(n_threads, [&]() noexcept {
        ++blockIdx.x;
        within.emplace(n_threads);
    });
    std::vector<std::jthread> threads;
    for (unsigned int thread = 0; thread < n_threads; ++thread)
        threads.emplace_back([&, thread] {
            threadIdx.x = thread;
            while (blockIdx.x < n_blocks) {
                call(kernel, arguments, std::index_sequence_for<Arguments...>());
                block_barrier->arrive_and_drop();
                between.arrive_and_wait();
            }
        });
}

// Says how large each argument is, and returns how many there are.
template <typename... Arguments>
std::size_t get_sizes(void (*)(Arguments...), std::size_t* sizes) {
    ((*sizes++ = sizeof(Arguments)), ...);
    return sizeof...(Arguments);
}

#define LAUNCHER(kernel)                                                               \
    extern "C" std::size_t get_sizes_##kernel(std::size_t* sizes) {                    \
        return get_sizes(kernel, sizes);                                               \
    }                                                                                  \
    extern "C" void launch_##kernel(unsigned int n_blocks, unsigned int n_threads,     \
                                    void** arguments) {                                \
        launch(kernel, n_blocks, n_threads, arguments);                                \
    }
