/* For programs: the dialect of device code. The same text is OpenCL C 1.2, CUDA C (NVRTC), HIP
 * (HIPRTC), and C for the host compiler.
 *
 * A kernel is written for a whole group of items, as a sequence of item loops with barriers between
 * them:
 *
 *     EVN_KERNEL(sums, 128, (EVN_IN(double, x), EVN_BUFFER(double, sum), EVN_VALUE(int, n))) {
 *         EVN_LOCAL_ARRAY(double, part, 128);
 *         EVN_ITEMS(i) {
 *             int at = EVN_GROUP * 128 + i;
 *             part[i] = at < n ? x[at] : 0;
 *         }
 *         EVN_BARRIER;
 *         EVN_FIRST {
 *             double s = 0;
 *             for (int k = 0; k < 128; k++) s += part[k];
 *             sum[EVN_GROUP] = s;
 *         }
 *     }
 *
 * On a device every item runs the body of an item loop; on the host it is a loop, which the
 * compiler vectorises. A value of an item ends with its loop, unless it is EVN_PRIVATE. A file of
 * kernels is NAME.kernel.c and includes this header and headers written in this dialect.
 * docs/kernels.md is the manual, with all restrictions. */
#ifndef EVENER_KERNEL_H
#define EVENER_KERNEL_H

/* 1: the compiler may fuse a*b+c into one rounding. Set by the build, the same for host and
 * devices. */
#ifndef EVN_CONTRACT
#    define EVN_CONTRACT 1
#endif

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#    define EVN_OPENCL 1
#elif defined(__HIP__)
#    define EVN_HIP 1
#elif defined(__CUDACC__)
#    define EVN_CUDA 1
#endif
#if defined(EVN_OPENCL) || defined(EVN_HIP) || defined(EVN_CUDA)
#    define EVN_ON_DEVICE 1
#else
#    define EVN_ON_DEVICE 0
#endif

/* ---- one section for each compiler ---- */

#if defined(EVN_OPENCL)

#    ifdef cl_khr_fp64
#        pragma OPENCL EXTENSION cl_khr_fp64 : enable
#    endif
#    if EVN_CONTRACT
#        pragma OPENCL FP_CONTRACT ON
#    else
#        pragma OPENCL FP_CONTRACT OFF
#    endif

typedef long evn_long;
typedef ulong evn_ulong;

#    define EVN_KERNEL(name, items, parameters)                                                    \
        __kernel __attribute__((reqd_work_group_size(items, 1, 1))) void name parameters
#    define EVN_GLOBAL                   __global
#    define EVN_LOCAL                    __local
#    define EVN_RESTRICT                 restrict
#    define EVN_DEVICE_FUNCTION          static inline
#    define EVN_TABLE(type, name, count) __constant type name[count]
#    define EVN_GROUP                    ((int)get_group_id(0))
#    define EVN_GROUPS                   ((int)get_num_groups(0))
#    define EVN_ITEM_COUNT               ((int)get_local_size(0))
#    define EVN_ITEM_                    ((int)get_local_id(0))
#    define EVN_BARRIER                  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#    define EVN_PREFETCH(pointer)        ((void)(pointer))
#    define EVN_RESIDENT(items, groups)  items
/* undeclared on purpose: the compiler's error shows the name */
#    define EVN_AWAIT(flag, n) evn_groups_of_OpenCL_cannot_wait_for_each_other
#    define EVN_RAISE(flag, n) evn_groups_of_OpenCL_cannot_wait_for_each_other

#    define evn_sqrt(a)      sqrt(a)
#    define evn_abs(a)       fabs(a)
#    define evn_fma(a, b, c) fma(a, b, c)
#    define evn_bits_(a)     as_ulong(a)
#    define evn_of_bits_(a)  as_double(a)

#elif defined(EVN_CUDA) || defined(EVN_HIP)

typedef long long evn_long;
typedef unsigned long long evn_ulong;

