/* The parts of the drivers and run-time compilers of CUDA and of HIP that this project uses,
 * written down, so that no header and no library of theirs is needed to build it: one table of
 * functions, two sets of names.
 *
 * A function is named by the symbol it has in the library, which is not always the name in the
 * manual: those of CUDA that were changed carry a _v2, and the plain symbol beside it is the old
 * function with other types. Beside each name: R, required; O, may be absent (NULL in the table),
 * with the version that brought it; N, this side has no such function. Both sides pass the same
 * registers: an address is 64 bits, which CUDA calls an integer and HIP a pointer. Where one side's
 * own headers are included before this one, its types are used, and a test compares every line.
 */
#pragma once

#include <stddef.h>

#if defined(__cuda_cuda_h__)
typedef CUresult gpu_result;
typedef CUdevice gpu_number;
typedef CUdevice_attribute gpu_device_attribute;
typedef CUfunction_attribute gpu_function_attribute;
typedef CUjit_option gpu_load_option;
typedef CUdeviceptr gpu_address;
typedef CUcontext gpu_context;
typedef CUmodule gpu_module;
typedef CUfunction gpu_function;
typedef CUstream gpu_stream;
typedef CUevent gpu_event;
typedef void gpu_properties;
#elif defined(HIP_INCLUDE_HIP_HIP_RUNTIME_API_H)
typedef hipError_t gpu_result;
typedef hipDevice_t gpu_number;
typedef hipDeviceAttribute_t gpu_device_attribute;
typedef hipFunction_attribute gpu_function_attribute;
typedef hipJitOption gpu_load_option;
typedef hipDeviceptr_t gpu_address;
typedef hipCtx_t gpu_context;
typedef hipModule_t gpu_module;
typedef hipFunction_t gpu_function;
typedef hipStream_t gpu_stream;
typedef hipEvent_t gpu_event;
typedef hipDeviceProp_t gpu_properties;
#else
typedef int gpu_result;
typedef int gpu_number;
typedef int gpu_device_attribute;
typedef int gpu_function_attribute;
typedef int gpu_load_option;
typedef unsigned long long gpu_address;
typedef struct gpu_context_object *gpu_context;
typedef struct gpu_module_object *gpu_module;
typedef struct gpu_function_object *gpu_function;
typedef struct gpu_stream_object *gpu_stream;
typedef struct gpu_event_object *gpu_event;
typedef void gpu_properties; /* a struct whose layout changes */
#endif

/* HIPRTC's header has no mark of its own: HIPRTC_IS_INCLUDED says that it is there */
#if defined(__NVRTC_H__)
typedef nvrtcResult rtc_result;
typedef nvrtcProgram rtc_handle;
#elif defined(HIPRTC_IS_INCLUDED)
typedef hiprtcResult rtc_result;
typedef hiprtcProgram rtc_handle;
#else
typedef int rtc_result;
typedef struct rtc_handle_object *rtc_handle;
#endif

/* const, which earlier headers of HIP lack */
#ifndef GPU_CONST
#    define GPU_CONST const
#endif

enum gpu_side { GPU_CUDA, GPU_HIP, GPU_SIDES };

