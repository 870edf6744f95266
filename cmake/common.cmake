# What the library and the suite are compiled with, each as a project of its own or in one build.

set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_EXTENSIONS ON) # vector types, POSIX threads and affinity
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")

set(EVENER_ARCH "" CACHE STRING "value of -march for all code: native for this machine, or a name; empty: one binary for all, kernels for each level of x86-64")
set(EVENER_ISA all CACHE STRING "levels of x86-64 that workloads are compiled for: all, or own, the highest of this machine")
set(EVENER_SANITIZE "" CACHE STRING "sanitizers to build with: address,undefined or thread")
option(EVENER_WERROR "warnings are errors" OFF)
option(EVENER_CONTRACT "let the compiler fuse a*b+c" ON)
option(EVENER_FORTRAN "build what is in Fortran, where there is a compiler" ON)

include(${CMAKE_CURRENT_LIST_DIR}/levels.cmake)
add_library(evener_flags INTERFACE)
target_compile_options(evener_flags INTERFACE -Wall -Wextra -fno-math-errno -fno-trapping-math)
target_compile_definitions(evener_flags INTERFACE _GNU_SOURCE EVENER_SMALL)
if(EVENER_ARCH)
    target_compile_options(evener_flags INTERFACE -march=${EVENER_ARCH})
endif()
# gcc would otherwise use half of the widest vectors where it chooses them itself
include(CheckCCompilerFlag)
check_c_compiler_flag(-mprefer-vector-width=512 HAS_VECTOR_WIDTH)
if(HAS_VECTOR_WIDTH)
    target_compile_options(evener_flags INTERFACE -mprefer-vector-width=512)
endif()
if(EVENER_CONTRACT)
    target_compile_options(evener_flags INTERFACE -ffp-contract=fast)
else()
    include(${CMAKE_CURRENT_LIST_DIR}/contract.cmake)
    target_compile_options(evener_flags INTERFACE -ffp-contract=off ${EVENER_NO_FUSED_VECTORS})
endif()
if(EVENER_WERROR)
    target_compile_options(evener_flags INTERFACE -Werror)
endif()
if(EVENER_SANITIZE)
    target_compile_options(evener_flags INTERFACE -fsanitize=${EVENER_SANITIZE} -fno-omit-frame-pointer -g)
    target_link_options(evener_flags INTERFACE -fsanitize=${EVENER_SANITIZE})
endif()

# What makes text takes no time to speak of. Of kernels of emulated devices gcc looks for common expressions once more when registers are known, for
# a third of their time and nothing to be seen in theirs; another -O would be other fused multiply-adds, and so other bits.
set(EVENER_TEXT_OPTIONS $<$<CONFIG:Release>:-O1>)
set(EVENER_KERNEL_OPTIONS $<$<C_COMPILER_ID:GNU>:-fno-gcse> $<$<C_COMPILER_ID:GNU>:-fno-gcse-after-reload>)

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)

# whether `cmake --install` has a component of the library without being asked for it (cmake/install.cmake)
set(in_library "")
set(in_development EXCLUDE_FROM_ALL)
if(BUILD_SHARED_LIBS)
    set(in_library EXCLUDE_FROM_ALL)
    set(in_development "")
endif()

# how it was built, for records
execute_process(COMMAND git describe --always --dirty --abbrev=12
    WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR} OUTPUT_VARIABLE EVENER_COMMIT
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git log -1 --format=%cs
    WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR} OUTPUT_VARIABLE EVENER_DATE
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT EVENER_COMMIT)
    set(EVENER_COMMIT "unknown")
    set(EVENER_DATE "unknown")
endif()
get_target_property(FLAGS evener_flags INTERFACE_COMPILE_OPTIONS)
list(JOIN FLAGS " " FLAGS)
# in one file alone (suite/apps/common/run/build.c), so that a commit does not compile everything again
set(EVENER_FLAGS "${CMAKE_C_FLAGS_RELEASE} ${FLAGS}")
set(EVENER_COMPILER "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")

# part(NAME FOUND WITH): an optional part, told at the end of the configuration
function(part name found with)
    set(told "found")
    if(NOT found)
        set(told "not found; ${with}")
    endif()
    set_property(GLOBAL APPEND_STRING PROPERTY EVENER_PARTS "  ${name}: ${told}\n")
endfunction()

# evener_sources(OUT EXCEPT..): the .c files in and below the present folder, without kernels and those that one of these expressions matches
function(evener_sources out)
    file(GLOB_RECURSE files RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.c)
    foreach(except IN LISTS ARGN ITEMS "[.]kernel[.]c$")
        list(FILTER files EXCLUDE REGEX ${except})
    endforeach()
    set(${out} ${files} PARENT_SCOPE)
endfunction()

include(CheckLanguage)
check_language(CXX) # which evener-c++ has behind it, too

include(${CMAKE_CURRENT_LIST_DIR}/one_object.cmake)
