# Run by cpack in the folder that it packs (cmake/package.cmake): libraries and plug-ins without symbols that no linker looks for, and the licence.
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

file(COPY "${CPACK_RESOURCE_FILE_LICENSE}" DESTINATION "${root}/share/doc/evener")
