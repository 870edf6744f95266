! The same handle in Fortran: a loop over half of the world's ranks, by the module mpi.
program own
    use mpi
    use evener
    use, intrinsic :: iso_c_binding
    implicit none
    type(c_ptr) :: session
    integer :: code, level, rank, size, half
    call MPI_Init_thread(MPI_THREAD_SERIALIZED, level, code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, code)
    call MPI_Comm_size(half, size, code)
    if (evn_open_comm(session, half, "1:CPU:1") /= EVN_OK) error stop 1
    if (evn_session_rank(session) /= rank / 2) error stop 2
    if (evn_cluster_size(evn_session_cluster(session)) /= size) error stop 3
    if (evn_close(session) /= EVN_OK) error stop 4
    call MPI_Comm_free(half, code)
    call MPI_Finalize(code)
    if (rank == 0) print "(a)", "fine"
end program
