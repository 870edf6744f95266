# MPI's plug-ins: one shared object for each MPI that is found, of one source (src/ranks/wire/wire_mpi*), by the script that users have too.
#
# build/lib/evener and lib/evener of the installation have the same in them: plug-ins, source, headers and script; but for evener-raw-*.so, an MPI
# by itself for the studies of the former. Nothing else of Evener
# is compiled or linked with an MPI; but for -DEVENER_WIRE=builtin, where one is linked in, for machines on which dlopen() is no option.

set(EVENER_WIRE plugins CACHE STRING "how an MPI is reached: by plugins that are opened where a launcher has started the process, or builtin")
set_property(CACHE EVENER_WIRE PROPERTY STRINGS plugins builtin)
if(NOT EVENER_WIRE MATCHES "^(plugins|builtin)$")
    message(FATAL_ERROR "EVENER_WIRE is \"${EVENER_WIRE}\"; expected plugins or builtin")
endif()

set(EVENER_MPICC "" CACHE STRING "compiler wrappers of the MPIs to make plug-ins for (a list); empty: those that are found, OFF: none")
set(folder ${CMAKE_BINARY_DIR}/lib/evener)
configure_file(cmake/evener-wire-build ${folder}/evener-wire-build COPYONLY)
foreach(file wire_mpi.c wire_mpi_shared.c wire_mpi.h)
    configure_file(src/ranks/wire/${file} ${folder}/${file} COPYONLY)
endforeach()
foreach(header wire status)
    configure_file(include/evener/${header}.h ${folder}/evener/${header}.h COPYONLY)
endforeach()

# Debian has several beside each other; where none has a name of its own there is one
set(wrappers ${EVENER_MPICC})
if("${EVENER_MPICC}" STREQUAL "")
    foreach(wrapper mpicc.openmpi mpicc.mpich)
        find_program(EVENER_${wrapper} ${wrapper})
        mark_as_advanced(EVENER_${wrapper})
        if(EVENER_${wrapper})
            list(APPEND wrappers ${EVENER_${wrapper}})
        endif()
    endforeach()
    if(NOT wrappers)
        find_program(EVENER_mpicc mpicc)
        mark_as_advanced(EVENER_mpicc)
        if(EVENER_mpicc)
            set(wrappers ${EVENER_mpicc})
        endif()
    endif()
elseif(NOT EVENER_MPICC)
    set(wrappers "")
endif()

set(EVENER_WIRES "")
set(plugins "")
set(raws "")
set(EVENER_MPI_BUILTIN OFF)
if(EVENER_WIRE STREQUAL builtin)
    if(NOT wrappers)
        message(FATAL_ERROR "EVENER_WIRE=builtin: there is no MPI; say its compiler wrapper with -DEVENER_MPICC=..")
    endif()
    list(GET wrappers 0 wrapper)
    find_program(EVENER_builtin ${wrapper})
    mark_as_advanced(EVENER_builtin)
    set(MPI_C_COMPILER ${EVENER_builtin})
    find_package(MPI REQUIRED COMPONENTS C)
    target_sources(evener_objects PRIVATE src/ranks/wire/wire_mpi.c)
    set_source_files_properties(src/ranks/wire/launcher.c DIRECTORY src PROPERTIES COMPILE_DEFINITIONS EVENER_WIRE_BUILTIN)
    target_link_libraries(evener_objects PRIVATE MPI::MPI_C)
    list(APPEND EVENER_NEEDS MPI::MPI_C)
    foreach(library IN LISTS MPI_C_LIBRARIES)
        string(APPEND EVENER_ENGINES " ${library}")
    endforeach()
    set(EVENER_MPI_BUILTIN ON)
    set(EVENER_WIRES "built in, by ${MPI_C_COMPILER}")
    set(wrappers "")
endif()
foreach(wrapper IN LISTS wrappers)
    execute_process(COMMAND ${folder}/evener-wire-build --name ${wrapper}
        OUTPUT_VARIABLE name ERROR_VARIABLE why RESULT_VARIABLE failed
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
    if(failed)
        message(STATUS "${why}")
    elseif(NOT ${folder}/${name} IN_LIST plugins)
        add_custom_command(OUTPUT ${folder}/${name}
            COMMAND ${folder}/evener-wire-build ${wrapper} ${folder}/${name}
            DEPENDS ${folder}/evener-wire-build ${folder}/wire_mpi.c ${folder}/wire_mpi_shared.c ${folder}/wire_mpi.h ${folder}/evener/wire.h ${folder}/evener/status.h
            VERBATIM COMMENT "Making ${name} with ${wrapper}")
        list(APPEND plugins ${folder}/${name})
        # the study that is MPI's own program; made when it is asked for
        string(REGEX REPLACE "evener-(wire-[a-z]+)[.]so" "bench-\\1" bench ${name})
        add_custom_target(${bench}
            COMMAND ${wrapper} -std=gnu11 -O2 -Wall -Wextra -I ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/suite/bench/wire_mpi.c
                -o ${CMAKE_BINARY_DIR}/${bench} -ldl
            DEPENDS ${folder}/${name} VERBATIM)
        # MPI by itself, for evener bench put
        string(REPLACE wire raw raw ${name})
        add_custom_command(OUTPUT ${folder}/${raw}
            COMMAND ${wrapper} -std=gnu11 -O2 -Wall -Wextra -fPIC -shared -fvisibility=hidden -I ${CMAKE_SOURCE_DIR}/suite/command
                ${CMAKE_SOURCE_DIR}/suite/bench/raw_mpi.c -o ${folder}/${raw}
            DEPENDS ${CMAKE_SOURCE_DIR}/suite/bench/raw_mpi.c ${CMAKE_SOURCE_DIR}/suite/command/bench/raw.h VERBATIM)
        list(APPEND raws ${folder}/${raw})
        list(APPEND EVENER_WIRES ${name})
    endif()
endforeach()
add_custom_target(wires ALL DEPENDS ${plugins} ${raws})
list(JOIN EVENER_WIRES ", " EVENER_WIRES)

install(FILES ${plugins} DESTINATION lib/evener PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(PROGRAMS cmake/evener-wire-build DESTINATION lib/evener)
install(FILES src/ranks/wire/wire_mpi.c src/ranks/wire/wire_mpi_shared.c src/ranks/wire/wire_mpi.h DESTINATION lib/evener)
install(FILES include/evener/wire.h include/evener/status.h DESTINATION lib/evener/evener)
