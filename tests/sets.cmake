# Which test is in which set, how many processors it takes, and which begin first. Included when all tests are known.
#
# Labels: `quick` is what `make test` runs, `full` is what `make test-all` has beyond it. A test that is named nowhere here is quick.
# docs/testing.md says for each of these which quick test stands for it.
set(full
    # trees of their own, and what runs in them
    sanitizers attack threads contract aarch64 mpi-build package suite guest cpp-header-full
    # other processors' levels, which make test does not compile
    command-isa
    # random cases by the hundred
    cc-fuzz cc-cxx-fuzz cc-kernels-fuzz attack-ranks
    # every combination; class W and A
    # the same programs again: other dice, OpenCL behind the same suites
    cuda-late-2 cuda-late-3 device-cuda-late-2 device-cuda-late-3 waits-cuda-late gpu_lu_resident-cuda-late
    device-hip-late-2 gpu_lu_resident-hip-late
    gpu_norms-opencl gpu_start-opencl gpu_steps-opencl gpu_lu_resident-opencl resident-opencl bodies-opencl
    exchange-resolution-opencl tdbem_solve-opencl shared-openmpi exchange-opencl
    # the other MPI
    own-mpi-mpich mpi-mpich shared-mpich
    # long ones
    distributed-memory command-papers-whole bench-default gpu-script opencl nvrtc hiprtc tdbem_slices
    ptx-kernels-full
    # threads that are stopped and moved for a minute; faults planted in gates
    disturbed gates-planted)

# They keep all cores busy themselves, or have ranks and threads that wait for each other without giving the core away: they take two
# processors. Anything else takes one; no test may depend on how busy the machine is.
set(alone sanitizers threads attack contract aarch64 mpi-build suite cc-fuzz cc-builds
    own-mpi-openmpi own-mpi-mpich mpi-openmpi mpi-mpich mpi-openmpi-rest mpi-mpich-rest shared-openmpi shared-mpich shared-mpich-rest
    command-ranks command-ranks-rest command-rank-loss-rest attack-ranks example-adaptive-ranks-rest)

# the longest begin, so that none of them is what all others have ended before; and in the quick set those that take two processors, beside
# which one of the others runs
set(first sanitizers threads contract attack command-hash-rest command-tdbem-hybrid-rest command-tdbem-rest command-tdbem-promises-rest
    nvrtc command-tdbem-ranks-rest tdbem_slices ptx-kernels-full command-ranks-rest command-checkpoint-rest
    own-mpi-openmpi command-ranks mpi-openmpi mpi-mpich cc-builds
    tdbem_march ptx-kernels-quick optimal cc-forms misuse ptx-executor open-heat command-tdbem cc-kernels)

get_property(tests DIRECTORY PROPERTY TESTS)
foreach(test IN LISTS tests)
    set(label quick)
    if(test IN_LIST full OR test MATCHES "-(rest|long)$")
        set(label full)
    endif()
    set_tests_properties(${test} PROPERTIES LABELS ${label})
    if(test IN_LIST alone)
        set_tests_properties(${test} PROPERTIES PROCESSORS 2)
    endif()
    list(FIND first ${test} place)
    if(place GREATER -1)
        math(EXPR cost "1000 - ${place}")
        set_tests_properties(${test} PROPERTIES COST ${cost})
    endif()
endforeach()
