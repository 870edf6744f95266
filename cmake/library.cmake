# The library from its objects, static or shared (BUILD_SHARED_LIBS). Programs see evn_* of it and nothing else.
#
# The archive holds one object, linked from all (ld -r; -d gives the locks of OpenMP's named critical sections a place),
# whose other names are then made local: so a program may have a `host_time` of its own. The shared library has a list of
# what it exports, and is never unloaded, since OpenMP's threads would return into it.

# the compiler's visibility would do for the shared library alone. Without interposition calls within a file stay calls
# within it; link-time optimisation would leave no names to hide.
set_target_properties(evener_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
check_c_compiler_flag(-fno-semantic-interposition HAS_NO_INTERPOSITION)
target_compile_options(evener_objects PRIVATE -fno-lto $<$<BOOL:${HAS_NO_INTERPOSITION}>:-fno-semantic-interposition>)

# evener_one_object(OUT NAME OBJECTS NAMES..): the file NAME.o from libraries of objects, of which only NAMES are seen; OLD=NEW is OLD under another name
function(evener_one_object out name objects)
    set(one ${CMAKE_BINARY_DIR}/${name}.o)
    separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
    set(keep "")
    foreach(seen IN LISTS ARGN)
        if(seen MATCHES "=(.*)")
            list(APPEND keep --redefine-sym=${seen})
            string(REGEX MATCH "^[^=]+" was ${seen}) # LLVM's looks at the name before, GNU's after
            list(APPEND keep --keep-global-symbol=${was})
            string(REGEX REPLACE ".*=" "" seen ${seen})
        endif()
        list(APPEND keep --keep-global-symbol=${seen})
    endforeach()
    list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE files)
    add_custom_command(OUTPUT ${one}
        COMMAND ${CMAKE_C_COMPILER} ${flags} -r -Wl,-d -nostdlib -o ${one} ${files}
        COMMAND ${CMAKE_OBJCOPY} --wildcard ${keep} ${one}
        DEPENDS ${objects} ${files}
        COMMAND_EXPAND_LISTS VERBATIM COMMENT "Hiding what is not of ${name}'s interface")
    set_source_files_properties(${one} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    set(${out} ${one} PARENT_SCOPE)
endfunction()

if(BUILD_SHARED_LIBS)
    add_library(evener SHARED $<TARGET_OBJECTS:evener_objects>)
    set_target_properties(evener PROPERTIES LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/evener.map)
    target_link_options(evener PRIVATE
        -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/evener.map -Wl,-z,nodelete)
elseif(CMAKE_OBJCOPY)
    evener_one_object(one evener evener_objects evn_*)
    add_library(evener STATIC ${one})
else()
    message(STATUS "objcopy was not found: names that do not begin with evn_ stay visible in the archive")
    add_library(evener STATIC $<TARGET_OBJECTS:evener_objects>)
endif()
set_target_properties(evener PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE C)
target_include_directories(evener PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(evener PRIVATE $<BUILD_INTERFACE:evener_flags> ${EVENER_NEEDS})

# what pkg-config says: who links the archive needs what it needs
set(EVENER_PC_LIBS_PRIVATE "${OpenMP_C_FLAGS}${EVENER_ENGINES} -lpthread -ldl -lm")
if(BUILD_SHARED_LIBS)
    set(EVENER_PC_PRIVATE .private)
else()
    set(EVENER_PC_LIBS " ${EVENER_PC_LIBS_PRIVATE}")
    set(EVENER_PC_LIBS_PRIVATE "")
endif()
