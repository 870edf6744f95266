! Kinds of loop variables and of reductions, derived types, subroutines with arrays of any bounds, weights, options.
module zones
    implicit none
    type zone
        integer :: rows = 0
        real(8), allocatable :: u(:)
    end type
contains
    subroutine step(mesh, first, total)
        type(zone), intent(inout) :: mesh(:)
        integer, intent(in) :: first
        complex(8), intent(inout) :: total
        integer(2) :: small
        integer(8) :: big
        logical(1) :: any_long
        real :: least
        integer :: most, ones, both(2, 2)
        any_long = .false._1
        least = 100; most = -huge(most); ones = 7; both = 1
        !$omp teams distribute num_teams(2:CPU:1) dist_schedule(binpack) weight(dble(mesh(small)%rows)) &
        !$omp reduction(+: total) reduction(.or.: any_long) reduction(min: least) reduction(max: most) &
        !$omp reduction(iand: ones) reduction(*: both) lastprivate(small)
        do small = 1_2, int(size(mesh), 2)
            mesh(small)%u(:) = mesh(small)%u(:) * 0.5d0 + small
            total = total + cmplx(sum(mesh(small)%u), 1.0, 8)
            any_long = any_long .or. mesh(small)%rows > 30
            least = min(least, real(mesh(small)%u(1)))
            most = max(most, -int(small) - 40)
            ones = iand(ones, 14 + small - small)
            if (small < 8) both(1, :) = both(1, :) * 2
        end do
        print '(2z17.16, l2, z9.8, 6i12, i5)', total, any_long, least, most, ones, both, small
        !$omp teams distribute num_teams(first:CPU:1,1:CPU:1) dist_schedule(dynamic, 3, memorize = 2) default(none) &
        !$omp shared(mesh, first)
        do big = size(mesh, kind=8), 1_8 + first - 1, -2_8
            mesh(big)%rows = mesh(big)%rows + int(big)
        end do
        !$omp teams distribute num_teams(1:CPU:1) lastprivate(big)
        do big = 5, 4
            mesh(1)%rows = -1
        end do
    end subroutine
end module
program types
    use zones
    implicit none
    type(zone) :: mesh(25)
    complex(8) :: total
    integer :: k
    do k = 1, size(mesh)
        mesh(k)%rows = 3 * k
        allocate (mesh(k)%u(mesh(k)%rows), source=1.0d0 / k)
    end do
    total = (1, 1)
    do k = 1, 4
        call step(mesh, 1, total)
    end do
    print '(10i5)', mesh%rows
end program
