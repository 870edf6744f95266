# A .tar.gz of what `cmake --install` installs, by cpack; it is unpacked anywhere: its files find the rest from where they lie. Debian's packages are made by
# debian/rules, of the same installation.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME evener)
set(CPACK_PACKAGE_VENDOR Evener)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_EVENER_STRIP ${CMAKE_STRIP})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package-files.cmake) # of CMake since 3.19
include(CPack)
