/* What this project uses of CUDA's driver and of its run-time compiler, written down, so that no
 * header and no library of theirs is needed to build it.
 *
 * A function is named by the symbol it has in the library, which is not always the name in the
 * manual: those that were changed carry a _v2, and the plain symbol beside it is the old function
 * with other types. R: required; O: may be absent (NULL in the table), with the version that
 * brought it. Where CUDA's own headers are included before this one, their types are used, and a
 * test compares every line.
 */
#ifndef DEVICE_CUDA_API_H
#define DEVICE_CUDA_API_H

#include <stddef.h>

#ifndef __cuda_cuda_h__
typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef int CUfunction_attribute;
typedef int CUjit_option;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
#endif

#ifndef __NVRTC_H__
typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
#endif

/* member, symbol, parameters */
#define CUDA_FUNCTIONS(R, O)                                                                       \
    R(init, cuInit, (unsigned flags))                                                              \
    R(driver_version, cuDriverGetVersion, (int *version))                                          \
    R(error_name, cuGetErrorName, (CUresult code, const char **name))                              \
    R(error_text, cuGetErrorString, (CUresult code, const char **text))                            \
    R(device_count, cuDeviceGetCount, (int *count))                                                \
    R(device_get, cuDeviceGet, (CUdevice * device, int ordinal))                                   \
    R(device_name, cuDeviceGetName, (char *name, int size, CUdevice device))                       \
    R(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                       \
    R(device_attribute, cuDeviceGetAttribute,                                                      \
      (int *value, CUdevice_attribute attribute, CUdevice device))                                 \
    R(device_peer, cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer))              \
    R(context_flags, cuDevicePrimaryCtxSetFlags_v2, (CUdevice device, unsigned flags))             \
    R(context_retain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))            \
    R(context_release, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                            \
    R(context_set, cuCtxSetCurrent, (CUcontext context))                                           \
    R(context_finish, cuCtxSynchronize, (void))                                                    \
    R(peer_enable, cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))                        \
    R(peer_disable, cuCtxDisablePeerAccess, (CUcontext peer))                                      \
    R(memory_info, cuMemGetInfo_v2, (size_t * available, size_t * total))                          \
    R(memory_open, cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                           \
    R(memory_close, cuMemFree_v2, (CUdeviceptr address))                                           \
    R(host_open, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                    \
    R(host_close, cuMemFreeHost, (void *memory))                                                   \
    R(copy_in, cuMemcpyHtoDAsync_v2,                                                               \
      (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                           \
    R(copy_out, cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream)) \
    R(copy_within, cuMemcpyDtoDAsync_v2,                                                           \
      (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                           \
    R(copy_peer, cuMemcpyPeerAsync,                                                                \
      (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,             \
       size_t bytes, CUstream stream))                                                             \
    R(stream_open, cuStreamCreate, (CUstream * stream, unsigned flags))                            \
    R(stream_close, cuStreamDestroy_v2, (CUstream stream))                                         \
    R(stream_finish, cuStreamSynchronize, (CUstream stream))                                       \
    R(stream_wait, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))            \
    R(event_open, cuEventCreate, (CUevent * event, unsigned flags))                                \
    R(event_close, cuEventDestroy_v2, (CUevent event))                                             \
    R(event_record, cuEventRecord, (CUevent event, CUstream stream))                               \
    R(event_finish, cuEventSynchronize, (CUevent event))                                           \
    R(event_query, cuEventQuery, (CUevent event))                                                  \
    R(event_time, cuEventElapsedTime, (float *milliseconds, CUevent begin, CUevent end))           \
    R(module_open, cuModuleLoadDataEx,                                                             \
      (CUmodule * module, const void *image, unsigned options, CUjit_option *option,               \
       void **value))                                                                              \
    R(module_close, cuModuleUnload, (CUmodule module))                                             \
    R(function_get, cuModuleGetFunction,                                                           \
      (CUfunction * function, CUmodule module, const char *name))                                  \
    R(function_attribute, cuFuncGetAttribute,                                                      \
      (int *value, CUfunction_attribute attribute, CUfunction function))                           \
    R(function_set, cuFuncSetAttribute,                                                            \
      (CUfunction function, CUfunction_attribute attribute, int value))                            \
    R(function_groups, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                \
      (int *groups, CUfunction function, int items, size_t local_bytes))                           \
    R(launch, cuLaunchKernel,                                                                      \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned local_bytes, CUstream stream, void **argument, \
       void **extra))                                                                              \
    R(launch_resident, cuLaunchCooperativeKernel,                                                  \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned local_bytes, CUstream stream,                  \
       void **argument))                                                                 /* 9.0 */ \
    O(host_register, cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags)) /* 6.5 */ \
    O(host_unregister, cuMemHostUnregister, (void *memory))                              /* 4.0 */ \
    O(function_load, cuFuncLoad, (CUfunction function)) /* 12.4 */                                 \
    O(function_parameter, cuFuncGetParamInfo,                                                      \
      (CUfunction function, size_t parameter, size_t * at, size_t * bytes)) /* 12.4 */

#define NVRTC_FUNCTIONS(R, O)                                                                      \
    R(version, nvrtcVersion, (int *major, int *minor))                                             \
    R(architecture_count, nvrtcGetNumSupportedArchs, (int *count)) /* 11.2 */                      \
    R(architecture_list, nvrtcGetSupportedArchs, (int *list))      /* 11.2 */                      \
    R(open, nvrtcCreateProgram,                                                                    \
      (nvrtcProgram * program, const char *text, const char *name, int headers,                    \
       const char *const *header, const char *const *header_name))                                 \
    R(close, nvrtcDestroyProgram, (nvrtcProgram * program))                                        \
    R(compile, nvrtcCompileProgram,                                                                \
      (nvrtcProgram program, int options, const char *const *option))                              \
    R(log_bytes, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t * bytes))                   \
    R(log, nvrtcGetProgramLog, (nvrtcProgram program, char *log))                                  \
    R(cubin_bytes, nvrtcGetCUBINSize, (nvrtcProgram program, size_t * bytes)) /* 11.1 */           \
    R(cubin, nvrtcGetCUBIN, (nvrtcProgram program, char *cubin))              /* 11.1 */           \
    R(ptx_bytes, nvrtcGetPTXSize, (nvrtcProgram program, size_t * bytes))                          \
    R(ptx, nvrtcGetPTX, (nvrtcProgram program, char *ptx))

