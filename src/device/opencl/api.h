/* The part of OpenCL 1.2 that this project uses, written down, so that no header and no library of
 * it is needed to build: types, numbers, and a table of functions that opencl.c fills from the
 * loader of drivers.
 *
 * Names and numbers are those of the specification, "OpenCL 1.2", revision 19, appendix and
 * sections 4 and 5; a function's place in the table is its name without "cl". Where OpenCL's own
 * header is included before this one, its types and numbers are used, so that a test can compare
 * every line: OPENCL_CONSTANTS(X) and OPENCL_FUNCTIONS(X) are lists.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* name, number */
#define OPENCL_CONSTANTS(X)                                                                        \
    X(CL_SUCCESS, 0)                                                                               \
    X(CL_COMPLETE, 0)                                                                              \
    X(CL_FALSE, 0)                                                                                 \
    X(CL_TRUE, 1)                                                                                  \
    X(CL_DEVICE_TYPE_CPU, 1 << 1)                                                                  \
    X(CL_DEVICE_TYPE_GPU, 1 << 2)                                                                  \
    X(CL_DEVICE_TYPE_ACCELERATOR, 1 << 3)                                                          \
    X(CL_QUEUE_PROFILING_ENABLE, 1 << 1)                                                           \
    X(CL_MEM_READ_WRITE, 1 << 0)                                                                   \
    X(CL_MEM_ALLOC_HOST_PTR, 1 << 4)                                                               \
    X(CL_MAP_READ, 1 << 0)                                                                         \
    X(CL_MAP_WRITE, 1 << 1)                                                                        \
    X(CL_PLATFORM_VERSION, 0x0901)                                                                 \
    X(CL_PLATFORM_NAME, 0x0902)                                                                    \
    X(CL_PLATFORM_VENDOR, 0x0903)                                                                  \
    X(CL_DEVICE_TYPE, 0x1000)                                                                      \
    X(CL_DEVICE_MAX_COMPUTE_UNITS, 0x1002)                                                         \
    X(CL_DEVICE_MAX_WORK_GROUP_SIZE, 0x1004)                                                       \
    X(CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0x1010)                                                        \
    X(CL_DEVICE_GLOBAL_MEM_SIZE, 0x101F)                                                           \
    X(CL_DEVICE_LOCAL_MEM_SIZE, 0x1023)                                                            \
    X(CL_DEVICE_ENDIAN_LITTLE, 0x1026)                                                             \
    X(CL_DEVICE_AVAILABLE, 0x1027)                                                                 \
    X(CL_DEVICE_COMPILER_AVAILABLE, 0x1028)                                                        \
    X(CL_DEVICE_NAME, 0x102B)                                                                      \
    X(CL_DRIVER_VERSION, 0x102D)                                                                   \
    X(CL_DEVICE_VERSION, 0x102F)                                                                   \
    X(CL_DEVICE_EXTENSIONS, 0x1030)                                                                \
    X(CL_FP_SOFT_FLOAT, 1 << 6)                                                                    \
    X(CL_DEVICE_DOUBLE_FP_CONFIG, 0x1032)                                                          \
    X(CL_CONTEXT_PLATFORM, 0x1084)                                                                 \
    X(CL_PROGRAM_NUM_DEVICES, 0x1162)                                                              \
    X(CL_PROGRAM_DEVICES, 0x1163)                                                                  \
    X(CL_PROGRAM_BINARY_SIZES, 0x1165)                                                             \
    X(CL_PROGRAM_BINARIES, 0x1166)                                                                 \
    X(CL_PROGRAM_BUILD_LOG, 0x1183)                                                                \
    X(CL_KERNEL_NUM_ARGS, 0x1191)                                                                  \
    X(CL_KERNEL_WORK_GROUP_SIZE, 0x11B0)                                                           \
    X(CL_EVENT_COMMAND_EXECUTION_STATUS, 0x11D3)                                                   \
    X(CL_PROFILING_COMMAND_END, 0x1283)

