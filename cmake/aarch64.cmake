# Toolchain for aarch64 (Debian's packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user):
#
#     cmake -S . -B build-aarch64 -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake [-DEVENER_AARCH64_ROOT=FOLDER] [-DEVENER_ARCH=armv8.2-a]
#
# hwloc and cJSON of that architecture are taken from FOLDER (Debian's arm64 packages unpacked there: dpkg -x) or, without it, from
# the system (dpkg --add-architecture arm64, libhwloc-dev:arm64 libcjson-dev:arm64). qemu-aarch64 runs what is built, where it is
# there: the compiler of directives while building, and tests; its loader looks for libraries where `qemu-aarch64 -L` says.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(triple aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE ${triple})
set(CMAKE_C_COMPILER ${triple}-gcc CACHE STRING "")
# what is there of other languages is this machine's
set(CMAKE_CXX_COMPILER "")
set(CMAKE_Fortran_COMPILER "")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES EVENER_AARCH64_ROOT)

set(EVENER_ARCH armv8-a CACHE STRING "value of -march: native for this machine, or a name to build for others")
set(EVENER_MPICC OFF CACHE STRING "compiler wrappers of the MPIs to make plug-ins for (a list); empty: those that are found, OFF: none")
set(EVENER_AARCH64_ROOT "" CACHE PATH "where Debian's arm64 packages of hwloc and cJSON are unpacked")

set(ENV{PKG_CONFIG_PATH} "")
set(loader /usr/${triple})
if(EVENER_AARCH64_ROOT)
    set(CMAKE_FIND_ROOT_PATH ${EVENER_AARCH64_ROOT} /usr/${triple})
    foreach(kind LIBRARY INCLUDE PACKAGE)
        set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
    endforeach()
    set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
    set(libraries ${EVENER_AARCH64_ROOT}/usr/lib/${triple} ${EVENER_AARCH64_ROOT}/lib/${triple})
    set(ENV{PKG_CONFIG_SYSROOT_DIR} ${EVENER_AARCH64_ROOT})
    set(ENV{PKG_CONFIG_LIBDIR} ${EVENER_AARCH64_ROOT}/usr/lib/${triple}/pkgconfig)
    # Debian's headers that differ by architecture, and what hwloc itself needs (libudev)
    set(CMAKE_C_FLAGS_INIT "-idirafter ${EVENER_AARCH64_ROOT}/usr/include/${triple}")
    foreach(folder IN LISTS libraries)
        string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,-rpath-link,${folder}")
    endforeach()
else()
    set(libraries /usr/lib/${triple})
    set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${triple}/pkgconfig)
endif()

find_program(EVENER_QEMU qemu-aarch64)
mark_as_advanced(EVENER_QEMU)
if(EVENER_QEMU)
    list(JOIN libraries ":" path)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${EVENER_QEMU} -L ${loader} -E LD_LIBRARY_PATH=${path})
endif()
