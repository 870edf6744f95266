# One binary for all processors: each workload is compiled once for every level of x86-64 (v2, v3, v4), whole, and the command takes one when it
# starts (suite/apps/common/simd/isa.h). All else is compiled for any x86-64.
#
#     evener_levels(TARGET [ONCE FILE..] [SHOWS NAME..])     TARGET is a workload's library, all of whose sources and libraries are known
#
# adds archives TARGET-v2, TARGET-v3, .. of one object each, in which every name is local but TARGET_workloads_v2, .. and NAME_v2, .. : no call goes from
# code of one level into another's, and within a level all is as if there were no other. TARGET itself, which tests link, is of the level that this
# machine has. EVENER_LEVELS lists the levels; it is empty where there is one compilation for all: with -DEVENER_ARCH=NAME, on other processors,
# with sanitizers, and without objcopy. With -DEVENER_ISA=own it lists one, the highest of the machine that builds: the command has that level alone,
# with the same bits, and compiles in less than half of the time.
#
# FILE.. are those of its sources that are the same at every level: nothing of common/simd/lanes.h in them, no number that a fused multiply-add would
# round otherwise, and no time spent there. They are compiled once, for any x86-64.

include(CheckCCompilerFlag)

set(EVENER_LEVELS "")
if(NOT EVENER_ARCH AND EVENER_SANITIZE)
    set(EVENER_ARCH native) # for tests on this machine
endif()
if(NOT EVENER_ARCH AND CMAKE_OBJCOPY AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    foreach(level 2 3 4)
        check_c_compiler_flag(-march=x86-64-v${level} HAS_X86_64_V${level})
        if(HAS_X86_64_V${level})
            list(APPEND EVENER_LEVELS ${level})
        endif()
    endforeach()
endif()

# the highest level of the machine that builds
set(EVENER_LEVEL 2)
if(EVENER_LEVELS AND NOT CMAKE_CROSSCOMPILING)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -march=native -dM -E -x c /dev/null OUTPUT_VARIABLE has ERROR_QUIET)
    if(has MATCHES "__AVX512F__" AND has MATCHES "__AVX512BW__" AND has MATCHES "__AVX512CD__" AND has MATCHES "__AVX512DQ__" AND has MATCHES "__AVX512VL__")
        set(EVENER_LEVEL 4)
    elseif(has MATCHES "__AVX2__" AND has MATCHES "__FMA__" AND has MATCHES "__BMI2__" AND has MATCHES "__F16C__")
        set(EVENER_LEVEL 3)
    endif()
    if(NOT EVENER_LEVEL IN_LIST EVENER_LEVELS)
        list(GET EVENER_LEVELS -1 EVENER_LEVEL)
    endif()
endif()
if(EVENER_ISA STREQUAL "own" AND EVENER_LEVELS)
    set(EVENER_LEVELS ${EVENER_LEVEL})
elseif(NOT EVENER_ISA MATCHES "^(own|all)$")
    message(FATAL_ERROR "EVENER_ISA=${EVENER_ISA}: expected all or own")
endif()

# what code that includes a workload's headers is compiled with, beside evener_flags
add_library(evener_level INTERFACE)
if(EVENER_LEVELS)
    target_compile_options(evener_level INTERFACE -march=x86-64-v${EVENER_LEVEL})
endif()

# of what tests link: "name", level (0: no level of x86-64, and not looked at)
set(EVENER_ONE_ISA "\"base\", 0")
if(EVENER_LEVELS)
    set(EVENER_ONE_ISA "\"v${EVENER_LEVEL}\", ${EVENER_LEVEL}")
elseif(EVENER_ARCH MATCHES "^x86-64-(v([234]))$")
    set(EVENER_ONE_ISA "\"${CMAKE_MATCH_1}\", ${CMAKE_MATCH_2}")
elseif(EVENER_ARCH)
    set(EVENER_ONE_ISA "\"${EVENER_ARCH}\", 0")
endif()
# in the words of the summary
set(EVENER_FOR "-march=${EVENER_ARCH}")
if(EVENER_LEVELS)
    list(TRANSFORM EVENER_LEVELS PREPEND v OUTPUT_VARIABLE EVENER_FOR)
    list(JOIN EVENER_FOR ", " EVENER_FOR)
    set(EVENER_FOR "kernels for x86-64 ${EVENER_FOR}")
elseif(NOT EVENER_ARCH)
    set(EVENER_FOR "for any ${CMAKE_SYSTEM_PROCESSOR}")
endif()

function(evener_levels target)
    cmake_parse_arguments(PARSE_ARGV 1 for "" "" "ONCE;SHOWS")
    get_target_property(sources ${target} SOURCES)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    get_target_property(definitions ${target} COMPILE_DEFINITIONS)
    get_target_property(needs ${target} MANUALLY_ADDED_DEPENDENCIES)
    target_link_libraries(${target} PUBLIC evener_level common_bits)
    if(NOT EVENER_LEVELS)
        return()
    endif()
    target_compile_options(${target} PRIVATE -fno-lto) # there would be no names to hide
    set(once "")
    if(for_ONCE)
        foreach(file IN LISTS for_ONCE)
            if(NOT file IN_LIST sources)
                message(FATAL_ERROR "evener_levels(${target} ONCE ${file}): not a source of ${target}")
            endif()
        endforeach()
        list(REMOVE_ITEM sources ${for_ONCE})
        set(once ${target}-once)
        add_library(${once} OBJECT ${for_ONCE})
        target_link_libraries(${once} PRIVATE ${libraries})
        target_compile_options(${once} PRIVATE -fno-lto ${EVENER_TEXT_OPTIONS})
        target_compile_definitions(${once} PRIVATE EVENER_ANY_LEVEL $<$<BOOL:${definitions}>:${definitions}>)
        set_target_properties(${target} PROPERTIES SOURCES "${sources};$<TARGET_OBJECTS:${once}>")
    endif()
    # what is made is made once, whoever is built first
    set(made ${sources})
    list(FILTER made INCLUDE REGEX "^${CMAKE_BINARY_DIR}/")
    add_custom_target(${target}-made DEPENDS ${made})
    add_dependencies(${target} ${target}-made)
    foreach(level IN LISTS EVENER_LEVELS)
        set(objects ${target})
        if(NOT level EQUAL EVENER_LEVEL)
            set(objects ${target}-v${level}-objects)
            add_library(${objects} OBJECT ${sources})
            target_link_libraries(${objects} PRIVATE ${libraries})
            target_compile_options(${objects} PRIVATE -march=x86-64-v${level} -fno-lto)
            if(definitions)
                target_compile_definitions(${objects} PRIVATE ${definitions})
            endif()
            add_dependencies(${objects} ${target}-made)
            if(needs)
                add_dependencies(${objects} ${needs})
            endif()
        endif()
        set(shown "")
        foreach(name IN ITEMS ${target}_workloads ${for_SHOWS})
            list(APPEND shown ${name}=${name}_v${level})
        endforeach()
        evener_one_object(one ${target}-v${level} "${objects};${once};common_bits_v${level}" ${shown})
        add_library(${target}-v${level} STATIC ${one})
        set_target_properties(${target}-v${level} PROPERTIES LINKER_LANGUAGE C)
    endforeach()
endfunction()