/* name, number, its meaning in messages; NULL where the name says it */
#define OPENCL_ERRORS(X)                                                                           \
    X(CL_DEVICE_NOT_FOUND, -1, NULL)                                                               \
    X(CL_DEVICE_NOT_AVAILABLE, -2, NULL)                                                           \
    X(CL_COMPILER_NOT_AVAILABLE, -3, NULL)                                                         \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE, -4, "the device has no memory left for it")                \
    X(CL_OUT_OF_RESOURCES, -5,                                                                     \
      "a group needs more than the device has, or a kernel read or wrote outside of its buffers")  \
    X(CL_OUT_OF_HOST_MEMORY, -6, NULL)                                                             \
    X(CL_PROFILING_INFO_NOT_AVAILABLE, -7, NULL)                                                   \
    X(CL_MEM_COPY_OVERLAP, -8, NULL)                                                               \
    X(CL_BUILD_PROGRAM_FAILURE, -11, NULL)                                                         \
    X(CL_MAP_FAILURE, -12, NULL)                                                                   \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET, -13, NULL)                                                  \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14, "what it waited for has failed")          \
    X(CL_INVALID_VALUE, -30, NULL)                                                                 \
    X(CL_INVALID_DEVICE_TYPE, -31, NULL)                                                           \
    X(CL_INVALID_PLATFORM, -32, NULL)                                                              \
    X(CL_INVALID_DEVICE, -33, NULL)                                                                \
    X(CL_INVALID_CONTEXT, -34, NULL)                                                               \
    X(CL_INVALID_QUEUE_PROPERTIES, -35, NULL)                                                      \
    X(CL_INVALID_COMMAND_QUEUE, -36, "as some drivers say after a kernel has failed")              \
    X(CL_INVALID_HOST_PTR, -37, NULL)                                                              \
    X(CL_INVALID_MEM_OBJECT, -38, NULL)                                                            \
    X(CL_INVALID_BINARY, -42, NULL)                                                                \
    X(CL_INVALID_BUILD_OPTIONS, -43, NULL)                                                         \
    X(CL_INVALID_PROGRAM, -44, NULL)                                                               \
    X(CL_INVALID_PROGRAM_EXECUTABLE, -45, NULL)                                                    \
    X(CL_INVALID_KERNEL_NAME, -46, NULL)                                                           \
    X(CL_INVALID_KERNEL_DEFINITION, -47, NULL)                                                     \
    X(CL_INVALID_KERNEL, -48, NULL)                                                                \
    X(CL_INVALID_ARG_INDEX, -49, NULL)                                                             \
    X(CL_INVALID_ARG_VALUE, -50, NULL)                                                             \
    X(CL_INVALID_ARG_SIZE, -51, NULL)                                                              \
    X(CL_INVALID_KERNEL_ARGS, -52, NULL)                                                           \
    X(CL_INVALID_WORK_DIMENSION, -53, NULL)                                                        \
    X(CL_INVALID_WORK_GROUP_SIZE, -54, NULL)                                                       \
    X(CL_INVALID_WORK_ITEM_SIZE, -55, NULL)                                                        \
    X(CL_INVALID_GLOBAL_OFFSET, -56, NULL)                                                         \
    X(CL_INVALID_EVENT_WAIT_LIST, -57, NULL)                                                       \
    X(CL_INVALID_EVENT, -58, NULL)                                                                 \
    X(CL_INVALID_OPERATION, -59, NULL)                                                             \
    X(CL_INVALID_BUFFER_SIZE, -61, NULL)                                                           \
    X(CL_INVALID_GLOBAL_WORK_SIZE, -63, NULL)                                                      \
    X(CL_INVALID_PROPERTY, -64, NULL)

/* Codes of extensions: the loader's (cl_khr_icd), cl_khr_device_uuid's, and one of a driver. */
#define CL_PLATFORM_NOT_FOUND_KHR_   (-1001)
#define CL_DEVICE_UUID_KHR_          0x106A
#define CL_ILLEGAL_READ_OR_WRITE_NV_ (-9999)

#ifndef __OPENCL_CL_H
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;
typedef cl_uint cl_platform_info, cl_device_info, cl_program_info, cl_program_build_info;
typedef cl_uint cl_kernel_info, cl_kernel_work_group_info, cl_event_info, cl_profiling_info;
typedef cl_ulong cl_device_type, cl_command_queue_properties, cl_mem_flags, cl_map_flags;
typedef intptr_t cl_context_properties;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

#    define OPENCL_ENUM(name, number)             name = number,
#    define OPENCL_ERROR_ENUM(name, number, text) name = number,
enum { OPENCL_CONSTANTS(OPENCL_ENUM) OPENCL_ERRORS(OPENCL_ERROR_ENUM) };
#    undef OPENCL_ENUM
#    undef OPENCL_ERROR_ENUM
#endif