/* member, CUDA's symbol and need, HIP's symbol and need, parameters */
#define GPU_FUNCTIONS(F)                                                                           \
    F(init, cuInit, R, hipInit, R, (unsigned flags))                                               \
    F(driver_version, cuDriverGetVersion, R, hipDriverGetVersion, R, (int *version))               \
    F(error_name, cuGetErrorName, R, none, N, (gpu_result code, const char **name))                \
    F(error_text, cuGetErrorString, R, none, N, (gpu_result code, const char **text))              \
    F(device_count, cuDeviceGetCount, R, hipGetDeviceCount, R, (int *count))                       \
    F(device_get, cuDeviceGet, R, hipDeviceGet, R, (gpu_number * device, int ordinal))             \
    F(device_name, cuDeviceGetName, R, hipDeviceGetName, R,                                        \
      (char *name, int size, gpu_number device))                                                   \
    F(device_memory, cuDeviceTotalMem_v2, R, hipDeviceTotalMem, R,                                 \
      (size_t * bytes, gpu_number device))                                                         \
    F(device_attribute, cuDeviceGetAttribute, R, hipDeviceGetAttribute, R,                         \
      (int *value, gpu_device_attribute attribute, gpu_number device))                             \
    F(device_properties, none, N, hipGetDeviceProperties, O,                                       \
      (gpu_properties * properties, int device))                                                   \
    F(device_properties_6, none, N, hipGetDevicePropertiesR0600, O, /* 6.0 */                      \
      (gpu_properties * properties, int device))                                                   \
    F(device_peer, cuDeviceCanAccessPeer, R, hipDeviceCanAccessPeer, R,                            \
      (int *can, gpu_number device, gpu_number peer))                                              \
    F(context_flags, cuDevicePrimaryCtxSetFlags_v2, R, none, N,                                    \
      (gpu_number device, unsigned flags))                                                         \
    F(context_retain, cuDevicePrimaryCtxRetain, R, none, N,                                        \
      (gpu_context * context, gpu_number device))                                                  \
    F(context_release, cuDevicePrimaryCtxRelease_v2, R, none, N, (gpu_number device))              \
    F(context_set, cuCtxSetCurrent, R, none, N, (gpu_context context))                             \
    F(device_set, none, N, hipSetDevice, R, (int device))                                          \
    F(device_flags, none, N, hipSetDeviceFlags, R, (unsigned flags))                               \
    F(context_finish, cuCtxSynchronize, R, hipDeviceSynchronize, R, (void))                        \
    F(peer_enable, cuCtxEnablePeerAccess, R, none, N, (gpu_context peer, unsigned flags))          \
    F(peer_disable, cuCtxDisablePeerAccess, R, none, N, (gpu_context peer))                        \
    F(peer_enable_device, none, N, hipDeviceEnablePeerAccess, R, (int peer, unsigned flags))       \
    F(peer_disable_device, none, N, hipDeviceDisablePeerAccess, R, (int peer))                     \
    F(memory_info, cuMemGetInfo_v2, R, hipMemGetInfo, R, (size_t * available, size_t * total))     \
    F(memory_open, cuMemAlloc_v2, R, hipMalloc, R, (gpu_address * address, size_t bytes))          \
    F(memory_close, cuMemFree_v2, R, hipFree, R, (gpu_address address))                            \
    F(host_open, cuMemHostAlloc, R, hipHostMalloc, R,                                              \
      (void **memory, size_t bytes, unsigned flags))                                               \
    F(host_close, cuMemFreeHost, R, hipHostFree, R, (void *memory))                                \
    F(copy_in, cuMemcpyHtoDAsync_v2, R, hipMemcpyHtoDAsync, R,                                     \
      (gpu_address to, GPU_CONST void *from, size_t bytes, gpu_stream stream))                     \
    F(copy_out, cuMemcpyDtoHAsync_v2, R, hipMemcpyDtoHAsync, R,                                    \
      (void *to, gpu_address from, size_t bytes, gpu_stream stream))                               \
    F(copy_within, cuMemcpyDtoDAsync_v2, R, hipMemcpyDtoDAsync, R,                                 \
      (gpu_address to, gpu_address from, size_t bytes, gpu_stream stream))                         \
    F(copy_peer, cuMemcpyPeerAsync, R, none, N,                                                    \
      (gpu_address to, gpu_context to_context, gpu_address from, gpu_context from_context,         \
       size_t bytes, gpu_stream stream))                                                           \
    F(copy_peer_device, none, N, hipMemcpyPeerAsync, R,                                            \
      (void *to, int to_device, const void *from, int from_device, size_t bytes,                   \
       gpu_stream stream))                                                                         \
    F(stream_open, cuStreamCreate, R, hipStreamCreateWithFlags, R,                                 \
      (gpu_stream * stream, unsigned flags))                                                       \
    F(stream_close, cuStreamDestroy_v2, R, hipStreamDestroy, R, (gpu_stream stream))               \
    F(stream_finish, cuStreamSynchronize, R, hipStreamSynchronize, R, (gpu_stream stream))         \
    F(stream_wait, cuStreamWaitEvent, R, hipStreamWaitEvent, R,                                    \
      (gpu_stream stream, gpu_event event, unsigned flags))                                        \
    F(event_open, cuEventCreate, R, hipEventCreateWithFlags, R,                                    \
      (gpu_event * event, unsigned flags))                                                         \
    F(event_close, cuEventDestroy_v2, R, hipEventDestroy, R, (gpu_event event))                    \
    F(event_record, cuEventRecord, R, hipEventRecord, R, (gpu_event event, gpu_stream stream))     \
    F(event_finish, cuEventSynchronize, R, hipEventSynchronize, R, (gpu_event event))              \
    F(event_query, cuEventQuery, R, hipEventQuery, R, (gpu_event event))                           \
    F(event_time, cuEventElapsedTime, R, hipEventElapsedTime, R,                                   \
      (float *milliseconds, gpu_event begin, gpu_event end))                                       \
    F(module_open, cuModuleLoadDataEx, R, hipModuleLoadDataEx, R,                                  \
      (gpu_module * module, const void *image, unsigned options, gpu_load_option *option,          \
       void **value))                                                                              \
    F(module_close, cuModuleUnload, R, hipModuleUnload, R, (gpu_module module))                    \
    F(function_get, cuModuleGetFunction, R, hipModuleGetFunction, R,                               \
      (gpu_function * function, gpu_module module, const char *name))                              \
    F(function_attribute, cuFuncGetAttribute, R, hipFuncGetAttribute, R,                           \
      (int *value, gpu_function_attribute attribute, gpu_function function))                       \
    F(function_set, cuFuncSetAttribute, R, none, N,                                                \
      (gpu_function function, gpu_function_attribute attribute, int value))                        \
    F(function_groups, cuOccupancyMaxActiveBlocksPerMultiprocessor, R,                             \
      hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, R,                                       \
      (int *groups, gpu_function function, int items, size_t local_bytes))                         \
    F(launch, cuLaunchKernel, R, hipModuleLaunchKernel, R,                                         \
      (gpu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
       unsigned block_y, unsigned block_z, unsigned local_bytes, gpu_stream stream,                \
       void **argument, void **extra))                                                             \
    F(launch_resident, cuLaunchCooperativeKernel, R, /* 9.0 */                                     \
      hipModuleLaunchCooperativeKernel, O,           /* 5.5 */                                     \
      (gpu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
       unsigned block_y, unsigned block_z, unsigned local_bytes, gpu_stream stream,                \
       void **argument))                                                                           \
    F(host_register, cuMemHostRegister_v2, O /* 6.5 */, hipHostRegister, O,                        \
      (void *memory, size_t bytes, unsigned flags))                                                \
    F(host_unregister, cuMemHostUnregister, O /* 4.0 */, hipHostUnregister, O, (void *memory))     \
    F(function_load, cuFuncLoad, O /* 12.4 */, none, N, (gpu_function function))                   \
    F(function_parameter, cuFuncGetParamInfo, O /* 12.4 */, none, N,                               \
      (gpu_function function, size_t parameter, size_t * at, size_t * bytes))

