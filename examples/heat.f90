! heat.c in Fortran: heat in a pipe of 64 blocks of uneven length, on any list of units, checked by a plain loop:
!     EVENER_UNITS=1:CPU:1,2:GPU:1 EVENER_DEVICES=emulated EVENER_RECORD=heat.json ./heat-fortran
! and over ranks:  EVENER_PROCESSES=2 ./heat-fortran   or   mpirun -n 2 ./heat-fortran
module heat
    use evener
    implicit none
    integer, parameter :: row = 128, blocks = 64, steps = 101
    type(evn_kernel_source), bind(c, name="heat_kernels") :: kernels ! made from heat.kernel.c by evener_kernels()
contains
    pure integer function rows(t) ! of block t, between one of each neighbour's
        integer, intent(in) :: t
        rows = 4 + mod(29 * t, 57)
    end function

    subroutine move(u, v, n)
        integer, intent(in) :: n
        real(c_double), intent(in) :: u(0:(n + 2) * row - 1)
        real(c_double), intent(inout) :: v(0:(n + 2) * row - 1)
        integer :: i
        do i = row, (n + 1) * row - 1
            v(i) = 0.2_c_double * (u(i) + u(i - 1) + u(i + 1) + u(i - row) + u(i + row))
        end do
    end subroutine

    ! A step of a batch's blocks, from field `from` to the other one.
    integer(c_int) function body(unit, batch, arg) bind(c)
        type(c_ptr), value :: unit, batch, arg
        integer(c_int), pointer :: from
        real(c_double), pointer, contiguous :: u(:), v(:)
        type(evn_argument) :: argument(3)
        integer(c_int) :: t
        body = EVN_OK
        call c_f_pointer(arg, from)
        if (evn_unit_is_gpu(unit) /= 0) then
            argument(1)%buffer = evn_batch_buffer(batch)
            argument(2)%buffer = evn_batch_table(batch)
            argument(3) = evn_argument(value=arg, bytes=c_sizeof(from))
            body = evn_batch_launch(batch, kernels, 'heat_step', size(evn_batch_tasks(batch)), argument)
            return
        end if
        do
            t = evn_batch_next(batch)
            if (t < 0) exit
            call c_f_pointer(evn_batch_host(batch, t, from), u, [(rows(t) + 2) * row])
            call c_f_pointer(evn_batch_host(batch, t, 1 - from), v, [(rows(t) + 2) * row])
            call move(u, v, rows(t))
        end do
    end function

    pure logical function differ(a, b) ! in any bit
        real(c_double), intent(in) :: a(:), b(:)
        differ = any(transfer(a, [0_c_int64_t]) /= transfer(b, [0_c_int64_t]))
    end function

    subroutine try(status)
        integer(c_int), intent(in) :: status
        if (status /= EVN_OK) stop evn_complain('heat'), quiet=.true.
    end subroutine
end module

program main
    use heat
    implicit none
    type(c_ptr) :: session, loop, place, exchange(0:1)
    type(evn_face) :: face(2 * blocks, 0:1)
    integer(c_int), target :: from = 0
    integer(c_int) :: region(0:1, 0:blocks - 1)
    integer :: top(0:blocks), first(0:blocks), t, f, i, last, step, wrong = 0
    real(c_double), target :: weight(0:blocks - 1)
    real(c_double), allocatable :: whole(:, :)         ! both fields, of the plain loop
    real(c_double), allocatable, target :: block(:, :) ! and of the blocks, one behind the other

    top(0) = 0
    do t = 0, blocks - 1
        top(t + 1) = top(t) + rows(t)
        first(t) = (top(t) + 2 * t) * row
        weight(t) = rows(t)
    end do
    first(blocks) = (top(blocks) + 2 * blocks) * row
    allocate (whole(0:(top(blocks) + 2) * row - 1, 0:1), block(0:first(blocks) - 1, 0:1))
    do i = 0, (top(blocks) + 2) * row - 1
        whole(i, :) = mod(i, 11)
    end do

    call try(evn_open(session, flags=EVN_OVER_RANKS))
    call try(evn_open_loop(loop, session, problem=evn_problem(tasks=blocks, weight=c_loc(weight), instances=steps)))
    call try(evn_place_open(place, evn_session_units(session), 0.5_c_double))
    do t = 0, blocks - 1
        do f = 0, 1
            last = rows(t) * row
            block(first(t):first(t + 1) - 1, f) = whole(top(t) * row:(top(t + 1) + 2) * row - 1, f)
            call try(evn_place_add(place, c_loc(block(first(t), f)), 8_c_size_t * (first(t + 1) - first(t)), region(f, t)))
            ! the last row to the next block, its first one back
            face(2 * t + 1, f) = evn_face(t, t + 1, last, 0, [1, 1, 1], [1, 1, 1], [1, 1, row], f, f)
            face(2 * t + 2, f) = evn_face(t + 1, t, row, last + row, [1, 1, 1], [1, 1, 1], [1, 1, row], f, f)
        end do
    end do
    call try(evn_session_place(session, loop, place, 2, region, [EVN_BOTH, EVN_BOTH]))
    do f = 0, 1
        call try(evn_exchange_open(exchange(f), loop, 8_c_size_t, 2 * blocks - 2, face(:, f)))
    end do
    do step = 1, steps
        call try(evn_loop_run(loop, body, c_loc(from)))
        call try(evn_exchange_run(exchange(1 - from)))
        call move(whole(:, from), whole(:, 1 - from), top(blocks))
        from = 1 - from
    end do
    call try(evn_session_collect(session, loop)) ! to rank 0
    if (evn_session_rank(session) == 0) then
        do t = 0, blocks - 1
            if (differ(block(first(t):first(t + 1) - 1, from), whole(top(t) * row:(top(t + 1) + 2) * row - 1, from))) &
                wrong = wrong + 1
        end do
        print '(a, ": ", i0, " blocks are wrong")', evn_units_text(evn_session_units(session)), wrong
    end if
    call evn_exchange_close(exchange(0))
    call evn_exchange_close(exchange(1))
    call evn_place_close(place)
    call try(evn_close(session))
    if (wrong > 0) stop 1, quiet=.true.
end program
