# Workloads of the command: a folder each.
#
#     evener_workload(FOLDER)          adds one, in the order of the calls
#     evener_command(TARGET [PLAIN])   an executable, the command with all that have been added so far; PLAIN: with those that tests link,
#                                      of one level, whose names are seen
#
# FOLDER is below the present one and its name is a C name. Its workload.c defines `const struct workload *const FOLDER_workloads[]`
# (suite/apps/common/run/workload.h). All of its sources are one library FOLDER: what its own CMakeLists.txt says, or, where it has none, every .c file in
# it. The last line of it is evener_levels(FOLDER) (cmake/levels.cmake).

function(evener_workload folder)
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt")
        add_subdirectory(${folder})
    else()
        file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c")
        add_library(${folder} STATIC ${sources})
        target_link_libraries(${folder} PRIVATE common evener evener_flags OpenMP::OpenMP_C m)
        evener_levels(${folder})
    endif()
    set_property(GLOBAL APPEND PROPERTY EVENER_WORKLOADS ${folder})
endfunction()

# evener_workload_table(OUT FOLDER..): the text of the table of workloads that the command chooses from, one entry a level
function(evener_workload_table out)
    set(levels ${EVENER_LEVELS})
    if(NOT levels OR PLAIN)
        set(levels one)
    endif()
    set(declared "")
    set(isas "")
    set(folders "")
    foreach(level IN LISTS levels)
        set(ending _v${level})
        set(isa "\"v${level}\", ${level}")
        if(level STREQUAL "one")
            set(ending "")
            set(isa "${EVENER_ONE_ISA}")
        endif()
        string(APPEND isas "    {${isa}},\n")
        string(APPEND folders "    (const struct workload *const *const[]){")
        foreach(folder IN LISTS ARGN)
            string(APPEND declared "extern const struct workload *const ${folder}_workloads${ending}[];\n")
            string(APPEND folders "${folder}_workloads${ending}, ")
        endforeach()
        string(APPEND folders "NULL},\n")
    endforeach()
    set(${out} "/* The workloads of this command, written by cmake/workloads.cmake. */
#include \"run/table.h\"

${declared}
const struct isa workload_isas[] = {
${isas}    {NULL, 0},
};
const struct workload *const *const *const workload_folders[] = {
${folders}};
" PARENT_SCOPE)
endfunction()

function(evener_command target)
    set(PLAIN FALSE)
    if("PLAIN" IN_LIST ARGN)
        set(PLAIN TRUE)
    endif()
    get_property(folders GLOBAL PROPERTY EVENER_WORKLOADS)
    evener_workload_table(text ${folders})
    set(table "${CMAKE_CURRENT_BINARY_DIR}/${target}_workloads.c")
    file(CONFIGURE OUTPUT "${table}" CONTENT "${text}" @ONLY)
    set(archives ${folders})
    if(EVENER_LEVELS AND NOT PLAIN)
        set(archives "")
        foreach(level IN LISTS EVENER_LEVELS)
            list(TRANSFORM folders APPEND -v${level} OUTPUT_VARIABLE of_level)
            list(APPEND archives ${of_level})
        endforeach()
    endif()
    add_executable(${target} "${table}")
    target_link_libraries(${target} PRIVATE evener_tool ${archives} common evener evener_flags OpenMP::OpenMP_C m)
endfunction()
