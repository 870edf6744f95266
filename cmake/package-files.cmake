# Files of packages beside those that `cmake --install` installs; run by cpack in the folder that it packs (cmake/package.cmake): libraries and plug-ins
# without symbols that no linker looks for, and the licence. In a .deb as Debian's policy has them: compressed manual pages, copyright and changelogs.
set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
# without symbols of the linker's or, of archives, the debugger's
file(GLOB_RECURSE libraries "${root}/*.so*" "${root}/*.a")
foreach(library IN LISTS libraries)
    if(CPACK_EVENER_STRIP AND NOT IS_SYMLINK "${library}")
        set(how --strip-unneeded)
        if(library MATCHES "[.]a$")
            set(how --strip-debug)
        endif()
        execute_process(COMMAND ${CPACK_EVENER_STRIP} ${how} --remove-section=.comment --remove-section=.note "${library}")
    endif()
endforeach()

if(NOT CPACK_GENERATOR STREQUAL DEB)
    file(COPY "${CPACK_RESOURCE_FILE_LICENSE}" DESTINATION "${root}/share/doc/evener")
    return()
endif()

function(compress file)
    execute_process(COMMAND gzip -9nf "${file}" RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "package: ${file} could not be compressed; gzip is needed")
    endif()
endfunction()

string(REGEX MATCH "[0-9][0-9][0-9][0-9]" year "${CPACK_EVENER_DATE}")
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    set(folder "${root}/${component}/usr/share/doc/${name}")
    file(GLOB pages "${root}/${component}/usr/share/man/man[13]/*.[13]")
    foreach(page IN LISTS pages)
        compress("${page}")
    endforeach()
    file(WRITE "${folder}/copyright" "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: evener

Files: *
Copyright: ${year} the authors of Evener
License: Apache-2.0
 On Debian systems the text of this licence is in
 /usr/share/common-licenses/Apache-2.0.
")
    file(WRITE "${folder}/changelog.Debian" "evener (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${CPACK_EVENER_DATE}
")
    compress("${folder}/changelog.Debian")
    configure_file("${CPACK_EVENER_CHANGELOG}" "${folder}/changelog" COPYONLY)
    compress("${folder}/changelog")
    # whatever the umask of whoever packs
    file(GLOB_RECURSE files "${folder}/*")
    foreach(file IN LISTS files)
        execute_process(COMMAND chmod 0644 "${file}")
    endforeach()
    execute_process(COMMAND find "${root}/${component}" -type d -exec chmod 0755 {} +)
endforeach()