#    define EVN_GLOBAL
#    define EVN_LOCAL
#    define EVN_RESTRICT                 __restrict__
#    define EVN_DEVICE_FUNCTION          static __device__ __forceinline__
#    define EVN_TABLE(type, name, count) static __device__ __constant__ const type name[count]
#    define EVN_GROUP                    ((int)blockIdx.x)
#    define EVN_GROUPS                   ((int)gridDim.x)
#    define EVN_ITEM_COUNT               ((int)blockDim.x)
#    define EVN_ITEM_                    ((int)threadIdx.x)
#    define EVN_BARRIER                  __syncthreads()
#    define EVN_AWAIT(flag, n)           evn_await_(flag, n)

#    define evn_sqrt(a)      sqrt(a)
#    define evn_abs(a)       fabs(a)
#    define evn_fma(a, b, c) fma(a, b, c)
#    define evn_bits_(a)     ((evn_ulong)__double_as_longlong(a))
#    define evn_of_bits_(a)  __longlong_as_double((long long)(a))

#    ifdef EVN_CUDA

#        define EVN_KERNEL(name, items, parameters)                                                \
            extern "C" __global__ void __launch_bounds__(items) name parameters
#        define EVN_PREFETCH(pointer)       asm volatile("prefetch.global.L2 [%0];" ::"l"(pointer))
#        define EVN_RESIDENT(items, groups) items, groups /* two launch bounds */
#        define EVN_RAISE(flag, n)                                                                 \
            do {                                                                                   \
                EVN_BARRIER;                                                                       \
                if (EVN_ITEM_ == 0) evn_raise_(flag, n);                                           \
            } while (0)

/* Each item acquires on its own; the first item releases the writes of all items before the
 * barrier. */
#        if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
EVN_DEVICE_FUNCTION void evn_await_(const evn_long *flag, evn_long n) {
    evn_long now;
    do {
        asm volatile("ld.acquire.gpu.s64 %0, [%1];" : "=l"(now) : "l"(flag) : "memory");
    } while (now < n);
}
EVN_DEVICE_FUNCTION void evn_raise_(evn_long *flag, evn_long n) {
    asm volatile("st.release.gpu.s64 [%0], %1;" ::"l"(flag), "l"(n) : "memory");
}
#        else
EVN_DEVICE_FUNCTION void evn_await_(const evn_long *flag, evn_long n) {
    while (*(const volatile evn_long *)flag < n) {
    }
    __threadfence();
}
EVN_DEVICE_FUNCTION void evn_raise_(evn_long *flag, evn_long n) {
    __threadfence();
    *(volatile evn_long *)flag = n;
}
#        endif

#    else /* HIP */

/* functions without a word are the device's, as in OpenCL C */
#        pragma clang force_cuda_host_device begin

#        define EVN_KERNEL(name, items, parameters)                                                \
            extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(items, items)))  \
            name parameters
#        define EVN_PREFETCH(pointer)       ((void)(pointer)) /* gfx9 has no such instruction */
/* the compiler itself counts the groups for which local memory leaves room, 64 KiB a unit */
#        define EVN_RESIDENT(items, groups) items
/* Stores of a group's wavefronts reach the second-level cache each in its own order, so that each
 * item releases its own before the barrier, not the first for all. */
#        define EVN_RAISE(flag, n)                                                                 \
            do {                                                                                   \
                __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");                                 \
                EVN_BARRIER;                                                                       \
                if (EVN_ITEM_ == 0)                                                                \
                    __hip_atomic_store(flag, n, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);       \
            } while (0)

/* Each item acquires on its own, once the flag says so: an acquire in every round would empty the
 * first-level cache each time. */
EVN_DEVICE_FUNCTION void evn_await_(const evn_long *flag, evn_long n) {
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < n) {
    }
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
}

#    endif

#else /* the host */

typedef long long evn_long;
typedef unsigned long long evn_ulong;

