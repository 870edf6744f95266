# Packages, by cpack or `make package`, all from one build: three .deb and a .tar.gz. The latter has what `cmake --install` installs and is unpacked
# anywhere: its files find the rest from where they lie.
#
#     libevener1       the shared library, with the versions of its symbols
#     libevener-dev    headers, archives, modules for Fortran, pkg-config and CMake files
#     evener           the commands, plug-ins for MPI, the manual
#
# The .deb depend on the libraries that their files are linked with, as dpkg-shlibdeps says at packing time (cmake/package-needs.cmake); an MPI and MUMPS,
# which plug-ins alone need, and CBC, which one schedule opens, are suggested; Scotch, which another opens, and a compiler with the library's headers, which
# evener-cc needs, are recommended.
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
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command shared development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 0.1) # not made by Debian, which begins with 1

# evener_package(COMPONENT NAME SECTION TEXT)
macro(evener_package component name section text)
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
    set(CPACK_DEBIAN_${upper}_DESCRIPTION "${text}")
endmacro()
set(about "Evener assigns tasks of unequal weight to groups of CPU cores and to GPUs,
learns from one step to the next, and moves data to where they are used.")
evener_package(command evener science "${about}
.
This package has the command evener, with workloads (NPB-MZ, FT, MG,
time-domain boundary elements), plans, models and reports; the compiler
commands evener-cc, evener-c++ and evener-fc for directives of compute
units; and plug-ins with which programs run over MPI.")
evener_package(shared libevener${EVENER_INTERFACE} libs "${about}
.
This package has the shared library.")
evener_package(development libevener-dev libdevel "${about}
.
This package has headers for C and C++, modules for Fortran, archives, and
files for pkg-config and CMake.")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package-needs.cmake)
set(CPACK_EVENER_BUILD ${CMAKE_BINARY_DIR})
set(CPACK_EVENER_LIBRARY libevener${EVENER_INTERFACE})
set(CPACK_EVENER_INTERFACE ${EVENER_INTERFACE})
set(CPACK_EVENER_NAMES ${EVENER_NAMES})
set(CPACK_EVENER_SHLIBDEPS ${EVENER_DPKG_SHLIBDEPS})
set(CPACK_EVENER_STRIP ${CMAKE_STRIP})
set(CPACK_EVENER_DATE "${EVENER_DATE_RFC}")
set(CPACK_EVENER_CHANGELOG ${CMAKE_SOURCE_DIR}/CHANGELOG.md)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package-files.cmake) # of CMake since 3.19
include(CPack)
