# The library from its objects, as an archive and as a shared library. Programs see of both the functions of the public headers (cmake/names.cmake) and
# nothing else.
#
# The archive has each object as a member of its own, since programs shall not link what they do not use; the library's other names
# begin with evn__ there (cmake/hide-names): so a program may have a `host_time` of its own. The shared library has a list of
# what it exports, under the version EVENER_1, and is never unloaded, since OpenMP's threads would return into it.
#
# All that is built here links the archive. An installation has the archive alone; packages, and installations with BUILD_SHARED_LIBS, have both, and
# pkg-config and CMake link the shared library there. The shared library's number is that of its interface, not of the release.

include(cmake/names.cmake)
evener_public_names(EVENER_NAMES)
set(EVENER_INTERFACE 1)

# the compiler's visibility would do for the shared library alone. Without interposition calls within a file stay calls
# within it; link-time optimisation would leave no names to hide.
set_target_properties(evener_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
check_c_compiler_flag(-fno-semantic-interposition HAS_NO_INTERPOSITION)
target_compile_options(evener_objects PRIVATE -fno-lto $<$<BOOL:${HAS_NO_INTERPOSITION}>:-fno-semantic-interposition>)

add_library(evener STATIC $<TARGET_OBJECTS:evener_objects>)
if(CMAKE_OBJCOPY)
    list(JOIN EVENER_NAMES "\n" names)
    file(CONFIGURE OUTPUT evener.names @ONLY CONTENT "@names@\n")
    add_custom_command(TARGET evener POST_BUILD
        COMMAND ${PROJECT_SOURCE_DIR}/cmake/hide-names $<TARGET_FILE:evener> ${CMAKE_BINARY_DIR}/evener.names
            ${CMAKE_AR} ${CMAKE_NM} ${CMAKE_OBJCOPY} $<TARGET_OBJECTS:evener_objects>
        COMMAND_EXPAND_LISTS VERBATIM)
    set_target_properties(evener PROPERTIES LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/hide-names;${CMAKE_BINARY_DIR}/evener.names")
else()
    message(STATUS "objcopy was not found: names that programs do not use stay as they are in the archive")
endif()
target_link_libraries(evener PRIVATE $<BUILD_INTERFACE:evener_flags> ${EVENER_NEEDS})
# schedules and devices that a program names in texts alone (src/everything.c)
set(EVENER_EVERYTHING -Wl,--undefined=evn__everything)
target_link_options(evener INTERFACE ${EVENER_EVERYTHING})

list(JOIN EVENER_NAMES ";\n    " names)
file(CONFIGURE OUTPUT evener.map @ONLY CONTENT "EVENER_@EVENER_INTERFACE@ {
  global:
    @names@;
  local:
    *;
};
")
add_library(evener_shared SHARED $<TARGET_OBJECTS:evener_objects>)
target_link_options(evener_shared PRIVATE -Wl,--version-script=${CMAKE_BINARY_DIR}/evener.map -Wl,-z,nodelete)
target_link_libraries(evener_shared PRIVATE evener_flags ${EVENER_NEEDS})
set_target_properties(evener_shared PROPERTIES OUTPUT_NAME evener LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
    VERSION ${EVENER_INTERFACE}.${PROJECT_VERSION} SOVERSION ${EVENER_INTERFACE} LINK_DEPENDS ${CMAKE_BINARY_DIR}/evener.map)

foreach(library evener evener_shared)
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C)
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
endforeach()
