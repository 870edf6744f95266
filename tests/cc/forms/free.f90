! Free form: continuations, comments, semicolons, names, cycle, reductions of all types, lastprivate, collapse.
program a
    implicit none
    integer, parameter :: n = 40
    integer :: z, y, last, hits(3), k
    real(8) :: v(n), s, big
    integer(8) :: bits
    logical :: all_fine
    character(len=8) :: word
    s = 1; big = -5; bits = 0; all_fine = .true.; hits = 0; v = 0
    !$omp teams distribute num_teams(2:CPU:1, &
    !$omp   1:GPU:1) dist_schedule(dynamic, 2) &  ! a comment
    !$omp& reduction(+: s, hits) reduction(max: big) reduction(ieor: bits) reduction(.and.: all_fine) &
    !$omp lastprivate(last, word) private(y)
    zones: do z = 1, n
        v(z) = 1.0d0 / z
        last = z * 3
        if (mod(z, 2) == 1) then; word = 'odd'; else; word = "even!"; end if
        do y = 1, z
            if (y > 5) exit
            if (y == z .or. y == 5) s = s + v(z) * y
        end do
        big = max(big, v(z) * mod(z, 7))
        bits = ieor(bits, int(z, 8) * 7919_8)
        all_fine = all_fine .and. z < 30
        hits(mod(z, 3) + 1) = hits(mod(z, 3) + 1) + 1
        if (mod(z, 5) == 0) cycle zones
        v(z) = v(z) + 1
    end do zones
    !$omp end teams distribute
    print '(z16.16, z17.16, i5, i20, l2, 3i4, 1x, a)', s, big, last, bits, all_fine, hits, word
    print '(5z17.16)', v
    k = 0
    !$omp teams distribute num_teams(3:CPU:1) weight(z * z) collapse(2) reduction(+: k)
    do z = 1, 7, 2
        do y = 10, 3, -3
            k = k + z * y * y
        end do
    end do
    print *, k
    do last = 1, 6
        !$omp teams distribute num_teams(2:CPU:1) key(100 * z - last / 3) dist_schedule(map) reduction(+: k)
        do z = 1, 10 + 4 * mod(last, 3)
            k = k + z * last
        end do
    end do
    print *, k
end program