#    define EVN_GLOBAL
#    define EVN_LOCAL
#    define EVN_RESTRICT                 __restrict
#    define EVN_DEVICE_FUNCTION          static inline __attribute__((always_inline, unused))
#    define EVN_TABLE(type, name, count) static const __attribute__((unused)) type name[count]
#    define EVN_GROUP                    evn_group
#    define EVN_GROUPS                   evn_groups
#    define EVN_ITEM_COUNT               ((int)sizeof *evn_shape)
#    define EVN_BARRIER                  ((void)0) /* the item loop before it has ended */
#    define EVN_PREFETCH(pointer)        ((void)(pointer))
#    define EVN_RESIDENT(items, groups)  items
#    define EVN_AWAIT(flag, n)           evn_group_await(flag, n)
#    define EVN_RAISE(flag, n)           evn_group_raise(flag, n)

/* parts of the emulated device; not to be called */
void evn_group_await(const evn_long *flag, evn_long n);
void evn_group_raise(evn_long *flag, evn_long n);

#    define evn_sqrt(a)      __builtin_sqrt(a)
#    define evn_abs(a)       __builtin_fabs(a)
#    define evn_fma(a, b, c) __builtin_fma(a, b, c)

EVN_DEVICE_FUNCTION evn_ulong evn_bits_(double a) {
    evn_ulong bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    return bits;
}
EVN_DEVICE_FUNCTION double evn_of_bits_(evn_ulong bits) {
    double a;
    __builtin_memcpy(&a, &bits, sizeof a);
    return a;
}

#endif

/* ---- item loops and data of items ---- */

#if EVN_ON_DEVICE

#    define EVN_ITEMS(i)    for (int i = EVN_ITEM_, evn_once_##i = 1; evn_once_##i; evn_once_##i = 0)
#    define EVN_SHARE(i, n) for (int i = EVN_ITEM_; i < (n); i += EVN_ITEM_COUNT)
#    define EVN_FIRST       if (EVN_ITEM_ == 0)

