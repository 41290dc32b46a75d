// Kernel launches, shared memory and barriers, as the student's file sees them. `k<<<grid, block>>>(a)` is rewritten
// to `::tg::config(line, grid, block).kernel("k", "names of its parameters", k)(a)`: see launches.py.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include <tuple>
#include <type_traits>
#include <utility>

#define TG_QUIET __attribute__((no_sanitize_thread, noinline))

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    TG_QUIET constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    TG_QUIET constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    TG_QUIET operator uint3() const { return uint3{x, y, z}; }
};

typedef struct tg_stream* cudaStream_t;

// They change with the thread that runs, but never for it: the compiler may keep what it has read.
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace tg {

struct Launch {
    dim3 grid, block;
    size_t shared;
    int line;
    const char* kernel;
};

void launch(const Launch& how, void (*call)(void*), void* arguments);
void name_argument(const char* names, int index, const void* pointer);
void* make_shared(size_t bytes, const char* name, int* number);
void declare_shared(int number);
void* dynamic_shared(const char* name);
void barrier(int line);
void warp_barrier(unsigned mask, int line);
uint64_t warp_exchange(uint64_t value, int source, unsigned mask, int line);
unsigned warp_vote(bool value, unsigned mask, int line);
unsigned lane();

template <class T>
TG_QUIET inline void name_if_pointer(const char* names, int index, const T& value) {
    if constexpr (std::is_pointer_v<T>) {
        name_argument(names, index, reinterpret_cast<const void*>(value));
    }
}

// A kernel that waits for its arguments.
template <class Function, class... Parameters>
struct Ready {
    Launch how;
    const char* names;
    Function function;

    struct Call {
        Function function;
        std::tuple<Parameters...> arguments;
    };

    template <size_t... index>
    TG_QUIET static void apply(Call& call, std::index_sequence<index...>) {
        call.function(std::get<index>(call.arguments)...);
    }

    TG_QUIET static void run(void* call) {
        apply(*static_cast<Call*>(call), std::make_index_sequence<sizeof...(Parameters)>());
    }

    TG_QUIET void operator()(Parameters... arguments) const {
        int index = 0;
        (name_if_pointer(names, index++, arguments), ...);
        (void)index;
        Call call{function, std::tuple<Parameters...>(arguments...)};
        launch(how, run, &call);
    }
};

// The same for a template whose parameters follow from the arguments.
template <class Function>
struct Deduced {
    Launch how;
    const char* names;
    Function function;

    template <class... Arguments>
    TG_QUIET void operator()(Arguments... arguments) const {
        Ready<Function, Arguments...>{how, names, function}(arguments...);
    }
};

struct Config {
    Launch how;

    template <class... Parameters>
    TG_QUIET Ready<void (*)(Parameters...), Parameters...> kernel(const char* name, const char* names,
                                                                  void (*function)(Parameters...)) const {
        return {{how.grid, how.block, how.shared, how.line, name}, names, function};
    }

    template <class Function>
    TG_QUIET Deduced<Function> deduced(const char* name, const char* names, Function function) const {
        return {{how.grid, how.block, how.shared, how.line, name}, names, function};
    }
};

TG_QUIET inline Config config(int line, dim3 grid, dim3 block, size_t shared = 0, cudaStream_t = nullptr) {
    return Config{{grid, block, shared, line, ""}};
}

// A `__shared__` variable: one for all blocks, since they run one after the other.
template <class T>
struct SharedVariable {
    int number;
    void* place;

    TG_QUIET explicit SharedVariable(const char* name) : place(make_shared(sizeof(T), name, &number)) {}

    TG_QUIET T& get() {
        declare_shared(number);
        return *static_cast<T*>(place);
    }
};

}  // namespace tg

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __syncthreads() ::tg::barrier(__LINE__)
#define __CUDACC__ 1
