// What device code finds: atomic operations, warps, vectors, and CUDA's functions of numbers beyond those of <math.h>.

#pragma once

using std::isfinite;
using std::isinf;
using std::isnan;

#define TG_INLINE inline __attribute__((no_sanitize_thread))

// ---- smaller and greater: a NaN gives way to the other, as on the device -----------------------

#define TG_EXTREMES(a, b, result, least, greatest)                                           \
    TG_INLINE result min(a x, b y) { return least(static_cast<result>(x), static_cast<result>(y)); } \
    TG_INLINE result max(a x, b y) { return greatest(static_cast<result>(x), static_cast<result>(y)); }
#define TG_LEAST(x, y) ((x) < (y) ? (x) : (y))
#define TG_GREATEST(x, y) ((x) < (y) ? (y) : (x))
TG_EXTREMES(int, int, int, TG_LEAST, TG_GREATEST)
TG_EXTREMES(unsigned, unsigned, unsigned, TG_LEAST, TG_GREATEST)
TG_EXTREMES(int, unsigned, unsigned, TG_LEAST, TG_GREATEST)
TG_EXTREMES(unsigned, int, unsigned, TG_LEAST, TG_GREATEST)
TG_EXTREMES(long, long, long, TG_LEAST, TG_GREATEST)
TG_EXTREMES(unsigned long, unsigned long, unsigned long, TG_LEAST, TG_GREATEST)
TG_EXTREMES(long long, long long, long long, TG_LEAST, TG_GREATEST)
TG_EXTREMES(unsigned long long, unsigned long long, unsigned long long, TG_LEAST, TG_GREATEST)
TG_EXTREMES(float, float, float, fminf, fmaxf)
TG_EXTREMES(double, double, double, fmin, fmax)
TG_EXTREMES(float, double, double, fmin, fmax)
TG_EXTREMES(double, float, double, fmin, fmax)

// ---- functions of numbers ----------------------------------------------------------------------

