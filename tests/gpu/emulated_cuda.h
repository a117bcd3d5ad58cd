// The parts of CUDA that embed.cu needs, for the CPU. Blocks run in sequence. The threads of
// a block run in turns, each up to the next barrier, so that results are deterministic.

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __grid_constant__
#define __restrict__
// only one block runs at a time, so that its threads share static variables
#define __shared__ static

struct alignas(16) float4 {
    float x, y, z, w;
};

struct Index {
    unsigned int x;
};

Index threadIdx, blockIdx, blockDim, gridDim;

struct Thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool is_done;
};

Thread* running;
ucontext_t turns;
// runs the kernel in a thread
std::function<void()> work;

// Suspend this thread until all others of the block have reached a barrier or are done.
inline void __syncthreads() { swapcontext(&running->context, &turns); }

template <typename... Arguments, std::size_t... I>
void call(void (*kernel)(Arguments...), void** arguments, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_reference_t<Arguments>*>(arguments[I])...);
}

inline void run_thread() {
    work();
    running->is_done = true;
}

inline void start(Thread& thread) {
    constexpr std::size_t stack_size = 1 << 18;
    if (!thread.stack) thread.stack.reset(new char[stack_size]);
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = stack_size;
    thread.context.uc_link = &turns;
    thread.is_done = false;
    makecontext(&thread.context, run_thread, 0);
}

// Run the threads of a block in turns, from the first to the last or in reverse. If a barrier
// is missing, one of the two orders gives wrong results.
inline void run_block(std::vector<Thread>& threads, bool from_last) {
    for (std::size_t n_left = threads.size(); n_left;)
        for (std::size_t turn = 0; turn < threads.size(); ++turn) {
            threadIdx.x = from_last ? threads.size() - 1 - turn : turn;
            running = &threads[threadIdx.x];
            if (running->is_done) continue;
            swapcontext(&turns, &running->context);
            n_left -= running->is_done;
        }
}

// Launch a kernel. Like cuLaunchKernel, this takes an array of pointers to arguments.
template <typename... Arguments>
void launch(void (*kernel)(Arguments...), unsigned int n_blocks, unsigned int n_threads,
            void** arguments) {
    work = [=] { call(kernel, arguments, std::index_sequence_for<Arguments...>()); };
    gridDim.x = n_blocks;
    blockDim.x = n_threads;
    std::vector<Thread> threads(n_threads);
    for (blockIdx.x = 0; blockIdx.x < n_blocks; ++blockIdx.x) {
        for (Thread& thread : threads) start(thread);
        run_block(threads, blockIdx.x % 2);
    }
}

// Write the size of each argument, and return the number of arguments.
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
