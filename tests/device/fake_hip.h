/* The driver that is none, by HIP's names: fake_cuda.c compiled with FAKE_HIP is libamdhip64.so and
 * libhiprtc.so. A name that is missing here shows as a function that the back end misses. */
#pragma once

#define cuInit                hipInit
#define cuDriverGetVersion    hipDriverGetVersion
#define cuDeviceGetCount      hipGetDeviceCount
#define cuDeviceGet           hipDeviceGet
#define cuDeviceGetName       hipDeviceGetName
#define cuDeviceTotalMem_v2   hipDeviceTotalMem
#define cuDeviceGetAttribute  hipDeviceGetAttribute
#define cuDeviceCanAccessPeer hipDeviceCanAccessPeer
#define cuCtxSynchronize      hipDeviceSynchronize
#define cuMemGetInfo_v2       hipMemGetInfo
#define cuMemAlloc_v2         hipMalloc
#define cuMemFree_v2          hipFree
#define cuMemHostAlloc        hipHostMalloc
#define cuMemFreeHost         hipHostFree
#define cuMemHostRegister_v2  hipHostRegister
#define cuMemHostUnregister   hipHostUnregister
#define cuMemcpyHtoDAsync_v2  hipMemcpyHtoDAsync
#define cuMemcpyDtoHAsync_v2  hipMemcpyDtoHAsync
#define cuMemcpyDtoDAsync_v2  hipMemcpyDtoDAsync
#define cuStreamCreate        hipStreamCreateWithFlags
#define cuStreamDestroy_v2    hipStreamDestroy
#define cuStreamSynchronize   hipStreamSynchronize
#define cuStreamWaitEvent     hipStreamWaitEvent
#define cuEventCreate         hipEventCreateWithFlags
#define cuEventDestroy_v2     hipEventDestroy
#define cuEventRecord         hipEventRecord
#define cuEventSynchronize    hipEventSynchronize
#define cuEventQuery          hipEventQuery
#define cuEventElapsedTime    hipEventElapsedTime
#define cuModuleLoadDataEx    hipModuleLoadDataEx
#define cuModuleUnload        hipModuleUnload
#define cuModuleGetFunction   hipModuleGetFunction
#define cuFuncGetAttribute    hipFuncGetAttribute
#define cuOccupancyMaxActiveBlocksPerMultiprocessor                                                \
    hipModuleOccupancyMaxActiveBlocksPerMultiprocessor
#define cuLaunchKernel            hipModuleLaunchKernel
#define cuLaunchCooperativeKernel hipModuleLaunchCooperativeKernel

#define nvrtcVersion           hiprtcVersion
#define nvrtcGetErrorString    hiprtcGetErrorString
#define nvrtcCreateProgram     hiprtcCreateProgram
#define nvrtcDestroyProgram    hiprtcDestroyProgram
#define nvrtcCompileProgram    hiprtcCompileProgram
#define nvrtcGetProgramLogSize hiprtcGetProgramLogSize
#define nvrtcGetProgramLog     hiprtcGetProgramLog
#define nvrtcGetCUBINSize      hiprtcGetCodeSize
#define nvrtcGetCUBIN          hiprtcGetCode
