# What packages have beside what `cmake --install` puts there; run by cpack in the folder that it packs (cmake/package.cmake): plug-ins without symbols
# that nothing looks for, and the licence. In a .deb as Debian's policy has them: compressed manual pages, copyright and changelog.
set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
file(GLOB_RECURSE plugins "${root}/*.so")
foreach(plugin IN LISTS plugins)
    if(CPACK_EVENER_STRIP)
        execute_process(COMMAND ${CPACK_EVENER_STRIP} --strip-unneeded "${plugin}")
    endif()
endforeach()

if(NOT CPACK_GENERATOR STREQUAL DEB)
    file(COPY "${CPACK_RESOURCE_FILE_LICENSE}" DESTINATION "${root}/share/doc/evener")
    return()
endif()

set(folder "${root}/usr/share/doc/evener")
file(GLOB pages "${root}/usr/share/man/man1/*.1")
foreach(page IN LISTS pages)
    execute_process(COMMAND gzip -9nf "${page}" RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "package: ${page} could not be compressed; gzip is needed")
    endif()
endforeach()
string(REGEX MATCH "[0-9][0-9][0-9][0-9]" year "${CPACK_EVENER_DATE}")
file(WRITE "${folder}/copyright" "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: evener

Files: *
Copyright: ${year} the authors of Evener
License: Apache-2.0
 On Debian systems the text of this licence is in
 /usr/share/common-licenses/Apache-2.0.
")
file(WRITE "${folder}/changelog" "evener (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${CPACK_EVENER_DATE}
")
execute_process(COMMAND gzip -9nf "${folder}/changelog")
# whatever the umask of whoever packs
file(GLOB_RECURSE files "${folder}/*")
foreach(file IN LISTS files)
    execute_process(COMMAND chmod 0644 "${file}")
endforeach()
execute_process(COMMAND chmod 0755 "${folder}")
