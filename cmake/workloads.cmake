# Workloads of the command: a folder each.
#
#     evener_workload(FOLDER)          adds one, in the order of the calls
#     evener_command(TARGET)           an executable, the command with all that have been added so far
#
# FOLDER is below the present one and its name is a C name. Its workload.c defines `const struct workload *const FOLDER_workloads[]`
# (apps/common/workload.h). All of its sources are one library FOLDER: what its own CMakeLists.txt says, or, where it has none, every .c file in
# it.

function(evener_workload folder)
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt")
        add_subdirectory(${folder})
    else()
        file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c")
        add_library(${folder} STATIC ${sources})
        target_link_libraries(${folder} PRIVATE common evener evener_flags OpenMP::OpenMP_C m)
    endif()
    set_property(GLOBAL APPEND PROPERTY EVENER_WORKLOADS ${folder})
endfunction()

function(evener_command target)
    get_property(folders GLOBAL PROPERTY EVENER_WORKLOADS)
    set(lists "")
    set(names "")
    foreach(folder IN LISTS folders)
        string(APPEND lists "extern const struct workload *const ${folder}_workloads[];\n")
        string(APPEND names "    ${folder}_workloads,\n")
    endforeach()
    set(table "${CMAKE_CURRENT_BINARY_DIR}/${target}_workloads.c")
    file(CONFIGURE OUTPUT "${table}" CONTENT
        "/* The workloads of this command, written by cmake/workloads.cmake. */
#include \"workload/table.h\"

${lists}
const struct workload *const *const workload_folders[] = {
${names}    NULL,
};
" @ONLY)
    add_executable(${target} "${table}")
    target_link_libraries(${target} PRIVATE evener_tool ${folders} common evener evener_flags OpenMP::OpenMP_C m)
endfunction()
