! Writes through gfortran's runtime, which has buffers of its own, and then becomes two processes.
program streams
    use evener
    implicit none
    type(c_ptr) :: cluster
    print '(a)', 'banner'
    if (evn_cluster_open(cluster, 'processes:2') /= EVN_OK) error stop 1
    call evn_cluster_close(cluster, EVN_OK)
end program
