# The library evener-tdbem, <evener/tdbem.h> for programs: one object that shows the header's functions alone and has all levels of instructions, as the
# command has them; pkg-config and CMake (find_package(evener-tdbem), evener::tdbem) link it and the evener library.

set(header ${CMAKE_CURRENT_SOURCE_DIR}/../../include/evener/tdbem.h)
set(shown tdbem_defaults tdbem_open tdbem_close tdbem_surface tdbem_incident tdbem_warning tdbem_describe tdbem_expect tdbem_march tdbem_outcome_free)
if(NOT CMAKE_OBJCOPY)
    return() # its names would be those of programs
endif()
set(objects common)
if(EVENER_LEVELS)
    set(declared "")
    set(isas "")
    set(levels "")
    foreach(level IN LISTS EVENER_LEVELS)
        string(APPEND declared "extern const struct tdbem_functions tdbem_functions_v${level};\n")
        string(APPEND isas "    {\"v${level}\", ${level}},\n")
        string(APPEND levels "    &tdbem_functions_v${level},\n")
        list(APPEND objects ${CMAKE_BINARY_DIR}/tdbem-v${level}.o)
    endforeach()
    file(CONFIGURE OUTPUT levels.c @ONLY CONTENT "/* Written by suite/apps/tdbem/library.cmake. */
#include \"tdbem/library/levels.h\"

@declared@
const struct isa tdbem_isas[] = {
@isas@    {0},
};
const struct tdbem_functions *const tdbem_levels[] = {
@levels@};
")
    add_library(tdbem-levels OBJECT library/levels.c ${CMAKE_CURRENT_BINARY_DIR}/levels.c)
    target_link_libraries(tdbem-levels PRIVATE common evener_flags)
    list(APPEND objects tdbem-levels)
else()
    list(APPEND objects tdbem common_bits)
endif()
evener_one_object(one evener-tdbem "${objects}" ${shown})
add_library(evener-tdbem STATIC ${one})
set_target_properties(evener-tdbem PROPERTIES LINKER_LANGUAGE C)
foreach(level IN LISTS EVENER_LEVELS)
    add_dependencies(evener-tdbem tdbem-v${level})
endforeach()

# pkg-config's file and CMake's, from where they lie
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/evener-tdbem)
configure_file(library/evener-tdbem.pc.in evener-tdbem.pc @ONLY)
configure_package_config_file(library/evener-tdbem-config.cmake.in evener-tdbem-config.cmake
    INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(evener-tdbem-config-version.cmake VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
foreach(component library development)
    set(part COMPONENT ${component} ${in_${component}})
    install(TARGETS evener-tdbem ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${part})
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/evener ${part})
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/evener-tdbem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${part})
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/evener-tdbem-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/evener-tdbem-config-version.cmake
        DESTINATION ${package} ${part})
endforeach()