/* all items have the same number of rounds, known to the compiler */
#    define EVN_SHARE_AMONG(i, n, items)                                                           \
        for (int i = EVN_ITEM_, evn_left_##i = ((n) + (items)-1) / (items); evn_left_##i > 0;      \
             evn_left_##i--, i += (items))                                                         \
            if (i < (n))

#    if defined(EVN_CUDA) || defined(EVN_HIP)
#        define EVN_LOCAL_ARRAY(type, name, count) __shared__ type name[count]
#    else
#        define EVN_LOCAL_ARRAY(type, name, count) __local type name[count]
#    endif
#    define EVN_PRIVATE(type, name)              type name
#    define EVN_PRIVATE_ARRAY(type, name, count) type name[count]
#    define EVN_OWN(name, i)                     name
#    define EVN_OWN_AT(name, k, i)               name[k]

#    define EVN_IN(type, name)     EVN_GLOBAL const type *EVN_RESTRICT name
#    define EVN_BUFFER(type, name) EVN_GLOBAL type *EVN_RESTRICT name
#    define EVN_COMMON(type, name) EVN_GLOBAL type *name
#    define EVN_VALUE(type, name)  const type name

#else

/* All items of a group, in any order: the compiler may take several at once. */
#    define EVN_ITEMS(i)    _Pragma("omp simd") for (int i = 0; i < EVN_ITEM_COUNT; i++)
#    define EVN_SHARE(i, n) _Pragma("omp simd") for (int i = 0; i < (n); i++)
#    define EVN_FIRST       if (1)

#    define EVN_SHARE_AMONG(i, n, items) EVN_SHARE(i, n)

#    define EVN_LOCAL_ARRAY(type, name, count)   _Alignas(64) type name[count]
#    define EVN_PRIVATE(type, name)              _Alignas(64) type name[EVN_ITEM_COUNT]
#    define EVN_PRIVATE_ARRAY(type, name, count) _Alignas(64) type name[count][EVN_ITEM_COUNT]
#    define EVN_OWN(name, i)                     name[i]
#    define EVN_OWN_AT(name, k, i)               name[k][i]

/* A parameter stays in parentheses until EVN_KERNEL expands it to its declaration, its argument, or
 * its size. */
#    define EVN_IN(type, name)                   (EVN_IN, type, name)
#    define EVN_BUFFER(type, name)               (EVN_BUFFER, type, name)
#    define EVN_COMMON(type, name)               (EVN_COMMON, type, name)
#    define EVN_VALUE(type, name)                (EVN_VALUE, type, name)

#    define EVN_DECLARE_EVN_IN(type, name)     const type *__restrict name
#    define EVN_DECLARE_EVN_BUFFER(type, name) type *__restrict name
#    define EVN_DECLARE_EVN_COMMON(type, name) type *name
#    define EVN_DECLARE_EVN_VALUE(type, name)  const type name
#    define EVN_PASS_EVN_IN(type, at)          (const type *)evn_argument[at]
#    define EVN_PASS_EVN_BUFFER(type, at)      (type *)evn_argument[at]
#    define EVN_PASS_EVN_COMMON(type, at)      (type *)evn_argument[at]
#    define EVN_PASS_EVN_VALUE(type, at)       *(const type *)evn_argument[at]
#    define EVN_SIZE_EVN_IN(type)              -2 /* EVN_PARAMETER_IN */
#    define EVN_SIZE_EVN_BUFFER(type)          0
#    define EVN_SIZE_EVN_COMMON(type)          0
#    define EVN_SIZE_EVN_VALUE(type)           (int)sizeof(type)

#    define EVN_DECLARE(at, parameter)       EVN_DECLARE_ parameter
#    define EVN_DECLARE_(kind, type, name)   EVN_DECLARE_##kind(type, name)
#    define EVN_PASS(at, parameter)          EVN_PASS_(at, EVN_UNWRAP parameter)
#    define EVN_PASS_(...)                   EVN_PASS__(__VA_ARGS__)
#    define EVN_PASS__(at, kind, type, name) EVN_PASS_##kind(type, at)
#    define EVN_SIZE(at, parameter)          EVN_SIZE_ parameter
#    define EVN_SIZE_(kind, type, name)      EVN_SIZE_##kind(type)

/* The emulated device calls one group by NAME_run(); NAME_items and NAME_parameters describe the
 * kernel. The number of items is the size of an array type without an object: a constant even where
 * the compiler does not inline. */
#    define EVN_KERNEL(name, items, parameters)                                                    \
        static inline void name##_group(const char(*evn_shape)[items], int evn_groups,             \
                                        int evn_group, EVN_EACH(EVN_DECLARE, parameters));         \
        static __attribute__((unused)) void name##_run(                                            \
            const void *const *evn_argument, int evn_groups, int evn_group, int evn_items) {       \
            (void)evn_items;                                                                       \
            name##_group(0, evn_groups, evn_group, EVN_EACH(EVN_PASS, parameters));                \
        }                                                                                          \
        static __attribute__((unused))                                                             \
        const int name##_parameters[] = {EVN_EACH(EVN_SIZE, parameters), -1};                      \
        enum { name##_items = (items) };                                                           \
        static inline void name##_group(__attribute__((unused)) const char(*evn_shape)[items],     \
                                        __attribute__((unused)) int evn_groups,                    \
                                        __attribute__((unused)) int evn_group,                     \
                                        EVN_EACH(EVN_DECLARE, parameters))

/* clang warns about item loops that it does not vectorise; not an error here */
#    ifdef __clang__
#        pragma clang diagnostic ignored "-Wpass-failed"
#    endif

/* EVN_EACH(m, (a, b, ..)) is m(0, a), m(1, b), ..; at most 24 */
#    define EVN_UNWRAP(...)       __VA_ARGS__
#    define EVN_EACH(m, list)     EVN_EACH_(m, EVN_COUNT list, EVN_UNWRAP list)
#    define EVN_EACH_(m, n, ...)  EVN_EACH__(m, n, __VA_ARGS__)
#    define EVN_EACH__(m, n, ...) EVN_EACH_##n(m, n, __VA_ARGS__)
#    define EVN_COUNT(...)                                                                         \
        EVN_COUNT_(__VA_ARGS__, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8,  \
                   7, 6, 5, 4, 3, 2, 1, 0)
#    define EVN_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, N,  \
                       ...)                                                                        \
        N