TG_INLINE float rsqrtf(float x) { return 1.0f / sqrtf(x); }
TG_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }
TG_INLINE float rsqrt(float x) { return rsqrtf(x); }
TG_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
TG_INLINE float fdividef(float x, float y) { return x / y; }
TG_INLINE float __fdividef(float x, float y) { return x / y; }
TG_INLINE float tg_expf(float x) { return expf(x); }
TG_INLINE float tg_logf(float x) { return logf(x); }
TG_INLINE float tg_powf(float x, float y) { return powf(x, y); }
TG_INLINE float tg_sinf(float x) { return sinf(x); }
TG_INLINE float tg_cosf(float x) { return cosf(x); }
#define __expf(x) tg_expf(x)
#define __exp10f(x) tg_powf(10.0f, (x))
#define __logf(x) tg_logf(x)
#define __log2f(x) log2f(x)
#define __powf(x, y) tg_powf((x), (y))
#define __sinf(x) tg_sinf(x)
#define __cosf(x) tg_cosf(x)
#define __tanf(x) tanf(x)
TG_INLINE float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
TG_INLINE float __fadd_rn(float x, float y) { return x + y; }
TG_INLINE float __fsub_rn(float x, float y) { return x - y; }
TG_INLINE float __fmul_rn(float x, float y) { return x * y; }
TG_INLINE float __fdiv_rn(float x, float y) { return x / y; }
TG_INLINE float __frcp_rn(float x) { return 1.0f / x; }
TG_INLINE float __fsqrt_rn(float x) { return sqrtf(x); }
TG_INLINE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
TG_INLINE float __int2float_rn(int x) { return static_cast<float>(x); }
TG_INLINE int __float2int_rn(float x) { return static_cast<int>(rintf(x)); }
TG_INLINE int __float2int_rz(float x) { return static_cast<int>(x); }
TG_INLINE int __float_as_int(float x) {
    int bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
TG_INLINE float __int_as_float(int bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
TG_INLINE int __mul24(int x, int y) { return x * y; }
TG_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
TG_INLINE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
TG_INLINE int __ffs(int x) { return __builtin_ffs(x); }
template <class T>
inline T __ldg(const T* place) {
    return *place;
}
TG_INLINE long long clock64() { return 0; }
TG_INLINE void __threadfence() {}
TG_INLINE void __threadfence_block() {}
TG_INLINE void __trap() { abort(); }

// ---- atomic operations -------------------------------------------------------------------------

extern "C" void tg_atomic(const volatile void* place, size_t bytes);

// Threads run one at a time, so that what follows cannot be interrupted.
#define TG_ATOMIC(name, type, result)                        \
    __attribute__((no_sanitize_thread, always_inline)) inline \
    type name(type* place, type value) {                     \
        tg_atomic(place, sizeof(type));                      \
        type old = *place;                                   \
        *place = (result);                                   \
        return old;                                          \
    }
#define TG_ATOMIC_INTEGERS(type)                                  \
    TG_ATOMIC(atomicAdd, type, old + value)                       \
    TG_ATOMIC(atomicExch, type, value)                            \
    TG_ATOMIC(atomicMin, type, old < value ? old : value)         \
    TG_ATOMIC(atomicMax, type, old < value ? value : old)         \
    TG_ATOMIC(atomicAnd, type, old & value)                       \
    TG_ATOMIC(atomicOr, type, old | value)                        \
    TG_ATOMIC(atomicXor, type, old ^ value)                       \
    __attribute__((no_sanitize_thread, always_inline)) inline      \
    type atomicCAS(type* place, type expected, type value) {      \
        tg_atomic(place, sizeof(type));                           \
        type old = *place;                                        \
        *place = old == expected ? value : old;                   \
        return old;                                               \
    }
TG_ATOMIC_INTEGERS(int)
TG_ATOMIC_INTEGERS(unsigned)
TG_ATOMIC_INTEGERS(unsigned long long)
TG_ATOMIC(atomicSub, int, old - value)
TG_ATOMIC(atomicSub, unsigned, old - value)
TG_ATOMIC(atomicAdd, float, old + value)
TG_ATOMIC(atomicAdd, double, old + value)
TG_ATOMIC(atomicExch, float, value)

// ---- warps -------------------------------------------------------------------------------------

namespace tg {

template <class T>
TG_INLINE T exchanged(T value, int source, unsigned mask, int line) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = warp_exchange(bits, source, mask, line);
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The lane to take from, `away` lanes up or down; its own where that lies outside of its part of the warp.
TG_INLINE int lane_away(int away, int width) {
    int own = static_cast<int>(lane()), from = own + away;
    return from >= 0 && from / width == own / width ? from : own;
}

TG_INLINE int lane_xor(int bits, int width) {
    int own = static_cast<int>(lane()), from = own ^ bits;
    return from / width <= own / width ? from : own;
}

TG_INLINE int lane_at(int index, int width) {
    int own = static_cast<int>(lane());
    return own / width * width + (index % width + width) % width;
}

TG_INLINE int width_of(int width = 32) { return width; }

}  // namespace tg

#define __shfl_sync(mask, value, from, ...) \
    ::tg::exchanged((value), ::tg::lane_at((from), ::tg::width_of(__VA_ARGS__)), (mask), __LINE__)
#define __shfl_down_sync(mask, value, by, ...) \
    ::tg::exchanged((value), ::tg::lane_away((int)(by), ::tg::width_of(__VA_ARGS__)), (mask), __LINE__)
#define __shfl_up_sync(mask, value, by, ...) \
    ::tg::exchanged((value), ::tg::lane_away(-(int)(by), ::tg::width_of(__VA_ARGS__)), (mask), __LINE__)
#define __shfl_xor_sync(mask, value, bits, ...) \
    ::tg::exchanged((value), ::tg::lane_xor((bits), ::tg::width_of(__VA_ARGS__)), (mask), __LINE__)
#define TG_MASK(...) ::tg::mask_of(__VA_ARGS__)
#define __syncwarp(...) ::tg::warp_barrier(TG_MASK(__VA_ARGS__), __LINE__)
#define __ballot_sync(mask, value) ::tg::warp_vote((value), (mask), __LINE__)
#define __any_sync(mask, value) (::tg::warp_vote((value), (mask), __LINE__) != 0)
#define __all_sync(mask, value) (::tg::warp_vote(!(value), (mask), __LINE__) == 0)
#define __activemask() 0xffffffffu

namespace tg {
TG_INLINE unsigned mask_of(unsigned mask = 0xffffffffu) { return mask; }
}  // namespace tg

// ---- vectors -----------------------------------------------------------------------------------

#define TG_VECTORS(type, base, align2, align4)                                                                  \
    struct alignas(align2) type##2 { base x, y; };                                                              \
    struct type##3 { base x, y, z; };                                                                           \
    struct alignas(align4) type##4 { base x, y, z, w; };                                                        \
    TG_INLINE type##2 make_##type##2(base x, base y) { return {x, y}; }                                         \
    TG_INLINE type##3 make_##type##3(base x, base y, base z) { return {x, y, z}; }                              \
    TG_INLINE type##4 make_##type##4(base x, base y, base z, base w) { return {x, y, z, w}; }
TG_VECTORS(float, float, 8, 16)
TG_VECTORS(int, int, 8, 16)
