# Installation: the library with pkg-config files and a CMake package, the command and its manual.
#
#     component      has
#     command        the command with what it reads (suite/CMakeLists.txt), evener-cc, their manual, plug-ins
#     library        headers, archives; pkg-config and CMake link the archive
#     shared         the shared library by its SONAME
#     development    headers, archives, the manual of the library; pkg-config and CMake link the shared library
#
# `cmake --install` installs the first two, with BUILD_SHARED_LIBS all but `library`; packages (cmake/package.cmake) have all but `library`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(EVENER_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/evener)

install(TARGETS evener_cc)
foreach(name evener-fc evener-c++ evener-gcc-ar evener-gcc-nm evener-gcc-ranlib evener-llvm-ar evener-llvm-nm evener-llvm-ranlib)
    file(CONFIGURE OUTPUT ${name}.1 CONTENT ".so man1/evener-cc.1\n")
    install(FILES ${CMAKE_BINARY_DIR}/${name}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endforeach()
install(FILES docs/evener-cc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

install(DIRECTORY share/paraver share/gdb share/python DESTINATION ${CMAKE_INSTALL_DATADIR}/evener PATTERN __pycache__ EXCLUDE)

# evener_pc(FOLDER PREFIX LIBDIR INCLUDEDIR SHARED): pkg-config files in FOLDER of the build tree, by which programs link the library that lies in LIBDIR
function(evener_pc folder prefix EVENER_PC_LIBDIR EVENER_PC_INCLUDEDIR shared)
    set(EVENER_PC_PREFIX "${prefix}")
    set(private "")
    if(shared)
        set(private _PRIVATE)
        set(EVENER_PC_PRIVATE .private)
    endif()
    set(EVENER_PC_LIBS${private} " ${EVENER_EVERYTHING} ${OpenMP_C_FLAGS}${EVENER_ENGINES} -lpthread -ldl -lm")
    foreach(name evener evener-cu)
        configure_file(cmake/${name}.pc.in ${folder}/${name}.pc @ONLY)
    endforeach()
endfunction()
# from where the file lies, so that a package is unpacked anywhere
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up "${up}")
foreach(component library development)
    string(COMPARE EQUAL ${component} development shared)
    evener_pc(${component} "\${pcfiledir}/${up}" "\${prefix}/${CMAKE_INSTALL_LIBDIR}" "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}" ${shared})
endforeach()
# programs beside this build tree: PKG_CONFIG_PATH=build
evener_pc(. "${CMAKE_BINARY_DIR}" "\${prefix}" "${PROJECT_SOURCE_DIR}/include" OFF)

install(TARGETS evener evener-cu EXPORT evener-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library ${in_library})
install(EXPORT evener-targets NAMESPACE evener:: DESTINATION ${EVENER_CMAKE_DIR} COMPONENT library ${in_library})
install(TARGETS evener evener-cu ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development ${in_development})
install(TARGETS evener_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT shared NAMELINK_COMPONENT development ${in_development})
configure_file(cmake/evener-targets.cmake.in development/evener-targets.cmake @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/development/evener-targets.cmake DESTINATION ${EVENER_CMAKE_DIR} COMPONENT development ${in_development})
# a page of the manual for each function, from the headers
find_program(EVENER_AWK awk)
mark_as_advanced(EVENER_AWK)
file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/man3)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/man3)
if(EVENER_AWK)
    file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/evener/*.h)
    list(FILTER headers EXCLUDE REGEX "/(cu[a-z_]*|kernel_math)[.]h$")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/man-pages.awk)
    execute_process(COMMAND ${EVENER_AWK} -v folder=${CMAKE_BINARY_DIR}/man3 -v version=${PROJECT_VERSION} -f ${PROJECT_SOURCE_DIR}/cmake/man-pages.awk ${headers}
        COMMAND_ERROR_IS_FATAL ANY)
endif()
# the manual and the examples that headers name; of Debian's package in its own folder
set(doc_library ${CMAKE_INSTALL_DOCDIR})
set(doc_development ${CMAKE_INSTALL_DATAROOTDIR}/doc/libevener-dev)
foreach(component library development)
    install(FILES docs/evener.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT ${component} ${in_${component}})
    install(DIRECTORY ${CMAKE_BINARY_DIR}/man3/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT ${component} ${in_${component}})
    install(DIRECTORY docs DESTINATION ${doc_${component}} COMPONENT ${component} ${in_${component}}
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN notes EXCLUDE)
    install(DIRECTORY examples DESTINATION ${doc_${component}} COMPONENT ${component} ${in_${component}} PATTERN meshes EXCLUDE)
endforeach()
write_basic_package_version_file(evener-config-version.cmake COMPATIBILITY SameMinorVersion)
foreach(component library development)
    string(COMPARE EQUAL ${component} development EVENER_LINKS_SHARED)
    configure_package_config_file(cmake/evener-config.cmake.in ${component}/evener-config.cmake
        INSTALL_DESTINATION ${EVENER_CMAKE_DIR} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
    install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${component} ${in_${component}}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
    install(DIRECTORY include/evener/fortran DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/evener COMPONENT ${component} ${in_${component}})
    install(FILES ${CMAKE_BINARY_DIR}/${component}/evener.pc ${CMAKE_BINARY_DIR}/${component}/evener-cu.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component} ${in_${component}})
    install(FILES ${CMAKE_BINARY_DIR}/${component}/evener-config.cmake ${CMAKE_BINARY_DIR}/evener-config-version.cmake
        cmake/kernels.cmake cmake/fortran.cmake cmake/directives.cmake
        DESTINATION ${EVENER_CMAKE_DIR} COMPONENT ${component} ${in_${component}})
endforeach()