#    define EVN_EACH_1(m, n, a)       m((n)-1, a)
#    define EVN_EACH_2(m, n, a, ...)  m((n)-2, a), EVN_EACH_1(m, n, __VA_ARGS__)
#    define EVN_EACH_3(m, n, a, ...)  m((n)-3, a), EVN_EACH_2(m, n, __VA_ARGS__)
#    define EVN_EACH_4(m, n, a, ...)  m((n)-4, a), EVN_EACH_3(m, n, __VA_ARGS__)
#    define EVN_EACH_5(m, n, a, ...)  m((n)-5, a), EVN_EACH_4(m, n, __VA_ARGS__)
#    define EVN_EACH_6(m, n, a, ...)  m((n)-6, a), EVN_EACH_5(m, n, __VA_ARGS__)
#    define EVN_EACH_7(m, n, a, ...)  m((n)-7, a), EVN_EACH_6(m, n, __VA_ARGS__)
#    define EVN_EACH_8(m, n, a, ...)  m((n)-8, a), EVN_EACH_7(m, n, __VA_ARGS__)
#    define EVN_EACH_9(m, n, a, ...)  m((n)-9, a), EVN_EACH_8(m, n, __VA_ARGS__)
#    define EVN_EACH_10(m, n, a, ...) m((n)-10, a), EVN_EACH_9(m, n, __VA_ARGS__)
#    define EVN_EACH_11(m, n, a, ...) m((n)-11, a), EVN_EACH_10(m, n, __VA_ARGS__)
#    define EVN_EACH_12(m, n, a, ...) m((n)-12, a), EVN_EACH_11(m, n, __VA_ARGS__)
#    define EVN_EACH_13(m, n, a, ...) m((n)-13, a), EVN_EACH_12(m, n, __VA_ARGS__)
#    define EVN_EACH_14(m, n, a, ...) m((n)-14, a), EVN_EACH_13(m, n, __VA_ARGS__)
#    define EVN_EACH_15(m, n, a, ...) m((n)-15, a), EVN_EACH_14(m, n, __VA_ARGS__)
#    define EVN_EACH_16(m, n, a, ...) m((n)-16, a), EVN_EACH_15(m, n, __VA_ARGS__)
#    define EVN_EACH_17(m, n, a, ...) m((n)-17, a), EVN_EACH_16(m, n, __VA_ARGS__)
#    define EVN_EACH_18(m, n, a, ...) m((n)-18, a), EVN_EACH_17(m, n, __VA_ARGS__)
#    define EVN_EACH_19(m, n, a, ...) m((n)-19, a), EVN_EACH_18(m, n, __VA_ARGS__)
#    define EVN_EACH_20(m, n, a, ...) m((n)-20, a), EVN_EACH_19(m, n, __VA_ARGS__)
#    define EVN_EACH_21(m, n, a, ...) m((n)-21, a), EVN_EACH_20(m, n, __VA_ARGS__)
#    define EVN_EACH_22(m, n, a, ...) m((n)-22, a), EVN_EACH_21(m, n, __VA_ARGS__)
#    define EVN_EACH_23(m, n, a, ...) m((n)-23, a), EVN_EACH_22(m, n, __VA_ARGS__)
#    define EVN_EACH_24(m, n, a, ...) m((n)-24, a), EVN_EACH_23(m, n, __VA_ARGS__)

#endif

/* ---- common to all compilers ---- */

/* condition ? a : b; both may be evaluated */
#define EVN_SELECT(condition, a, b) ((condition) ? (a) : (b))

/* The 64 bits of a double as an integer, for hashes and comparisons of bits. */
EVN_DEVICE_FUNCTION evn_ulong evn_bits(double a) { return evn_bits_(a); }

/* return the first argument if the two are unordered (NaN) */
EVN_DEVICE_FUNCTION double evn_min(double a, double b) { return b < a ? b : a; }
EVN_DEVICE_FUNCTION double evn_max(double a, double b) { return b > a ? b : a; }
EVN_DEVICE_FUNCTION int evn_imin(int a, int b) { return b < a ? b : a; }
EVN_DEVICE_FUNCTION int evn_imax(int a, int b) { return b > a ? b : a; }

#endif
