# Names that the library shows: the functions that its public headers declare.
#
#     evener_public_names(OUT)
#
# takes headers as text: a line at the margin in which a name evn_* precedes the first bracket declares a function of the library, but for those that are
# defined in place (static inline, EVN_DEVICE_FUNCTION). cu*.h are evener-cu's, kernel_math.h has functions in place alone. The test `names` finds the same names
# by a compiler.

function(evener_public_names out)
    file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/evener/*.h)
    list(FILTER headers EXCLUDE REGEX "/(cu[a-z_]*|kernel_math)[.]h$")
    set(names "")
    foreach(header IN LISTS headers)
        set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
        file(READ ${header} text)
        string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/" "" text "${text}")
        string(REGEX REPLACE "\n(static inline|EVN_DEVICE_FUNCTION|typedef|#)[^\n]*" "\n" text "${text}")
        string(REGEX MATCHALL "\n[A-Za-z][^\n(;={]*evn_[a-z0-9_]+[(]" found "${text}")
        list(APPEND names ${found})
    endforeach()
    list(TRANSFORM names REPLACE "^.*[ *](evn_[a-z0-9_]+)[(]$" "\\1")
    list(REMOVE_DUPLICATES names)
    list(SORT names)
    set(${out} "${names}" PARENT_SCOPE)
endfunction()
