# Directives at run time: the archive evener-cu, always static, since it takes over the fork of parallel regions where it is
# linked into, and only there (--wrap).
add_library(evener_cu_objects OBJECT
    src/cu/fork.c
    src/cu/fortran.c
    src/cu/compile.c
    src/cu/keys.c
    src/cu/kernel.c
    src/cu/omp.c
    src/cu/place.c
    src/cu/report.c
    src/cu/site.c
    src/cu/units.c)
set_target_properties(evener_cu_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(evener_cu_objects PRIVATE -fno-lto)
target_include_directories(evener_cu_objects PUBLIC include PRIVATE src)
target_link_libraries(evener_cu_objects PRIVATE evener_flags OpenMP::OpenMP_C Threads::Threads)
if(CMAKE_OBJCOPY)
    evener_one_object(one evener-cu evener_cu_objects evn_cu_* __wrap_GOMP_parallel __wrap___kmpc_fork_call)
    add_library(evener-cu STATIC ${one})
else()
    add_library(evener-cu STATIC $<TARGET_OBJECTS:evener_cu_objects>)
endif()
set_target_properties(evener-cu PROPERTIES EXPORT_NAME cu LINKER_LANGUAGE C)
add_library(evener::cu ALIAS evener-cu)
# the archive comes in whether or not the program has regions of its own: the library has some, which are taken over as well
set(EVENER_CU_LINK -Wl,--wrap=GOMP_parallel,--wrap=__kmpc_fork_call,--undefined=__wrap_GOMP_parallel)
target_include_directories(evener-cu PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(evener-cu PUBLIC evener OpenMP::OpenMP_C)
target_link_options(evener-cu INTERFACE ${EVENER_CU_LINK})
