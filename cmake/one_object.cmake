# evener_one_object(): one object of many, with few names

include(CheckCSourceCompiles)
# Sections that files of a program may have, too, are made the object's own: one that the linker dropped for another's would take a local name with it.
set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,--force-group-allocation)
check_c_source_compiles("int main(void) { return 0; }" HAS_FORCE_GROUP_ALLOCATION)
unset(CMAKE_REQUIRED_LINK_OPTIONS)

# evener_one_object(OUT NAME OBJECTS NAMES..): the file NAME.o from libraries of objects, or objects by their paths (ld -r; -d gives the locks of OpenMP's named critical
# sections a place), of which only NAMES are seen; OLD=NEW is OLD under another name
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
    list(TRANSFORM objects REPLACE "^([^/]+)$" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE files)
    add_custom_command(OUTPUT ${one}
        COMMAND ${CMAKE_C_COMPILER} ${flags} -r -Wl,-d $<$<BOOL:${HAS_FORCE_GROUP_ALLOCATION}>:-Wl,--force-group-allocation> -nostdlib -o ${one} ${files}
        COMMAND ${CMAKE_OBJCOPY} --wildcard ${keep} ${one}
        DEPENDS ${objects} ${files}
        COMMAND_EXPAND_LISTS VERBATIM COMMENT "Hiding what is not of ${name}'s interface")
    set_source_files_properties(${one} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    set(${out} ${one} PARENT_SCOPE)
endfunction()
