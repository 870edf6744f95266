/* What NVRTC declares by itself and clang without CUDA's headers does not: the words and functions
 * of CUDA that the dialect (evener/kernel.h) and the self-test use. */
#define __CUDACC__             1
#define __global__             __attribute__((global))
#define __device__             __attribute__((device))
#define __shared__             __attribute__((shared))
#define __constant__           __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__        __inline__ __attribute__((always_inline))

#define CLANG_SPECIAL(name, register)                                                              \
    struct name##_of_clang {                                                                       \
        struct axis_x {                                                                            \
            __device__ operator int() const { return __nvvm_read_ptx_sreg_##register##_x(); }      \
        } x;                                                                                       \
        struct axis_y {                                                                            \
            __device__ operator int() const { return __nvvm_read_ptx_sreg_##register##_y(); }      \
        } y;                                                                                       \
    };                                                                                             \
    extern const __device__ name##_of_clang name
CLANG_SPECIAL(threadIdx, tid);
CLANG_SPECIAL(blockIdx, ctaid);
CLANG_SPECIAL(blockDim, ntid);
CLANG_SPECIAL(gridDim, nctaid);

static __device__ __forceinline__ double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
static __device__ __forceinline__ float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
static __device__ __forceinline__ float sqrt(float a) { return __nvvm_sqrt_rn_f(a); }
static __device__ __forceinline__ double fabs(double a) { return __builtin_fabs(a); }
static __device__ __forceinline__ double fma(double a, double b, double c) {
    return __nvvm_fma_rn_d(a, b, c);
}
static __device__ __forceinline__ long long __double_as_longlong(double a) {
    long long b;
    __builtin_memcpy(&b, &a, sizeof b);
    return b;
}
static __device__ __forceinline__ double __longlong_as_double(long long a) {
    return __builtin_bit_cast(double, a);
}
static __device__ __forceinline__ unsigned int atomicCAS(unsigned int *at, unsigned int old,
                                                         unsigned int now) {
    return (unsigned int)__nvvm_atom_cas_gen_i((int *)at, (int)old, (int)now);
}
static __device__ __forceinline__ unsigned long long
atomicCAS(unsigned long long *at, unsigned long long old, unsigned long long now) {
    return (unsigned long long)__nvvm_atom_cas_gen_ll((long long *)at, (long long)old,
                                                      (long long)now);
}
static __device__ __forceinline__ void __threadfence() { __nvvm_membar_gl(); }
#pragma clang force_cuda_host_device begin /* functions without a word are the device's, too */
