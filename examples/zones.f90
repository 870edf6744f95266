! A program in the manner of the multi-zone benchmarks: 6 x 4 zones of very unequal size that together are one mesh, periodic in x
! and y. In each step units advance zones, the cores of a unit one zone together, and zones exchange their borders.
! The same mesh in one piece is advanced beside, and must have the same bits.
!     EVENER_UNITS=2:CPU:2 EVENER_SCHEDULE=binpack ./zones          units, cores, schedule
!     EVENER_UNITS=1:CPU:1,1:GPU:1 EVENER_DEVICES=emulated ./zones  devices too
!     EVENER_PROCESSES=2 ./zones      mpirun -n 2 ./zones           ranks
module mesh
    use evener
    implicit none
    integer, parameter :: columns = 6, rows = 4, zones = columns * rows, nz = 16, steps = 24
    type(evn_kernel_source), bind(c, name="zones_kernels") :: kernels ! made from zones.kernel.c by evener_kernels()
contains
    ! Zones are numbered from 0, as tasks are; points of a zone in x and y, without a border of one point on each side.
    pure integer function nx(zone)
        integer, intent(in) :: zone
        nx = 6 + 7 * mod(zone, columns)
    end function
    pure integer function ny(zone)
        integer, intent(in) :: zone
        ny = 5 + 6 * (zone / columns)
    end function
    pure integer function points(zone) ! with the border
        integer, intent(in) :: zone
        points = (nx(zone) + 2) * (ny(zone) + 2) * nz
    end function

    ! A step of one zone, or of the mesh in one piece, by `cores` threads.
    subroutine advance(u, v, nx, ny, cores)
        integer, intent(in) :: nx, ny, cores
        real(c_double), intent(in) :: u(0:nx + 1, 0:ny + 1, nz)
        real(c_double), intent(inout) :: v(0:nx + 1, 0:ny + 1, nz)
        integer :: i, j, k
        !$omp parallel do num_threads(cores) private(i, j)
        do k = 2, nz - 1
            do j = 1, ny
                do i = 1, nx
                    v(i, j, k) = 0.125_c_double * (2 * u(i, j, k) + u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) &
                        + u(i, j + 1, k) + u(i, j, k - 1) + u(i, j, k + 1))
                end do
            end do
        end do
    end subroutine

    ! Called on each unit with its zones: from field `from` to the other one.
    integer(c_int) function body(unit, batch, arg) bind(c)
        type(c_ptr), value :: unit, batch, arg
        integer(c_int), pointer :: from
        real(c_double), pointer, contiguous :: u(:, :, :), v(:, :, :)
        type(evn_argument) :: argument(3)
        integer(c_int) :: zone, shape(3)
        body = EVN_OK
        call c_f_pointer(arg, from)
        if (evn_batch_device(batch) >= 0) then
            argument(1)%buffer = evn_batch_buffer(batch)
            argument(2)%buffer = evn_batch_table(batch)
            argument(3) = evn_argument(value=arg, bytes=c_sizeof(from))
            body = evn_batch_launch(batch, kernels, 'zones_step', size(evn_batch_tasks(batch)), argument)
            return
        end if
        do
            zone = evn_batch_next(batch)
            if (zone < 0) exit
            shape = [nx(zone) + 2, ny(zone) + 2, nz]
            call c_f_pointer(evn_batch_host(batch, zone, from), u, shape)
            call c_f_pointer(evn_batch_host(batch, zone, 1 - from), v, shape)
            call advance(u, v, nx(zone), ny(zone), evn_unit_cores(unit))
        end do
    end function

    ! The points at the inner edge of `zone` in direction (x, y) go to the border of the zone there.
    type(evn_face) function border(zone, x, y, field)
        integer, intent(in) :: zone, x, y, field
        integer :: to, row, to_row
        to = modulo(mod(zone, columns) + x, columns) + columns * modulo(zone / columns + y, rows)
        row = nx(zone) + 2
        to_row = nx(to) + 2
        border = evn_face(from=zone, to=to, from_region=field, to_region=field)
        border%from_stride = [1, row * (ny(zone) + 2), merge(row, 1, x /= 0)]
        border%to_stride = [1, to_row * (ny(to) + 2), merge(to_row, 1, x /= 0)]
        border%n = [1, nz, merge(ny(zone), nx(zone), x /= 0)]
        border%from_at = merge(nx(zone), 1, x > 0) + row * merge(ny(zone), 1, y > 0)
        border%to_at = merge(nx(to) + 1, merge(0, 1, x > 0), x < 0) + to_row * merge(ny(to) + 1, merge(0, 1, y > 0), y < 0)
    end function

    pure logical function differ(a, b) ! in any bit
        real(c_double), intent(in) :: a(:, :, :), b(:, :, :)
        differ = any(transfer(a, [0_c_int64_t]) /= transfer(b, [0_c_int64_t]))
    end function

    subroutine try(status)
        integer(c_int), intent(in) :: status
        if (status /= EVN_OK) stop evn_complain('zones'), quiet=.true.
    end subroutine
