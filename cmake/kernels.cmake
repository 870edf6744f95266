# Kernel files: one text for all devices, compiled by the host compiler and embedded for the others.
#
#     include(cmake/kernels.cmake)
#     evener_kernels(TARGET NAME FILE [NAME=VALUE..])
#     evener_cubins(TARGET TOOL FOLDER [FILE..])
#
# adds to TARGET a source made from FILE (NAME.kernel.c), which defines `const evn_kernel_source NAME_kernels`: the text with this project's
# headers put in where they are included, and each kernel as the host compiler has made it. NAME=VALUE are macros for all compilers; one
# file may be added several times under different names. Headers are also looked for in the folders of the list EVENER_KERNEL_FOLDERS.
#
# evener_cubins() adds TARGET, which is not part of `all`: every kernel file named so far, compiled into FOLDER by TOOL (src/device/gpu/ship.c);
# anew where its text or one of FILE.. has changed.
#
# The same file is the script that makes the source (cmake -P), so that a build needs nothing but CMake.

cmake_policy(VERSION 3.18)

# Appends FILE to the variable `text` with the headers that it includes, each once, and their names to `files`. A header is looked for beside
# FILE, if it is in quotes, and in the folders in `folders`; one in angles that is not there is left to the compiler.
macro(evener_inline_file)
    evener_inline("${ARGV0}")
    get_property(text GLOBAL PROPERTY EVENER_INLINE_TEXT)
    get_property(files GLOBAL PROPERTY EVENER_INLINE_FILES)
    set_property(GLOBAL PROPERTY EVENER_INLINE_TEXT "")
    set_property(GLOBAL PROPERTY EVENER_INLINE_FILES "")
endmacro()

