! A loop over iterations of unequal work, a sum, and what the last iteration left.
program loops
    implicit none
    integer, parameter :: n = 200
    real(8) :: result(n), total
    integer :: task, i, last
    total = 0
    last = 0
#ifdef BEFORE
    !$omp parallel do private(i) lastprivate(last) reduction(+: total) schedule(dynamic)
#else
    !$omp teams distribute num_teams(auto) private(i) lastprivate(last) reduction(+: total) weight(task)
#endif
    do task = 1, n
        result(task) = 0
        do i = 1, task
            result(task) = result(task) + modulo(i * task, 7)
        end do
        last = task * 3
        total = total + result(task)
    end do
    print '(f12.1, i6)', total, last
end program
