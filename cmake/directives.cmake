# Programs with directives for compute units (docs/language.md):
#
#     evener_directives(TARGET)
#
# compiles the files of C, C++ and Fortran of TARGET by way of evener-cc, with the compilers that CMake has chosen, and links the run-time. A
# launcher that the target has already (ccache) is called by evener-cc in its turn.

function(evener_directives target)
    if(TARGET evener_cc)
        set(command ${CMAKE_CROSSCOMPILING_EMULATOR} "$<TARGET_FILE:evener_cc>")
        add_dependencies(${target} evener_cc)
    else()
        set(command "${EVENER_CC}")
    endif()
    foreach(language C CXX Fortran)
        set(words "${command}")
        get_target_property(launcher ${target} ${language}_COMPILER_LAUNCHER)
        if(launcher)
            list(APPEND words ${launcher})
        endif()
        set_target_properties(${target} PROPERTIES ${language}_COMPILER_LAUNCHER "${words}")
    endforeach()
    if(TARGET evener::cu)
        target_link_libraries(${target} PRIVATE evener::cu)
    elseif(TARGET evener-cu)
        target_link_libraries(${target} PRIVATE evener-cu)
    endif()
endfunction()