function(evener_inline file)
    get_property(files GLOBAL PROPERTY EVENER_INLINE_FILES)
    if(file IN_LIST files)
        return()
    endif()
    set_property(GLOBAL APPEND PROPERTY EVENER_INLINE_FILES "${file}")
    get_filename_component(name "${file}" NAME)
    get_filename_component(here "${file}" DIRECTORY)
    file(READ "${file}" rest)
    string(REGEX REPLACE "(^|\n)#pragma once\n" "\\1\n" rest "${rest}") # each header is put in once
    set(line 1)
    set_property(GLOBAL APPEND_STRING PROPERTY EVENER_INLINE_TEXT "#line 1 \"${name}\"\n")
    while(rest MATCHES "(^|\n)([ \t]*#[ \t]*include[ \t]*([\"<])([^\">\n]+)[\">][^\n]*)")
        set(directive "${CMAKE_MATCH_2}")
        set(quote "${CMAKE_MATCH_3}")
        set(wanted "${CMAKE_MATCH_4}")
        string(FIND "${rest}" "${directive}" at)
        string(SUBSTRING "${rest}" 0 ${at} before)
        string(LENGTH "${directive}" length)
        math(EXPR at "${at} + ${length}")
        string(SUBSTRING "${rest}" ${at} -1 rest)
        set_property(GLOBAL APPEND_STRING PROPERTY EVENER_INLINE_TEXT "${before}")
        string(REGEX REPLACE "[^\n]" "" lines "${before}")
        string(LENGTH "${lines}" lines)
        math(EXPR line "${line} + ${lines}")
        set(found "")
        set(places ${folders})
        if(quote STREQUAL "\"")
            set(places "${here}" ${folders})
        endif()
        foreach(place IN LISTS places)
            if(NOT found AND EXISTS "${place}/${wanted}")
                get_filename_component(found "${place}/${wanted}" REALPATH)
            endif()
        endforeach()
        if(found)
            evener_inline("${found}")
            math(EXPR next "${line} + 1")
            set_property(GLOBAL APPEND_STRING PROPERTY EVENER_INLINE_TEXT "#line ${next} \"${name}\"")
        elseif(quote STREQUAL "\"")
            message(FATAL_ERROR "${file}:${line}: \"${wanted}\" is neither beside this file nor in ${folders}")
        else()
            set_property(GLOBAL APPEND_STRING PROPERTY EVENER_INLINE_TEXT "${directive}")
        endif()
    endwhile()
    set_property(GLOBAL APPEND_STRING PROPERTY EVENER_INLINE_TEXT "${rest}\n")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    # cmake -D NAME= -D FILE= -D OUT= -D FOLDERS=a:b -D DEFINES="N=8 M=2" -P kernels.cmake       with TEXT= instead of OUT= the text alone
    string(REPLACE ":" ";" folders "${FOLDERS}")
    evener_inline_file("${FILE}")
    if(TEXT)
        file(WRITE "${TEXT}" "${text}")
        return()
    endif()
    # a kernel begins a line, so that this finds what the compilers find
    string(REGEX MATCHALL "\nEVN_KERNEL\\([A-Za-z_0-9]+" kernels "${text}")
    if(NOT kernels)
        message(FATAL_ERROR "${FILE}: no line begins with EVN_KERNEL(name,")
    endif()
    set(entries "")
    foreach(kernel IN LISTS kernels)
        string(REGEX REPLACE "\nEVN_KERNEL\\(" "" kernel "${kernel}")
        string(APPEND entries "    {\"${kernel}\", ${kernel}_run, ${kernel}_items, ${kernel}_parameters},\n")
    endforeach()
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
    set(macros "")
    set(defines "0")
    if(DEFINES)
        set(defines "\"${DEFINES}\"")
        string(REPLACE " " ";" each "${DEFINES}")
        foreach(define IN LISTS each)
            string(REGEX REPLACE "^([^=]+)=?(.*)$" "#define \\1 \\2\n" define "${define}")
            string(APPEND macros "${define}")
        endforeach()
    endif()
    file(WRITE "${OUT}" "/* Made from ${NAME}'s kernel file by cmake/kernels.cmake: its text for device compilers, and its kernels for the
 * emulated device. */
#include <evener/device.h>
${macros}
/* words of OpenCL C and of C++ */
#pragma GCC poison half global local constant kernel uniform pipe restrict
#pragma GCC poison class new delete this template typename operator private public protected
#pragma GCC poison namespace using virtual friend try catch throw

#include \"${FILE}\"

static const char evn_text[] =
    \"${text}\";

static const evn_kernel_entry evn_entries[] = {
${entries}    {0, 0, 0, 0},
};

extern const evn_kernel_source ${NAME}_kernels;
const evn_kernel_source ${NAME}_kernels = {\"${NAME}\", evn_text, evn_entries, ${defines}, EVN_CONTRACT};
")
    return()
endif()

set(EVENER_KERNELS_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")
# where <evener/kernel.h> is: beside this script in the source, said by the package's configuration where installed
if(NOT EVENER_INCLUDE_DIR)
    get_filename_component(EVENER_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../include" REALPATH)
endif()

function(evener_kernels target name file)
    get_filename_component(file "${file}" REALPATH BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    set(folders "${EVENER_INCLUDE_DIR}" ${EVENER_KERNEL_FOLDERS})
    # what it includes now; when one of these changes this is looked at again
    evener_inline_file("${file}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
    set(made "${CMAKE_CURRENT_BINARY_DIR}/${name}_kernels.c")
    list(JOIN ARGN " " defines)
    list(JOIN folders ":" places)
    add_custom_command(OUTPUT "${made}"
        COMMAND ${CMAKE_COMMAND} -D "NAME=${name}" -D "FILE=${file}" -D "OUT=${made}" -D "FOLDERS=${places}"
            -D "DEFINES=${defines}" -P "${EVENER_KERNELS_SCRIPT}"
        DEPENDS ${files} "${EVENER_KERNELS_SCRIPT}" VERBATIM)
    target_sources(${target} PRIVATE "${made}")
    set_property(GLOBAL APPEND PROPERTY EVENER_KERNEL_FILES "${name}|${file}|${places}|${defines}")
    set(contract 1)
    if(DEFINED EVENER_CONTRACT AND NOT EVENER_CONTRACT)
        set(contract 0)
    endif()
    set_source_files_properties("${made}" PROPERTIES
        COMPILE_OPTIONS "-fopenmp-simd;-Wno-overlength-strings;${EVENER_KERNEL_OPTIONS}" # the text is one string
        COMPILE_DEFINITIONS "EVN_CONTRACT=${contract}")
endfunction()

function(evener_cubins target tool folder)
    get_property(all GLOBAL PROPERTY EVENER_KERNEL_FILES)
    list(REMOVE_DUPLICATES all)
    set(lists "")
    set(texts "${CMAKE_CURRENT_BINARY_DIR}/cubins")
    foreach(one IN LISTS all)
        string(REGEX MATCH "^(.*)[|](.*)[|](.*)[|](.*)$" one "${one}")
        set(name "${CMAKE_MATCH_1}")
        set(file "${CMAKE_MATCH_2}")
        set(places "${CMAKE_MATCH_3}")
        set(defines "${CMAKE_MATCH_4}")
        # two files may have one name, and one file several targets
        string(MD5 hash "${file} ${defines}")
        string(SUBSTRING "${hash}" 0 8 hash)
        set(list "${texts}/${name}-${hash}.list")
        if(list IN_LIST lists)
            continue()
        endif()
        string(REPLACE ":" ";" folders "${places}")
        evener_inline_file("${file}")
        set(text "${texts}/${name}-${hash}.text")
        add_custom_command(OUTPUT "${list}"
            COMMAND ${CMAKE_COMMAND} -D "NAME=${name}" -D "FILE=${file}" -D "TEXT=${text}" -D "FOLDERS=${places}"
                -P "${EVENER_KERNELS_SCRIPT}"
            COMMAND ${tool} "${folder}" "${list}" "${name}" "${text}" "${defines}"
            DEPENDS ${files} ${ARGN} VERBATIM COMMENT "Compiling ${name} for devices")
        list(APPEND lists "${list}")
    endforeach()
    add_custom_target(${target} DEPENDS ${lists})
endfunction()
