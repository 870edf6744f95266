# Packages, by cpack or `make package`: a .deb and a .tar.gz, with the same in them. The latter is unpacked anywhere: what is in it finds the rest
# from where it lies.
#
# The .deb depends on what the command is linked with, as dpkg-shlibdeps says at packing time (cmake/package-needs.cmake); an MPI and MUMPS, which
# plug-ins alone need, are suggested, and a compiler with hwloc's headers, which the library's archive and evener-cc need, is recommended.
set(CPACK_GENERATOR TGZ)
find_program(EVENER_DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(EVENER_DPKG_SHLIBDEPS)
if(EVENER_DPKG_SHLIBDEPS)
    list(PREPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_NAME evener)
set(CPACK_PACKAGE_VENDOR Evener)
# as Debian's tools have it: whoever makes a package says so with DEBFULLNAME and DEBEMAIL
set(CPACK_PACKAGE_CONTACT "Evener maintainers <maintainers@evener.invalid>")
if(DEFINED ENV{DEBEMAIL})
    set(maintainer "Evener maintainers")
    if(DEFINED ENV{DEBFULLNAME})
        set(maintainer "$ENV{DEBFULLNAME}")
    endif()
    set(CPACK_PACKAGE_CONTACT "${maintainer} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "loops over tasks of unequal weight on compute units of unequal strength")
set(CPACK_PACKAGE_DESCRIPTION "A command with workloads (NPB-MZ, FT, MG, time-domain boundary
elements), a library for programs in C, C++ and Fortran, and a compiler
command for directives of compute units; on cores and GPUs, in one process
and over MPI.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc | clang, libc6-dev, libhwloc-dev, pkg-config")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package-needs.cmake)
set(CPACK_EVENER_BUILD ${CMAKE_BINARY_DIR})
set(CPACK_EVENER_SHLIBDEPS ${EVENER_DPKG_SHLIBDEPS})
set(CPACK_EVENER_STRIP ${CMAKE_STRIP})
set(CPACK_EVENER_DATE "${EVENER_DATE_RFC}")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package-files.cmake) # of CMake since 3.19
include(CPack)