#define RTC_FUNCTIONS(F)                                                                           \
    F(version_of, nvrtcVersion, R, hiprtcVersion, R, (int *major, int *minor))                     \
    F(architecture_count, nvrtcGetNumSupportedArchs, R /* 11.2 */, none, N, (int *count))          \
    F(architecture_list, nvrtcGetSupportedArchs, R /* 11.2 */, none, N, (int *list))               \
    F(open, nvrtcCreateProgram, R, hiprtcCreateProgram, R,                                         \
      (rtc_handle * program, const char *text, const char *name, int headers,                      \
       const char *GPU_CONST *header, const char *GPU_CONST *header_name))                         \
    F(close, nvrtcDestroyProgram, R, hiprtcDestroyProgram, R, (rtc_handle * program))              \
    F(compile, nvrtcCompileProgram, R, hiprtcCompileProgram, R,                                    \
      (rtc_handle program, int options, const char *GPU_CONST *option))                            \
    F(log_bytes, nvrtcGetProgramLogSize, R, hiprtcGetProgramLogSize, R,                            \
      (rtc_handle program, size_t * bytes))                                                        \
    F(log, nvrtcGetProgramLog, R, hiprtcGetProgramLog, R, (rtc_handle program, char *log))         \
    F(code_bytes, nvrtcGetCUBINSize, R /* 11.1 */, hiprtcGetCodeSize, R,                           \
      (rtc_handle program, size_t * bytes))                                                        \
    F(code, nvrtcGetCUBIN, R /* 11.1 */, hiprtcGetCode, R, (rtc_handle program, char *code))       \
    F(text_bytes, nvrtcGetPTXSize, R, none, N, (rtc_handle program, size_t * bytes))               \
    F(text, nvrtcGetPTX, R, none, N, (rtc_handle program, char *text))

