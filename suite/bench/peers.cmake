# The same workloads on Evener and on other runtimes, each a program of its own in the folder peers of the build (peers/work.h), for
# suite/bench/shared_node.py and evener bench tasks. Those whose runtime is not there are left out.
#
# What tasks do is compiled once, by the compiler of the rest, so that a ratio compares runtimes and not compilers.

set(EVENER_PEERS "")
set(peers_folder ${CMAKE_BINARY_DIR}/peers)
set(peers_options -O3)
check_c_compiler_flag(-march=native HAS_NATIVE)
if(HAS_NATIVE AND NOT EVENER_ARCH AND NOT CMAKE_CROSSCOMPILING)
    list(APPEND peers_options -march=native)
endif()
add_library(peers-work OBJECT peers/work.c)
target_link_libraries(peers-work PRIVATE evener_flags)
target_compile_options(peers-work PRIVATE ${peers_options})

# evener_peer(NAME SOURCE LIBRARY..)
function(evener_peer name source)
    add_executable(peer-${name} ${source})
    target_link_libraries(peer-${name} PRIVATE peers-work evener_flags ${ARGN})
    set_target_properties(peer-${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${peers_folder})
    list(APPEND EVENER_PEERS ${name})
    set(EVENER_PEERS ${EVENER_PEERS} PARENT_SCOPE)
endfunction()

evener_peer(serial peers/serial.c)
evener_peer(evener peers/evener.c evener)
evener_peer(directives peers/directives.c)
evener_directives(peer-directives)

# OpenMP of each maker whose compiler and runtime are here
foreach(maker gcc clang)
    find_program(EVENER_PEER_${maker} ${maker})
    set(compiler ${EVENER_PEER_${maker}})
    if(compiler AND NOT EVENER_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
        set(try ${CMAKE_BINARY_DIR}/CMakeFiles/peer-${maker})
        file(WRITE ${try}.c "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
        execute_process(COMMAND ${compiler} -fopenmp ${try}.c -o ${try} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
        if(NOT failed)
            add_custom_command(OUTPUT ${peers_folder}/openmp-${maker}
                COMMAND ${CMAKE_COMMAND} -E make_directory ${peers_folder}
                COMMAND ${compiler} -O3 -Wall -Wextra -Wno-sign-compare -fopenmp ${CMAKE_CURRENT_SOURCE_DIR}/peers/openmp.c $<TARGET_OBJECTS:peers-work>
                    -o ${peers_folder}/openmp-${maker}
                DEPENDS peers/openmp.c peers/work.h peers-work $<TARGET_OBJECTS:peers-work>
                VERBATIM COMMENT "Building peers/openmp-${maker}")
            add_custom_target(peer-openmp-${maker} ALL DEPENDS ${peers_folder}/openmp-${maker})
            list(APPEND EVENER_PEERS openmp-${maker})
        endif()
    endif()
endforeach()

check_language(CXX)
if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    find_package(TBB QUIET)
    if(TBB_FOUND)
        evener_peer(tbb peers/tbb.cpp TBB::tbb)
        set_target_properties(peer-tbb PROPERTIES CXX_STANDARD 17)
        set(PEER_TBB_FOUND TRUE)
    endif()
endif()

if(STARPU_FOUND)
    evener_peer(starpu peers/starpu.c PkgConfig::STARPU)
endif()

add_custom_target(peers)
foreach(name IN LISTS EVENER_PEERS)
    add_dependencies(peers peer-${name})
endforeach()