end module

program main
    use mesh
    implicit none
    type :: field
        real(c_double), allocatable :: u(:, :, :)
    end type
    type(field), target :: mine(0:1, 0:zones - 1)
    type(c_ptr) :: session, loop, place, exchange(0:1)
    type(evn_face) :: face(4, 0:zones - 1, 0:1)
    real(c_double), target :: weight(0:zones - 1)
    real(c_double), allocatable :: whole(:, :, :, :)
    integer(c_int), target :: from = 0
    integer(c_int) :: region(0:1, 0:zones - 1)
    integer :: zone, f, i, j, k, step, gx, gy, x(0:zones - 1), y(0:zones - 1), wrong = 0
    integer(c_int64_t) :: hash = 0

    ! where zones lie in the mesh
    do zone = 0, zones - 1
        x(zone) = sum([(nx(i), i=0, mod(zone, columns) - 1)])
        y(zone) = sum([(ny(columns * j), j=0, zone / columns - 1)])
        weight(zone) = points(zone)
    end do
    gx = x(zones - 1) + nx(zones - 1)
    gy = y(zones - 1) + ny(zones - 1)

    call try(evn_open(session, flags=EVN_OVER_RANKS)) ! first of all: over ranks processes are forked here
    call try(evn_open_loop(loop, session, problem=evn_problem(tasks=zones, weight=c_loc(weight), instances=steps)))
    call try(evn_place_open(place, evn_session_units(session), 0.5_c_double))

    allocate (whole(0:gx + 1, 0:gy + 1, nz, 0:1))
    do k = 1, nz
        do j = 1, gy
            do i = 1, gx
                whole(i, j, k, :) = mod(7 * i + 5 * j + 3 * k, 19)
            end do
        end do
    end do
    call close_up(whole(:, :, :, 0))
    call close_up(whole(:, :, :, 1))

    do zone = 0, zones - 1
        do f = 0, 1
            mine(f, zone)%u = whole(x(zone):x(zone) + nx(zone) + 1, y(zone):y(zone) + ny(zone) + 1, :, f)
            call try(evn_place_add(place, c_loc(mine(f, zone)%u), 8_c_size_t * points(zone), region(f, zone)))
            face(:, zone, f) = [border(zone, 1, 0, f), border(zone, -1, 0, f), border(zone, 0, 1, f), border(zone, 0, -1, f)]
        end do
    end do
    call try(evn_session_place(session, loop, place, 2, region, [EVN_BOTH, EVN_BOTH]))
    do f = 0, 1
        call try(evn_exchange_open(exchange(f), loop, 8_c_size_t, 4 * zones, face(:, :, f)))
    end do

    do step = 1, steps
        call try(evn_loop_run(loop, body, c_loc(from)))
        call try(evn_exchange_run(exchange(1 - from)))
        from = 1 - from
    end do
    call try(evn_session_collect(session, loop)) ! to rank 0

    if (evn_session_rank(session) == 0) then
        f = 0
        do step = 1, steps
            call advance(whole(:, :, :, f), whole(:, :, :, 1 - f), gx, gy, 1)
            f = 1 - f
            call close_up(whole(:, :, :, f))
        end do
        do zone = 0, zones - 1
            associate (a => mine(from, zone)%u(2:nx(zone) + 1, 2:ny(zone) + 1, :))
                if (differ(a, whole(x(zone) + 1:x(zone) + nx(zone), y(zone) + 1:y(zone) + ny(zone), :, f))) wrong = wrong + 1
                do k = 1, nz
                    do j = 1, ny(zone)
                        do i = 1, nx(zone)
                            hash = ieor(ishftc(hash, 7), transfer(a(i, j, k), hash))
                        end do
                    end do
                end do
            end associate
        end do
        print '(a, ": ", i0, " zones, hash ", z16.16, ", ", i0, " are wrong")', &
            evn_units_text(evn_session_units(session)), zones, hash, wrong
    end if
    call evn_exchange_close(exchange(0))
    call evn_exchange_close(exchange(1))
    call evn_place_close(place)
    call try(evn_close(session))
    if (wrong > 0) stop 1, quiet=.true.
contains
    subroutine close_up(u)
        real(c_double), intent(inout) :: u(0:, 0:, :)
        u(0, :, :) = u(gx, :, :)
        u(gx + 1, :, :) = u(1, :, :)
        u(:, 0, :) = u(:, gy, :)
        u(:, gy + 1, :) = u(:, 1, :)
    end subroutine
end program