#define GPU_MEMBER(member, cuda, cuda_need, hip, hip_need, parameters)                             \
    gpu_result(*member) parameters;
struct gpu_api {
    GPU_FUNCTIONS(GPU_MEMBER)
    /* HIP's, with another type: hipGetErrorName, hipGetErrorString */
    const char *(*name_of_error)(gpu_result code);
    const char *(*text_of_error)(gpu_result code);
};
#undef GPU_MEMBER

#define GPU_MEMBER(member, cuda, cuda_need, hip, hip_need, parameters)                             \
    rtc_result(*member) parameters;
struct rtc_api {
    RTC_FUNCTIONS(GPU_MEMBER)
    /* nvrtcGetErrorString, hiprtcGetErrorString: the one with another type */
    const char *(*error_text)(rtc_result code);
};
#undef GPU_MEMBER

/* numbers of the driver's functions, for messages: GPU_CALL_init, .. */
#define GPU_MEMBER(member, cuda, cuda_need, hip, hip_need, parameters) GPU_CALL_##member,
enum gpu_call { GPU_FUNCTIONS(GPU_MEMBER) GPU_CALLS };
#undef GPU_MEMBER

/* our name, CUDA's name, HIP's name, value */
#define GPU_CONSTANTS(X)                                                                           \
    X(GPU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, hipErrorInvalidValue, 1)                        \
    X(GPU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, hipErrorOutOfMemory, 2)                         \
    X(GPU_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED, hipErrorNotInitialized, 3)                  \
    X(GPU_NO_DEVICE, CUDA_ERROR_NO_DEVICE, hipErrorNoDevice, 100)                                  \
    X(GPU_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE, hipErrorInvalidDevice, 101)                   \
    X(GPU_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, hipErrorInvalidImage, 200)                      \
    X(GPU_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU, hipErrorNoBinaryForGpu, 209)            \
    X(GPU_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE, hipErrorECCNotCorrectable, 214)         \
    X(GPU_PEER_ACCESS_UNSUPPORTED, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,                             \
      hipErrorPeerAccessUnsupported, 217)                                                          \
    X(GPU_INVALID_PTX, CUDA_ERROR_INVALID_PTX, hipErrorInvalidKernelFile, 218)                     \
    X(GPU_INVALID_SOURCE, CUDA_ERROR_INVALID_SOURCE, hipErrorInvalidSource, 300)                   \
    X(GPU_OPERATING_SYSTEM, CUDA_ERROR_OPERATING_SYSTEM, hipErrorOperatingSystem, 304)             \
    X(GPU_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE, hipErrorInvalidHandle, 400)                   \
    X(GPU_NOT_FOUND, CUDA_ERROR_NOT_FOUND, hipErrorNotFound, 500)                                  \
    X(GPU_NOT_READY, CUDA_ERROR_NOT_READY, hipErrorNotReady, 600)                                  \
    X(GPU_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, hipErrorIllegalAddress, 700)                \
    X(GPU_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,                             \
      hipErrorLaunchOutOfResources, 701)                                                           \
    X(GPU_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, hipErrorLaunchTimeOut, 702)                   \
    X(GPU_PEER_ACCESS_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,                     \
      hipErrorPeerAccessAlreadyEnabled, 704)                                                       \
    X(GPU_HOST_MEMORY_REGISTERED, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,                       \
      hipErrorHostMemoryAlreadyRegistered, 712)                                                    \
    X(GPU_TOO_LARGE, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, hipErrorCooperativeLaunchTooLarge,   \
      720)                                                                                         \
    X(GPU_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED, hipErrorNotSupported, 801)                      \
    X(GPU_UNKNOWN, CUDA_ERROR_UNKNOWN, hipErrorUnknown, 999)                                       \
    X(GPU_KERNEL_MAX_ITEMS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,                               \
      HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                                                 \
    X(GPU_KERNEL_LOCAL_BYTES, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,                                 \
      HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                                     \
    X(GPU_WAIT_BLOCKED, CU_CTX_SCHED_BLOCKING_SYNC, hipDeviceScheduleBlockingSync, 4)              \
    X(GPU_EVENT_BLOCKED, CU_EVENT_BLOCKING_SYNC, hipEventBlockingSync, 1)                          \
    X(GPU_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE, hipHostMallocPortable, 1)                       \
    X(GPU_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, hipStreamNonBlocking, 1)

/* our name, its name, value */
#define CUDA_CONSTANTS(X)                                                                          \
    X(CUDA_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY, 34)                                              \
    X(CUDA_NEWER_DRIVER, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, 36)                                \
    X(CUDA_DEVICE_UNAVAILABLE, CUDA_ERROR_DEVICE_UNAVAILABLE, 46)                                  \
    X(CUDA_JIT_NOT_FOUND, CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                                  \
    X(CUDA_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                       \
    X(CUDA_JIT_DISABLED, CUDA_ERROR_JIT_COMPILATION_DISABLED, 223)                                 \
    X(CUDA_SYSTEM_NOT_READY, CUDA_ERROR_SYSTEM_NOT_READY, 802)                                     \
    X(CUDA_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                         \
    X(CUDA_COMPAT_NOT_SUPPORTED, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)                   \
    X(CUDA_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                \
    X(CUDA_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                \
    X(CUDA_KERNEL_LOCAL_SHARE, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 9)              \
    X(CUDA_JIT_ERRORS, CU_JIT_ERROR_LOG_BUFFER, 5)                                                 \
    X(CUDA_JIT_ERRORS_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)

#define HIP_CONSTANTS(X)                                                                           \
    X(HIP_INVALID_CONFIGURATION, hipErrorInvalidConfiguration, 9)                                  \
    X(HIP_INSUFFICIENT_DRIVER, hipErrorInsufficientDriver, 35)                                     \
    X(HIP_INVALID_FUNCTION, hipErrorInvalidDeviceFunction, 98)                                     \
    X(HIP_SYMBOL_NOT_FOUND, hipErrorSharedObjectSymbolNotFound, 302)                               \
    X(HIP_OBJECT_REFUSED, hipErrorSharedObjectInitFailed, 303)

/* our name, NVRTC's name, HIPRTC's name, value */
#define RTC_CONSTANTS(X)                                                                           \
    X(RTC_NO_MEMORY, NVRTC_ERROR_OUT_OF_MEMORY, HIPRTC_ERROR_OUT_OF_MEMORY, 1)                     \
    X(RTC_BAD_OPTION, NVRTC_ERROR_INVALID_OPTION, HIPRTC_ERROR_INVALID_OPTION, 5)                  \
    X(RTC_BAD_TEXT, NVRTC_ERROR_COMPILATION, HIPRTC_ERROR_COMPILATION, 6)                          \
    X(RTC_NO_BUILTINS, NVRTC_ERROR_BUILTIN_OPERATION_FAILURE,                                      \
      HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE, 7)

#define GPU_CONSTANT(ours, cuda, hip, value)     ours = value,
#define GPU_CONSTANT_OF_ONE(ours, theirs, value) ours = value,
enum {
    GPU_CONSTANTS(GPU_CONSTANT) RTC_CONSTANTS(GPU_CONSTANT) CUDA_CONSTANTS(GPU_CONSTANT_OF_ONE)
        HIP_CONSTANTS(GPU_CONSTANT_OF_ONE)
};
#undef GPU_CONSTANT
#undef GPU_CONSTANT_OF_ONE

/* Questions about a device: CUDA's name and value, HIP's. */
#define GPU_ATTRIBUTES(X)                                                                          \
    X(GPU_ITEMS_OF_GROUP, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1,                            \
      hipDeviceAttributeMaxThreadsPerBlock, 56)                                                    \
    X(GPU_LOCAL_MEMORY, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8,                        \
      hipDeviceAttributeMaxSharedMemoryPerBlock, 74)                                               \
    X(GPU_PROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16,                                \
      hipDeviceAttributeMultiprocessorCount, 63)                                                   \
    X(GPU_LOCAL_OF_PROCESSOR, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81,        \
      hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, 10002)                                   \
    X(GPU_RESIDENT, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 95,                                    \
      hipDeviceAttributeCooperativeLaunch, 10)

#define GPU_ATTRIBUTE(ours, cuda, cuda_value, hip, hip_value) ours,
enum gpu_attribute { GPU_ATTRIBUTES(GPU_ATTRIBUTE) GPU_ATTRIBUTE_COUNT };
#undef GPU_ATTRIBUTE
