! The program of the paper on compute units in OpenMP (figure 11) in Fortran: a plate in 64 zones of uneven height. Each unit
! advances whole zones on its cores; then zones exchange the rows at their borders.
!     evener-cc -O3 zones_directives.f90 -o zones
!     EVENER_UNITS=2:CPU:2 EVENER_REPORT=1 ./zones
! A compiler that is not evener-cc makes a serial program of it, and gfortran -fopenmp one with standard teams; all print the same.
module mesh
    implicit none
    integer, parameter :: zones = 64, steps = 20, width = 64
    type zone
        integer :: rows = 0
        real(8), allocatable :: u(:, :), v(:, :) ! this step's values, and the next one's; a row more above and below
    end type
contains
    subroutine make(z, number)
        type(zone), intent(out) :: z
        integer, intent(in) :: number
        integer :: i, j
        z%rows = 2 + mod(number * 7, 23)
        allocate (z%u(width, 0:z%rows + 1), z%v(width, 0:z%rows + 1))
        do j = 0, z%rows + 1
            do i = 1, width
                z%u(i, j) = mod(number * 5 + i + width * j, 17)
            end do
        end do
        z%v = z%u
    end subroutine

    ! With as many threads as the unit has cores.
    subroutine stage(z)
        type(zone), intent(inout) :: z
        integer :: i, j
        !$omp parallel do private(i)
        do j = 1, z%rows
            do i = 2, width - 1
                z%v(i, j) = 0.2d0 * (z%u(i, j) + z%u(i - 1, j) + z%u(i + 1, j) + z%u(i, j - 1) + z%u(i, j + 1))
            end do
        end do
        !$omp parallel do private(i)
        do j = 1, z%rows
            do i = 2, width - 1
                z%u(i, j) = z%v(i, j)
            end do
        end do
    end subroutine
end module

program zones_directives
    use mesh
    implicit none
    type(zone), allocatable :: plate(:)
    integer :: step, z
    real(8) :: heat
    allocate (plate(zones))
    do z = 1, zones
        call make(plate(z), z - 1)
    end do
    do step = 1, steps
        !$omp teams distribute
        !$evn num_teams(4:CPU:4) dist_schedule(dynamic) weight(plate(z)%rows)
        do z = 1, zones
            call stage(plate(z))
        end do
        do z = 2, zones
            plate(z)%u(:, 0) = plate(z - 1)%u(:, plate(z - 1)%rows)
            plate(z - 1)%u(:, plate(z - 1)%rows + 1) = plate(z)%u(:, 1)
        end do
    end do
    heat = 0
    !$evn teams distribute num_teams(4:CPU:4) reduction(+: heat)
    do z = 1, zones
        heat = heat + sum(plate(z)%u(:, 1:plate(z)%rows))
    end do
    print '(a, f0.9)', 'heat ', heat
end program
