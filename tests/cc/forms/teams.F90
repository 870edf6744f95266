! Blocks of teams, distribute in them and in procedures, the split form, macros, clauses behind !$evn.
#define UNITS 2:CPU:1, 1:CPU:2
module work
    implicit none
    real(8) :: v(60) = 0
contains
    subroutine orphan(n)
        integer, intent(in) :: n
        integer :: i
        !$omp distribute dist_schedule(dynamic)
        do i = 1, n
            v(i) = v(i) + i
        end do
        !$omp end distribute
    end subroutine
end module
program c
    use work
    implicit none
    integer :: z, k, teams
    real(8) :: own(5)
    teams = 0
    !$omp teams num_teams(UNITS) private(own) reduction(+: teams)
    teams = teams + 1
    own = 2
#ifndef NOTHING
    !$omp distribute
    do z = 1, 60
        v(z) = v(z) + own(mod(z, 5) + 1) * z
    end do
#else
    !$omp distribute
    do z = 1, 60
#endif
    !$omp distribute dist_schedule(guided:size) private(k) collapse(2)
    do z = 0, 50, 10
        do k = 10, 1, -1
            v(z + k) = 2 * v(z + k)
        end do
    end do
    !$omp end distribute
    call orphan(40)
    !$omp end teams
#ifdef _OPENMP
    if (teams < 1) stop 3
#endif
    call orphan(20); k = 0
    !$omp teams num_teams(UNITS)
    !$omp distribute reduction(+: k)
    do z = 1, 3
       v(z) = v(z) * 3
    end do
    !$omp end distribute
    !$omp end teams
    !$evn teams distribute num_teams(UNITS)
    do z = 1, 30; v(z) = v(z) * 3; end do; v(2) = v(2) + 1
    !$omp teams distribute
    !$evn num_teams(1:CPU:1)
    do z = 1, 30
       v(z) = v(z) * 3
       !$omp parallel do
       do k = 1, 4
       end do
    end do
    !$omp end teams distribute
    print '(5z17.16)', v
end program
