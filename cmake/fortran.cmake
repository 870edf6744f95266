# Programs in Fortran: evener_fortran(TARGET [MODULE..]) compiles the module `evener` into TARGET, a target of Fortran sources, and
# others that lie beside it (omp_cu).
#
#     project(program C Fortran)
#     find_package(evener 0.1 REQUIRED)
#     find_package(OpenMP REQUIRED COMPONENTS C Fortran)
#     add_executable(program program.f90)
#     target_link_libraries(program PRIVATE evener::evener OpenMP::OpenMP_Fortran)
#     evener_fortran(program)
#
# Module files belong to one compiler, so the source is installed and no module file. Each target has its own, in a folder of
# its own unless it names one, so that two may be built at the same time.

# where the headers are: beside this file in the source, said by the package's configuration where installed
if(NOT EVENER_INCLUDE_DIR)
    get_filename_component(EVENER_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../include" REALPATH)
endif()

function(evener_fortran target)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT Fortran IN_LIST languages)
        message(FATAL_ERROR "evener_fortran(${target}): Fortran is not enabled here, write project(.. C Fortran)")
    endif()
    get_target_property(folder ${target} Fortran_MODULE_DIRECTORY)
    if(NOT folder)
        set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.modules")
        set_target_properties(${target} PROPERTIES Fortran_MODULE_DIRECTORY "${folder}")
    endif()
    # who uses a library of the target uses its modules
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
    foreach(module evener ${ARGN})
        target_sources(${target} PRIVATE "${EVENER_INCLUDE_DIR}/evener/fortran/${module}.f90")
    endforeach()
endfunction()