/* result type, name without "cl", parameters */
#define OPENCL_FUNCTIONS(X)                                                                        \
    X(cl_int, GetPlatformIDs, (cl_uint room, cl_platform_id * platform, cl_uint * count))          \
    X(cl_int, GetPlatformInfo,                                                                     \
      (cl_platform_id platform, cl_platform_info what, size_t room, void *value, size_t *size))    \
    X(cl_int, GetDeviceIDs,                                                                        \
      (cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id * device,          \
       cl_uint * count))                                                                           \
    X(cl_int, GetDeviceInfo,                                                                       \
      (cl_device_id device, cl_device_info what, size_t room, void *value, size_t *size))          \
    X(cl_context, CreateContext,                                                                   \
      (const cl_context_properties *properties, cl_uint devices, const cl_device_id *device,       \
       void (*notify)(const char *text, const void *data, size_t size, void *user), void *user,    \
       cl_int *error))                                                                             \
    X(cl_int, ReleaseContext, (cl_context context))                                                \
    X(cl_command_queue, CreateCommandQueue,                                                        \
      (cl_context context, cl_device_id device, cl_command_queue_properties properties,            \
       cl_int * error))                                                                            \
    X(cl_int, ReleaseCommandQueue, (cl_command_queue queue))                                       \
    X(cl_int, Flush, (cl_command_queue queue))                                                     \
    X(cl_int, Finish, (cl_command_queue queue))                                                    \
    X(cl_mem, CreateBuffer,                                                                        \
      (cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *error))           \
    X(cl_int, ReleaseMemObject, (cl_mem memory))                                                   \
    X(cl_int, EnqueueWriteBuffer,                                                                  \
      (cl_command_queue queue, cl_mem to, cl_bool wait, size_t at, size_t bytes, const void *from, \
       cl_uint waits, const cl_event *wait_for, cl_event *event))                                  \
    X(cl_int, EnqueueReadBuffer,                                                                   \
      (cl_command_queue queue, cl_mem from, cl_bool wait, size_t at, size_t bytes, void *to,       \
       cl_uint waits, const cl_event *wait_for, cl_event *event))                                  \
    X(cl_int, EnqueueCopyBuffer,                                                                   \
      (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t bytes, \
       cl_uint waits, const cl_event *wait_for, cl_event *event))                                  \
    X(void *, EnqueueMapBuffer,                                                                    \
      (cl_command_queue queue, cl_mem memory, cl_bool wait, cl_map_flags flags, size_t at,         \
       size_t bytes, cl_uint waits, const cl_event *wait_for, cl_event *event, cl_int *error))     \
    X(cl_int, EnqueueUnmapMemObject,                                                               \
      (cl_command_queue queue, cl_mem memory, void *mapped, cl_uint waits,                         \
       const cl_event *wait_for, cl_event *event))                                                 \
    X(cl_int, EnqueueNDRangeKernel,                                                                \
      (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,         \
       const size_t *items, const size_t *group, cl_uint waits, const cl_event *wait_for,          \
       cl_event *event))                                                                           \
    X(cl_int, EnqueueMarkerWithWaitList,                                                           \
      (cl_command_queue queue, cl_uint waits, const cl_event *wait_for, cl_event *event))          \
    X(cl_int, EnqueueBarrierWithWaitList,                                                          \
      (cl_command_queue queue, cl_uint waits, const cl_event *wait_for, cl_event *event))          \
    X(cl_int, WaitForEvents, (cl_uint events, const cl_event *event))                              \
    X(cl_int, GetEventInfo,                                                                        \
      (cl_event event, cl_event_info what, size_t room, void *value, size_t *size))                \
    X(cl_int, GetEventProfilingInfo,                                                               \
      (cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size))            \
    X(cl_int, RetainEvent, (cl_event event))                                                       \
    X(cl_int, ReleaseEvent, (cl_event event))                                                      \
    X(cl_program, CreateProgramWithSource,                                                         \
      (cl_context context, cl_uint parts, const char **part, const size_t *bytes, cl_int *error))  \
    X(cl_program, CreateProgramWithBinary,                                                         \
      (cl_context context, cl_uint devices, const cl_device_id *device, const size_t *bytes,       \
       const unsigned char **binary, cl_int *each, cl_int *error))                                 \
    X(cl_int, BuildProgram,                                                                        \
      (cl_program program, cl_uint devices, const cl_device_id *device, const char *options,       \
       void (*notify)(cl_program program, void *user), void *user))                                \
    X(cl_int, GetProgramInfo,                                                                      \
      (cl_program program, cl_program_info what, size_t room, void *value, size_t *size))          \
    X(cl_int, GetProgramBuildInfo,                                                                 \
      (cl_program program, cl_device_id device, cl_program_build_info what, size_t room,           \
       void *value, size_t *size))                                                                 \
    X(cl_int, ReleaseProgram, (cl_program program))                                                \
    X(cl_kernel, CreateKernel, (cl_program program, const char *name, cl_int *error))              \
    X(cl_int, GetKernelInfo,                                                                       \
      (cl_kernel kernel, cl_kernel_info what, size_t room, void *value, size_t *size))             \
    X(cl_int, GetKernelWorkGroupInfo,                                                              \
      (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t room,         \
       void *value, size_t *size))                                                                 \
    X(cl_int, SetKernelArg, (cl_kernel kernel, cl_uint at, size_t bytes, const void *value))       \
    X(cl_int, ReleaseKernel, (cl_kernel kernel))

#define OPENCL_MEMBER(returns, name, parameters) returns(*name) parameters;
struct opencl_api {
    OPENCL_FUNCTIONS(OPENCL_MEMBER)
};
#undef OPENCL_MEMBER