#define CUDA_MEMBER(member, symbol, parameters) CUresult(*member) parameters;
struct cuda_api {
    CUDA_FUNCTIONS(CUDA_MEMBER, CUDA_MEMBER)
};
#undef CUDA_MEMBER

#define NVRTC_MEMBER(member, symbol, parameters) nvrtcResult(*member) parameters;
struct nvrtc_api {
    NVRTC_FUNCTIONS(NVRTC_MEMBER, NVRTC_MEMBER)
    const char *(*error_text)(
        nvrtcResult code); /* nvrtcGetErrorString: the one with another type */
};
#undef NVRTC_MEMBER

/* our name, CUDA's name, value */
#define CUDA_CONSTANTS(X)                                                                          \
    X(CUDA_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, 1)                                             \
    X(CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                                             \
    X(CUDA_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED, 3)                                         \
    X(CUDA_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY, 34)                                              \
    X(CUDA_NEWER_DRIVER, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, 36)                                \
    X(CUDA_DEVICE_UNAVAILABLE, CUDA_ERROR_DEVICE_UNAVAILABLE, 46)                                  \
    X(CUDA_NO_DEVICE, CUDA_ERROR_NO_DEVICE, 100)                                                   \
    X(CUDA_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE, 101)                                         \
    X(CUDA_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, 200)                                           \
    X(CUDA_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                   \
    X(CUDA_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE, 214)                                   \
    X(CUDA_PEER_ACCESS_UNSUPPORTED, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217)                       \
    X(CUDA_INVALID_PTX, CUDA_ERROR_INVALID_PTX, 218)                                               \
    X(CUDA_JIT_NOT_FOUND, CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                                  \
    X(CUDA_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                       \
    X(CUDA_JIT_DISABLED, CUDA_ERROR_JIT_COMPILATION_DISABLED, 223)                                 \
    X(CUDA_INVALID_SOURCE, CUDA_ERROR_INVALID_SOURCE, 300)                                         \
    X(CUDA_OPERATING_SYSTEM, CUDA_ERROR_OPERATING_SYSTEM, 304)                                     \
    X(CUDA_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE, 400)                                         \
    X(CUDA_NOT_FOUND, CUDA_ERROR_NOT_FOUND, 500)                                                   \
    X(CUDA_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                       \
    X(CUDA_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                       \
    X(CUDA_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                         \
    X(CUDA_PEER_ACCESS_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)               \
    X(CUDA_HOST_MEMORY_REGISTERED, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712)                 \
    X(CUDA_TOO_LARGE, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)                                \
    X(CUDA_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED, 801)                                           \
    X(CUDA_NOT_READY, CUDA_ERROR_NOT_READY, 600)                                                   \
    X(CUDA_SYSTEM_NOT_READY, CUDA_ERROR_SYSTEM_NOT_READY, 802)                                     \
    X(CUDA_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                         \
    X(CUDA_COMPAT_NOT_SUPPORTED, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)                   \
    X(CUDA_UNKNOWN, CUDA_ERROR_UNKNOWN, 999)                                                       \
    X(CUDA_ITEMS_OF_GROUP, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                           \
    X(CUDA_LOCAL_MEMORY, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                       \
    X(CUDA_PROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                               \
    X(CUDA_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                \
    X(CUDA_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                \
    X(CUDA_LOCAL_OF_PROCESSOR, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)       \
    X(CUDA_RESIDENT, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 95)                                   \
    X(CUDA_KERNEL_LOCAL_BYTES, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                             \
    X(CUDA_KERNEL_LOCAL_SHARE, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 9)              \
    X(CUDA_WAIT_BLOCKED, CU_CTX_SCHED_BLOCKING_SYNC, 4)                                            \
    X(CUDA_EVENT_BLOCKED, CU_EVENT_BLOCKING_SYNC, 1)                                               \
    X(CUDA_KERNEL_MAX_ITEMS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                           \
    X(CUDA_JIT_ERRORS, CU_JIT_ERROR_LOG_BUFFER, 5)                                                 \
    X(CUDA_JIT_ERRORS_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                \
    X(CUDA_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE, 1)                                             \
    X(CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, 1)

#define NVRTC_CONSTANTS(X)                                                                         \
    X(NVRTC_NO_MEMORY, NVRTC_ERROR_OUT_OF_MEMORY, 1)                                               \
    X(NVRTC_BAD_OPTION, NVRTC_ERROR_INVALID_OPTION, 5)                                             \
    X(NVRTC_BAD_TEXT, NVRTC_ERROR_COMPILATION, 6)                                                  \
    X(NVRTC_NO_BUILTINS, NVRTC_ERROR_BUILTIN_OPERATION_FAILURE, 7)

#define CUDA_CONSTANT(ours, theirs, value) ours = value,
enum { CUDA_CONSTANTS(CUDA_CONSTANT) NVRTC_CONSTANTS(CUDA_CONSTANT) };
#undef CUDA_CONSTANT

#endif
